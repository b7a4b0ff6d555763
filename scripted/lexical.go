package scripted

import (
	"context"
	"iter"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/poimen-memory/mem/gate"
	"github.com/poimen-memory/mem/loop"
	"github.com/poimen-memory/mem/prompt"
)

// What Lexical takes for relevant. The bars are shares of the question's weight, in round
// numbers. On HotpotQA's paragraphs a fifth and a quarter do equally well, and a third worse.
const (
	usefulShare   = 5  // a sentence is useful that covers at least one part in this many
	enoughShare   = 2  // the memory is enough when it covers at least one in this many
	sentenceWords = 64 // what is longer is no sentence, and would cover much by its length
)

// Lexical is the baseline without labels that a model has to beat: word overlap with the
// question. A word weighs its inverse document frequency over the N chunks read so far,
// ln((N+1)/(n+1/2)) for a word in n of them. The answer is yes if a sentence of the chunk
// covers a fifth of the question's weight; such sentences, each once, compete with those
// in the memory for its budget. It is end when the memory covers half of that weight.
//
// It learns from turn to turn: a run needs one of its own.
type Lexical struct {
	budget tokenBudget
	turn   int            // the last one whose chunk was counted; a retry brings it again
	chunks int            // N
	found  map[string]int // n, of the question's words
}

// NewLexical is a model for one run, for a memory of budget tokens; 0 is the seed's 1024.
func NewLexical(budget int, counter prompt.Counter) *Lexical {
	return &Lexical{budget: newTokenBudget(budget, counter), found: map[string]int{}}
}

// Complete answers one prompt. The error is that of a prompt that cannot be read.
func (l *Lexical) Complete(_ context.Context, r loop.Request) (loop.Completion, error) {
	if r.Turn == loop.AnswerTurn {
		return recite(r)
	}
	v, err := read(r)
	if err != nil {
		return loop.Completion{}, err
	}
	return say(l.decide(v, r.Turn)), nil
}

func (l *Lexical) decide(v view, turn int) gate.Decision {
	asked := wordsOf(v.question)
	l.observe(turn, asked, v.section)
	q := l.weigh(asked)
	useful := slices.DeleteFunc(sentences(writable(v.section)), func(s string) bool { return !q.useful(s) })
	if len(useful) == 0 {
		return gate.Decision{Exit: q.enough(v.memory)}
	}
	memory := l.best(q, v.memory, useful)
	return write(memory, q.enough(memory))
}

// observe counts a turn's chunk, once however often it is asked about.
func (l *Lexical) observe(turn int, asked map[string]bool, section string) {
	if turn <= l.turn {
		return
	}
	l.turn = turn
	l.chunks++
	counted := map[string]bool{}
	for word := range wordsIn(section) {
		if asked[word] && !counted[word] {
			counted[word] = true
			l.found[word]++
		}
	}
}

// question is the weights of a question's words.
type question struct {
	weights map[string]int
	total   int
}

// weigh rounds weights to thousandths: sums of whole numbers are the same in any order
// and on any machine.
func (l *Lexical) weigh(asked map[string]bool) question {
	q := question{weights: map[string]int{}}
	for word := range asked {
		idf := math.Log((float64(l.chunks) + 1) / (float64(l.found[word]) + 0.5))
		q.weights[word] = int(math.Round(1000 * idf))
		q.total += q.weights[word]
	}
	return q
}

// covered is the weight of the question's words that text holds.
func (q question) covered(text string) int {
	sum := 0
	var counted []string // a question has few words, and a sentence holds fewer of them
	for word := range wordsIn(text) {
		if w := q.weights[word]; w != 0 && !slices.Contains(counted, word) {
			counted = append(counted, word)
			sum += w
		}
	}
	return sum
}

func (q question) useful(sentence string) bool {
	w := q.covered(sentence)
	return w > 0 && w*usefulShare >= q.total
}

func (q question) enough(memory string) bool {
	w := q.covered(memory)
	return w > 0 && w*enoughShare >= q.total
}

// best is the memory's sentences and the new ones, of which the ones that cover most are
// kept as far as they fit, in the order in which they were read.
func (l *Lexical) best(q question, memory string, useful []string) string {
	all := lines(memory)
	for _, s := range useful {
		if !slices.Contains(all, s) {
			all = append(all, s)
		}
	}
	covered := map[string]int{}
	for _, s := range all {
		covered[s] = q.covered(s)
	}
	ranked := slices.Clone(all)
	slices.SortStableFunc(ranked, func(a, b string) int { return covered[b] - covered[a] })
	kept := l.budget.mostLines(ranked, func(n int) string { return inOrder(all, ranked[:n]) })
	if kept == 0 {
		return l.budget.head(ranked[0])
	}
	return inOrder(all, ranked[:kept])
}

// inOrder is a line for each sentence of all that is kept.
func inOrder(all, kept []string) string {
	return strings.Join(slices.DeleteFunc(slices.Clone(all), func(s string) bool { return !slices.Contains(kept, s) }), "\n")
}

// wordsOf is the set of a text's words.
func wordsOf(text string) map[string]bool {
	words := map[string]bool{}
	for w := range wordsIn(text) {
		words[w] = true
	}
	return words
}

// wordsIn gives the words of text in order: runs of letters and digits, in lower case.
func wordsIn(text string) iter.Seq[string] {
	return strings.FieldsFuncSeq(strings.ToLower(text), func(r rune) bool {
		if r < utf8.RuneSelf {
			return (r < 'a' || r > 'z') && (r < '0' || r > '9') // there is no upper case left
		}
		return !unicode.IsLetter(r) && !unicode.IsDigit(r)
	})
}

// sentences is the sentences of text without the white space around them. What has no
// full stop for long, as a log, is cut every sentenceWords words.
func sentences(text string) []string {
	var all []string
	for text != "" {
		end := sentenceEnd(text)
		for piece := range slices.Chunk(words(text[:end]), sentenceWords) {
			all = append(all, strings.TrimSpace(strings.Join(piece, "")))
		}
		text = text[end:]
	}
	return all
}

// sentenceEnd is where the first sentence of text ends: after its line, or after a full stop,
// its closing quotes and brackets and the white space that follows.
func sentenceEnd(text string) int {
	for at := 0; ; {
		stop := strings.IndexAny(text[at:], ".!?\n")
		if stop < 0 {
			return len(text)
		}
		at += stop + 1
		if text[at-1] == '\n' {
			return at
		}
		closed := strings.TrimLeft(text[at:], `"')]`)
		if next := strings.TrimLeft(closed, "\t\n\f\r "); len(next) < len(closed) {
			return len(text) - len(next)
		}
	}
}
