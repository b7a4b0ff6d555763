package scripted_test

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/poimen-memory/mem/gate"
	"github.com/poimen-memory/mem/loop"
	"github.com/poimen-memory/mem/scripted"
)

func noisy(update, exit, malformed float64) scripted.NoisyOracle {
	return scripted.NoisyOracle{
		WrongUpdate: update, WrongExit: exit, Malformed: malformed,
		Seed: 7, Query: "redis-port", Corpus: "staging", Level: 1, Trial: 2,
	}
}

// pattern is a letter for each thing that goes wrong at turns 1 to n.
func pattern(m scripted.NoisyOracle, n int) string {
	var turns []string
	for turn := 1; turn <= n; turn++ {
		update, exit, malformed := m.Errors(turn)
		s := strings.Repeat("m", malformed)
		if update {
			s += "u"
		}
		if exit {
			s += "e"
		}
		turns = append(turns, s)
	}
	return strings.Join(turns, ",")
}

// Pinned: a change here changes every recorded result with this policy.
func TestNoisyOracleDrawsAreTheSameEverywhere(t *testing.T) {
	got := pattern(noisy(0.4, 0.3, 0.3), 16)
	want := "ue,mmmu,,e,mmue,e,,e,u,mu,mmu,,mm,u,mmm,"
	if got != want {
		t.Errorf("errors of 16 turns:\n got %s\nwant %s", got, want)
	}
}

func TestNoisyOracleDrawsDependOnEveryField(t *testing.T) {
	base := noisy(0.5, 0.5, 0.5)
	seen := map[string]string{pattern(base, 64): "the base"}
	for name, change := range map[string]func(*scripted.NoisyOracle){
		"seed":    func(n *scripted.NoisyOracle) { n.Seed = -7 },
		"query":   func(n *scripted.NoisyOracle) { n.Query = "redis" },
		"corpus":  func(n *scripted.NoisyOracle) { n.Corpus = "production" },
		"level":   func(n *scripted.NoisyOracle) { n.Level = 2 },
		"trial":   func(n *scripted.NoisyOracle) { n.Trial = 1 },
		"split":   func(n *scripted.NoisyOracle) { n.Query, n.Corpus = "redis-portstag", "ing" },
		"swapped": func(n *scripted.NoisyOracle) { n.Level, n.Trial = 2, 1 },
	} {
		m := base
		change(&m)
		p := pattern(m, 64)
		if other, ok := seen[p]; ok {
			t.Errorf("%s draws as %s does", name, other)
		}
		seen[p] = name
	}
}

func TestNoisyOracleRates(t *testing.T) {
	const n = 100_000
	m := noisy(0.1, 0.05, 0.06)
	counts := map[string]float64{}
	for turn := 1; turn <= n; turn++ {
		update, exit, malformed := m.Errors(turn)
		for what, is := range map[string]bool{"update": update, "exit": exit, "both": update && exit, fmt.Sprint(malformed): true} {
			if is {
				counts[what]++
			}
		}
	}
	for what, p := range map[string]float64{"update": 0.1, "exit": 0.05, "both": 0.005, "0": 0.94, "1": 0.02, "2": 0.02, "3": 0.02} {
		if deviation := math.Abs(counts[what]-n*p) / math.Sqrt(n*p*(1-p)); deviation > 4 {
			t.Errorf("%s: %v of %d draws, want %v (%.1f standard deviations off)", what, counts[what], n, n*p, deviation)
		}
	}
	if pattern(noisy(0, 0, 0), 1000) != strings.Repeat(",", 999) {
		t.Error("probability 0 still errs")
	}
	for turn := 1; turn <= 1000; turn++ {
		if update, exit, malformed := noisy(1, 1, 1).Errors(turn); !update || !exit || malformed == 0 {
			t.Fatalf("turn %d: probability 1 does not err", turn)
		}
	}
}

func TestNoisyOracleWithoutNoiseIsTheOracle(t *testing.T) {
	o := scripted.Oracle{Counter: words{}, Truth: []scripted.Truth{{}, {Evidence: true, Last: true, Excerpt: "red"}, {}}}
	check(t, run(t, scripted.NoisyOracle{Oracle: o}, words{}, 0, "q", "a", "b", "c"), run(t, o, words{}, 0, "q", "a", "b", "c"))
}

func TestNoisyOracleErrs(t *testing.T) {
	m := noisy(1, 1, 0)
	m.Oracle = scripted.Oracle{Budget: 12, Counter: words{}, Truth: []scripted.Truth{
		{}, {Evidence: true, Excerpt: "red"}, {}, {Evidence: true, Last: true, Excerpt: "blue"}, {},
	}}
	check(t, run(t, m, words{}, 12, "q", "one two three four five", "red", "six", "blue", "seven"), []string{
		"yes end: one two three", // a quarter of the budget
		"no end",
		"yes end: one two three\nsix",
		"no continue",
		"yes continue: one two three\nsix\nseven",
	})
}

// What a run shows is what Errors says, turn by turn, and every way of breaking a reply
// comes up and breaks it.
func TestNoisyOracleIsMalformedAsDrawn(t *testing.T) {
	m := noisy(0.5, 0.5, 0.5)
	m.Counter, m.Budget = words{}, 20
	var texts []string
	for turn := range 400 {
		m.Truth = append(m.Truth, scripted.Truth{Evidence: turn%3 == 0, Last: turn == 300, Excerpt: fmt.Sprint("fact ", turn)})
		texts = append(texts, fmt.Sprint("chunk ", turn))
	}
	kinds := map[gate.Kind]bool{}
	for i, turn := range run(t, m, words{}, 20, "q", texts...) {
		update, exit, malformed := m.Errors(i + 1)
		said := map[bool]string{false: "no", true: "yes"}[m.Truth[i].Evidence != update] +
			map[bool]string{false: " continue", true: " end"}[(i >= 300) != exit]
		if malformed == loop.Attempts {
			said = "failed"
		}
		if !strings.HasPrefix(turn, said) {
			t.Fatalf("turn %d: %q, want %q", i+1, turn, said)
		}
		for attempt := 1; attempt <= loop.Attempts; attempt++ {
			c, err := m.Complete(context.Background(), loop.Request{Turn: i + 1, Attempt: attempt, User: askAgain})
			if err != nil {
				t.Fatal(err)
			}
			kind := kindOf(c)
			if broken := kind != ""; broken != (attempt <= malformed) {
				t.Fatalf("turn %d, attempt %d of %d malformed: %+v", i+1, attempt, malformed, c)
			}
			kinds[kind] = true
		}
	}
	want := map[gate.Kind]bool{"": true}
	for _, k := range []gate.Kind{
		gate.Length, gate.UnclosedThink, gate.MissingCheck, gate.RepeatedCheck, gate.BadCheck, gate.UnclosedUpdate, gate.MissingNext,
	} {
		want[k] = true
	}
	if diff := cmp.Diff(want, kinds); diff != "" {
		t.Errorf("kinds of failure (-want +got):\n%s", diff)
	}
}

const askAgain = "<problem> q </problem><memory> old </memory><section> new </section>"

// kindOf is how a completion fails, "" if it parses.
func kindOf(c loop.Completion) gate.Kind {
	if c.Finish == loop.FinishLength {
		return gate.Length
	}
	if _, err := gate.Parse(c.Text); err != nil {
		return err.(*gate.SyntaxError).Kind
	}
	return ""
}
