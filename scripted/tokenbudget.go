package scripted

import (
	"slices"
	"strings"
	"unicode"

	"github.com/poimen-memory/mem/prompt"
)

// tokenBudget is the space that a memory has. A policy shortens its own text to fit; that is
// no truncation of a model's memory, which nothing here may do.
type tokenBudget struct {
	limit   int // tokens, of the text as a prompt renders it
	counter prompt.Counter
}

func newTokenBudget(limit int, counter prompt.Counter) tokenBudget {
	return tokenBudget{prompt.Budget{Memory: limit}.WithDefaults().Memory, counter}
}

func (b tokenBudget) count(text string) int {
	sent, _, _ := prompt.Escape(text)
	return b.counter.Count(sent)
}

// most is how many of pieces, from the first on, fit when rendered together. The sum of
// their counts only guesses, as tokens may merge over the borders: what is rendered decides.
func (b tokenBudget) most(pieces []string, render func(n int) string) int {
	n := 0
	for sum := 0; n < len(pieces); n++ {
		if sum += b.count(pieces[n]); sum > b.limit {
			break
		}
	}
	for n > 0 && b.count(render(n)) > b.limit {
		n--
	}
	for n < len(pieces) && b.count(render(n+1)) <= b.limit {
		n++
	}
	return n
}

// mostLines is most for pieces that are rendered as lines.
func (b tokenBudget) mostLines(pieces []string, render func(n int) string) int {
	ended := make([]string, len(pieces))
	for i, p := range pieces {
		ended[i] = p + "\n"
	}
	return b.most(ended, render)
}

// head is the longest beginning of text that fits, in whole words; of a first word that
// alone does not fit, in whole characters.
func (b tokenBudget) head(text string) string {
	text = writable(text)
	if head := b.front(words(text)); head != "" {
		return head
	}
	return b.front(strings.Split(text, ""))
}

// front joins as many pieces as fit.
func (b tokenBudget) front(pieces []string) string {
	render := func(n int) string { return strings.Join(pieces[:n], "") }
	return render(b.most(pieces, render))
}

// append puts note under memory. To fit, the oldest lines of the memory go; a note that
// alone is too long is cut to its head.
func (b tokenBudget) append(memory, note string) string {
	note = writable(note)
	all := append(lines(memory), note)
	newestFirst := slices.Clone(all)
	slices.Reverse(newestFirst)
	render := func(n int) string { return strings.Join(all[len(all)-n:], "\n") }
	n := b.mostLines(newestFirst, render)
	if n == 0 {
		return b.head(note)
	}
	return strings.TrimSpace(render(n))
}

// lines is a memory's lines, none for no memory.
func lines(memory string) []string {
	if memory == "" {
		return nil
	}
	return strings.Split(memory, "\n")
}

// words are the words of text, each with the white space before it.
func words(text string) []string {
	var all []string
	for {
		start := strings.IndexFunc(text, func(r rune) bool { return !unicode.IsSpace(r) })
		if start < 0 {
			return all
		}
		end := len(text)
		if n := strings.IndexFunc(text[start:], unicode.IsSpace); n >= 0 {
			end = start + n
		}
		all = append(all, text[:end])
		text = text[end:]
	}
}

// closers are the tags that would end a reply's update before its end.
var closers = strings.NewReplacer(
	"<update>", "&lt;update>", "</update>", "&lt;/update>", "</think>", "&lt;/think>")

// writable makes text something that an update can carry: trimmed, valid UTF-8, and with
// the tags that the gate grammar forbids there disarmed as reserved tags are in a prompt.
func writable(text string) string {
	text = strings.ToValidUTF8(text, "\uFFFD")
	if strings.Contains(text, "<") { // the replacer reads a text without tags at a tenth of the speed
		text = closers.Replace(text)
	}
	return strings.TrimSpace(text)
}
