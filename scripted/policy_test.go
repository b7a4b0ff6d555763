package scripted_test

import (
	"context"
	"fmt"
	"iter"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/poimen-memory/mem/loop"
	"github.com/poimen-memory/mem/prompt"
	"github.com/poimen-memory/mem/scripted"
)

// words counts words: a test can see what fits.
type words struct{}

func (words) Count(text string) int { return len(strings.Fields(text)) }

// runes counts characters: what is escaped is longer.
type runes struct{}

func (runes) Count(text string) int { return len([]rune(text)) }

// record is a sink that keeps all events.
type record []loop.Event

func (r *record) Emit(events []loop.Event) error {
	*r = append(*r, events...)
	return nil
}

// run is what a model said and wrote at each turn of a run over texts: for example
// "yes continue: MEMORY", "no end", "failed missing_check,…" or "over budget".
func run(t *testing.T, m loop.Model, c prompt.Counter, memory int, query string, texts ...string) []string {
	t.Helper()
	b, err := prompt.New(prompt.Config{
		Counter: c, Template: "<problem> {prompt} </problem><memory> {memory} </memory><section> {chunk} </section>",
		Budget: prompt.Budget{Memory: memory},
	})
	if err != nil {
		t.Fatal(err)
	}
	var events record
	if _, err := loop.Run(context.Background(), loop.Config{Model: m, Prompts: b, Sink: &events}, query, chunks(b, texts)); err != nil {
		t.Fatal(err)
	}
	return turns(events)
}

func chunks(b *prompt.Builder, texts []string) iter.Seq2[prompt.Chunk, error] {
	return func(yield func(prompt.Chunk, error) bool) {
		for _, text := range texts {
			if !yield(prompt.Chunk{Text: b.Measure(text), Records: 1}, nil) {
				return
			}
		}
	}
}

func turns(events []loop.Event) []string {
	said := map[bool]string{false: "no", true: "yes"}
	next := map[bool]string{false: " continue", true: " end"}
	var turns []string
	for _, e := range events {
		switch e := e.(type) {
		case loop.Gate:
			turns = append(turns, said[e.Update]+next[e.Exit])
		case loop.Memory:
			turns[len(turns)-1] += ": " + e.Text
		case loop.BudgetExceeded:
			turns[len(turns)-1] += ": over budget"
		case loop.ParseFailed:
			turns = append(turns, fmt.Sprint("failed ", e.Kinds))
		}
	}
	return turns
}

func check(t *testing.T, got, want []string) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("turns (-want +got):\n%s", diff)
	}
}

func TestAlwaysUpdate(t *testing.T) {
	m := scripted.AlwaysUpdate{Budget: 4, Counter: words{}}
	check(t, run(t, m, words{}, 4, "q", "one two\nthree four five six", "seven", "a  b c\td"), []string{
		"yes continue: one two\nthree four",
		"yes continue: seven",
		"yes continue: a  b c\td",
	})
}

func TestAlwaysUpdateCutsAWordThatIsTooLong(t *testing.T) {
	m := scripted.AlwaysUpdate{Budget: 20, Counter: runes{}}
	check(t, run(t, m, runes{}, 20, "q", "äöüäöüäöüäöüäöüäöüäöüäöü und mehr", "äöüäöüäöüäöü undsoweiter"), []string{
		"yes continue: äöüäöüäöüäöüäöüäöüäö",
		"yes continue: äöüäöüäöüäöü",
	})
}

func TestNeverUpdate(t *testing.T) {
	check(t, run(t, scripted.NeverUpdate{}, words{}, 0, "q", "one", "two"), []string{"no continue", "no continue"})
}

func TestOracle(t *testing.T) {
	m := scripted.Oracle{Budget: 5, Counter: words{}, Truth: []scripted.Truth{
		{},
		{Evidence: true, Excerpt: " red one\n"},
		{Evidence: true, Excerpt: "blue two"},
		{},
		{Evidence: true, Excerpt: "green three"},
		{Evidence: true, Last: true, Excerpt: "1 2 3 4 5 6 7"},
		{},
	}}
	check(t, run(t, m, words{}, 5, "q", "a", "b", "c", "d", "e", "f", "g"), []string{
		"no continue",
		"yes continue: red one",
		"yes continue: red one\nblue two",
		"no continue",
		"yes continue: blue two\ngreen three",
		"yes end: 1 2 3 4 5",
		"no end",
	})
}

