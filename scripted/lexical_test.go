package scripted_test

import (
	"context"
	"strings"
	"testing"

	"github.com/poimen-memory/mem/loop"
	"github.com/poimen-memory/mem/prompt"
	"github.com/poimen-memory/mem/scripted"
)

const port = "On which port does the staging Redis listen?"

func TestLexical(t *testing.T) {
	check(t, run(t, scripted.NewLexical(0, words{}), words{}, 0, port,
		"The build is green. The tests take on average two minutes.",
		"The deploy of the web front is done. It was quick.",
		"The log is on the web host. Staging Redis now sits on port 6380. The host was rebooted.",
		"The cache of the web front was purged.",
		"The staging database moved. The Redis clients listen again!",
		"The staging database moved. The weather on the coast is fine.",
	), []string{
		"no continue",
		"no continue",
		"yes continue: Staging Redis now sits on port 6380.",
		"no continue",
		"yes end: Staging Redis now sits on port 6380.\nThe Redis clients listen again!",
		"no end",
	})
}

// What is rare says much, and little once many chunks have it.
func TestLexicalWeighsByRarity(t *testing.T) {
	got := run(t, scripted.NewLexical(0, words{}), words{}, 0, "red kite",
		"a dog", "a cat", "a red hat", "a red car", "a red door", "a red nose", "a red nail", "a red hand", "a kite")
	var said []string
	for _, turn := range got {
		said = append(said, strings.Fields(turn)[0])
	}
	check(t, said, []string{"no", "no", "yes", "yes", "no", "no", "no", "no", "yes"})
}

func TestLexicalKeepsTheBestSentencesOnce(t *testing.T) {
	m := scripted.NewLexical(9, words{})
	got := run(t, m, words{}, 9, "alpha beta gamma delta",
		"alpha is first. nothing here.", "alpha and beta here. x y.", "alpha and beta here. alpha beta gamma delta.")
	if got, want := got[2], "yes end: alpha and beta here.\nalpha beta gamma delta."; got != want {
		t.Errorf("turn 3: %q, want %q", got, want)
	}
}

func TestLexicalCutsASentenceOverBudget(t *testing.T) {
	got := run(t, scripted.NewLexical(4, words{}), words{}, 4, "alpha beta", "here is alpha and beta too")
	check(t, got, []string{"yes end: here is alpha and"})
}

// A retry brings the same chunk and gets the same answer, now and later.
func TestLexicalCountsAChunkOnce(t *testing.T) {
	sections := []string{"a red car", "a red door", "a kite", "a red kite"}
	answers := func(attempts int) (all []string) {
		m := scripted.NewLexical(0, words{})
		for i, section := range sections {
			for attempt := 1; attempt <= attempts; attempt++ {
				user := "<problem> red kite </problem><memory> " + prompt.NoMemory + " </memory><section> " + section + " </section>"
				c, err := m.Complete(context.Background(), loop.Request{Turn: i + 1, Attempt: attempt, User: user})
				if err != nil {
					t.Fatal(err)
				}
				if attempt > 1 && c.Text != all[len(all)-1] {
					t.Errorf("turn %d, attempt %d: %q, before %q", i+1, attempt, c.Text, all[len(all)-1])
				}
				if attempt == 1 {
					all = append(all, c.Text)
				}
			}
		}
		return all
	}
	check(t, answers(3), answers(1))
}

// A question without words is never answered.
func TestLexicalWithoutWords(t *testing.T) {
	check(t, run(t, scripted.NewLexical(0, words{}), words{}, 0, "???", "a", "b"), []string{"no continue", "no continue"})
}

// Many words cover a question by chance: a line without full stops is taken in pieces.
func TestLexicalTakesALongLineInPieces(t *testing.T) {
	line := strings.Repeat("noise ", 100) + "alpha beta " + strings.Repeat("noise ", 100)
	got := run(t, scripted.NewLexical(0, words{}), words{}, 0, "alpha beta", line)
	memory, ok := strings.CutPrefix(got[0], "yes end: ")
	if n := len(strings.Fields(memory)); !ok || n != 64 || !strings.Contains(memory, "alpha beta") {
		t.Errorf("%d words: %q, want the 64 around alpha beta", n, got[0])
	}
}
