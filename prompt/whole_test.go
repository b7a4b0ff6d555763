package prompt_test

import (
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/poimen-memory/mem/prompt"
	"github.com/poimen-memory/mem/prompt/token"
)

// units are what texts that disturb their neighbours are made of.
var units = []string{
	"a", "b", "Z", "é", "ß", "\u0301", "中", "日本", "한", "👩\u200d", "0", "7", ".", "-", "=", "/", ">", "<", "&lt;", "'s", "'ſ",
	" ", "  ", "\t", "\n", "\r\n", " \n", "\u00a0", "\u3000", "\xff", "\x00", "<|im_start|>", "<|im_", "the", "ing", "_",
	"</", "></", "section", "memory", " problem",
}

// disturbing is runs of units.
func disturbing(r *rand.Rand) string {
	var b strings.Builder
	for range r.IntN(4) {
		b.WriteString(strings.Repeat(units[r.IntN(len(units))], 1+r.IntN(1+r.IntN(90))))
	}
	return b.String()
}

// The sum of a prompt's components is within slack of the count of the prompt.
func TestSumIsWithinSlackOfTheWhole(t *testing.T) {
	bare := "<problem>{prompt}</problem><memory>{memory}</memory><section>{chunk}</section>"
	for _, name := range []string{"cl100k_base", "o200k_base", "qwen2.5"} {
		count, err := token.New(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, template := range []string{prompt.Figure10a, bare} {
			b := newBuilder(t, prompt.Config{Counter: count, Template: template})
			r, most := rand.New(rand.NewPCG(1, 2)), 0
			for range 500 {
				memory := b.Measure(disturbing(r))
				p, err := b.Assemble(b.Measure(disturbing(r)), &memory, prompt.Chunk{Text: b.Measure(disturbing(r))})
				if _, over := errors.AsType[*prompt.OverBudget](err); over {
					continue
				}
				off := p.Tokens.Prompt() - count.Count(p.User)
				most = max(most, off, -off)
				if most > prompt.ExportedSlack {
					t.Fatalf("%s: %d tokens apart:\n%q", name, off, p.User)
				}
			}
			if most == 0 {
				t.Errorf("%s: no text disturbs its neighbours: the test tests nothing", name)
			}
			t.Logf("%s: at most %d tokens apart", name, most)
		}
	}
}

// bordered counts words, and more where they stand in a prompt; it says how many texts
// were prompts.
type bordered struct {
	more    int
	prompts *int
}

func (c bordered) Count(s string) int {
	n := len(strings.Fields(s))
	if strings.Contains(s, "<problem> Q") {
		*c.prompts++
		n += c.more
	}
	return n
}

// Near the limit the whole prompt decides; else it is not counted.
func TestWholePromptDecidesNearTheLimit(t *testing.T) {
	const template = "<problem> {prompt} </problem> <memory> {memory} </memory> <section> {chunk} </section>" // 6 words
	for _, test := range []struct {
		name         string
		words, more  int // of the chunk; that the borders add
		counted, n   int // n of the error, 0 for none
		systemTokens int
	}{
		{"far", 192 - prompt.ExportedSlack, 90, 0, 0, 0},
		{"near", 192 - prompt.ExportedSlack + 1, 90, 1, 200 + 90 - prompt.ExportedSlack + 1, 0},
		{"full, and it fits", 192, 0, 1, 0, 0},
		{"full, and borders add", 192, 1, 1, 201, 0},
		{"the system message counts", 190, 1, 1, 201, 2},
	} {
		prompts := 0
		b := newBuilder(t, prompt.Config{
			Counter: bordered{test.more, &prompts}, Template: template, System: strings.Repeat("s ", test.systemTokens),
			Budget: prompt.Budget{Window: 210, Template: 6 + test.systemTokens, Question: 1, Memory: 1, Chunk: 192 - test.systemTokens, Response: 10},
		})
		memory := b.Measure("M")
		_, err := b.Assemble(b.Measure("Q"), &memory, prompt.Chunk{Text: b.Measure(strings.Repeat("c ", test.words))})
		var want, got prompt.OverBudget
		if test.n > 0 {
			want = prompt.OverBudget{Component: prompt.Whole, Tokens: test.n, Limit: 200}
		}
		if over, ok := errors.AsType[*prompt.OverBudget](err); ok {
			got = *over
		}
		if diff := cmp.Diff(want, got); diff != "" || prompts != test.counted {
			t.Errorf("%s: the prompt was counted %d times, want %d (-want +got):\n%s", test.name, prompts, test.counted, diff)
		}
	}
}

// It decides on the prompt for the answer too.
func TestWholeAnswerPromptDecidesNearTheLimit(t *testing.T) {
	const turn = "<problem> {prompt} </problem> <memory> {memory} </memory> <section> {chunk} </section>"
	for more, want := range map[int]*prompt.OverBudget{3: nil, 4: {Component: prompt.Whole, Tokens: 10, Limit: 9}} {
		prompts := 0
		b := newBuilder(t, prompt.Config{
			Counter: bordered{more, &prompts}, Template: turn,
			Budget: prompt.Budget{Window: 19, Template: 6, Question: 1, Memory: 1, Chunk: 1, Response: 10},
		})
		a, err := b.Answers("<problem> {prompt} </problem> <memory> {memory} </memory>")
		if err != nil {
			t.Fatal(err)
		}
		memory := b.Measure("M")
		_, err = a.Assemble(b.Measure("Q"), &memory)
		got, _ := errors.AsType[*prompt.OverBudget](err)
		if diff := cmp.Diff(want, got); diff != "" || prompts != 1 {
			t.Errorf("borders add %d: counted %d times (-want +got):\n%s", more, prompts, diff)
		}
	}
}