func TestOracleNeverEndsWithoutEvidence(t *testing.T) {
	m := scripted.Oracle{Counter: words{}, Truth: make([]scripted.Truth, 3)}
	check(t, run(t, m, words{}, 0, "q", "a", "b", "c"), []string{"no continue", "no continue", "no continue"})
}

// The excerpt fits as it is, and does not as a prompt renders it.
func TestOracleCountsTheRenderedMemory(t *testing.T) {
	m := scripted.Oracle{Budget: 20, Counter: runes{}, Truth: []scripted.Truth{{Evidence: true, Excerpt: "<section> 7 <memory>"}}}
	check(t, run(t, m, runes{}, 20, "q", "a"), []string{"yes continue: <section> 7"})
}

func TestOracleWithoutExcerptNotesTheHead(t *testing.T) {
	m := scripted.Oracle{Budget: 8, Counter: words{}, Truth: []scripted.Truth{{Evidence: true}}}
	check(t, run(t, m, words{}, 8, "q", "one two three"), []string{"yes continue: one two"})
}

func TestOracleKnowsItsTurnsOnly(t *testing.T) {
	m := scripted.Oracle{Counter: words{}, Truth: make([]scripted.Truth, 2)}
	_, err := m.Complete(context.Background(), loop.Request{Turn: 3, Attempt: 1})
	want := "turn 3: want a turn in 1-2, the chunks that the oracle has labels of"
	if err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
}

func TestPoliciesRefuseWhatIsNoPrompt(t *testing.T) {
	for _, m := range []loop.Model{
		scripted.AlwaysUpdate{Counter: words{}},
		scripted.Oracle{Counter: words{}, Truth: make([]scripted.Truth, 1)},
		scripted.NoisyOracle{Oracle: scripted.Oracle{Counter: words{}, Truth: make([]scripted.Truth, 1)}},
		scripted.NewLexical(0, words{}),
	} {
		_, err := m.Complete(context.Background(), loop.Request{Turn: 1, Attempt: 1, User: "hello"})
		if want := "turn 1: prompt has 0 of <problem>, want exactly one"; err == nil || err.Error() != want {
			t.Errorf("%T: error %v, want %s", m, err, want)
		}
	}
}

// Whatever a session holds, a policy's reply parses and its memory is within budget.
func TestPoliciesAreWellFormed(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		var texts []string
		var truth []scripted.Truth
		for range 4 {
			texts = append(texts, hostile(rng))
			truth = append(truth, scripted.Truth{Evidence: true, Excerpt: hostile(rng)})
		}
		budget := len(prompt.NoMemory) + rng.IntN(40) // of which "No previous memory" takes its part
		for _, c := range []prompt.Counter{words{}, runes{}} {
			for _, m := range []loop.Model{
				scripted.AlwaysUpdate{Budget: budget, Counter: c},
				scripted.Oracle{Budget: budget, Counter: c, Truth: truth},
				scripted.NoisyOracle{Oracle: scripted.Oracle{Budget: budget, Counter: c, Truth: make([]scripted.Truth, 4)}, WrongUpdate: 0.5},
				scripted.NewLexical(budget, c),
			} {
				for i, turn := range run(t, m, c, budget, "what about alpha", texts...) {
					if strings.HasPrefix(turn, "failed") || strings.HasSuffix(turn, "over budget") {
						t.Fatalf("%T, budget %d: turn %d %s\n%q", m, budget, i+1, turn, texts)
					}
				}
			}
		}
	}
}

func hostile(rng *rand.Rand) string {
	pieces := []string{
		"alpha", "beta.", "\n", " ", "\u00a0", "<update>", "</update>", "</think>", "<think>", "<check>no</check>",
		"<section>", "</ Memory >", "<", "section>", "ß漢字", "\xff", "{memory}", "No previous memory", strings.Repeat("x", 40),
	}
	var b strings.Builder
	for range 1 + rng.IntN(30) {
		b.WriteString(pieces[rng.IntN(len(pieces))])
		b.WriteString([]string{"", " "}[rng.IntN(2)])
	}
	return b.String()
}
