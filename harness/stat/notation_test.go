package stat_test

import (
	"fmt"
	"strings"

	stat "github.com/poimen-memory/mem/harness/stat"
)

// parseRun reads a run from a line of turns, one word each. The letter is the turn, upper
// case on evidence: y yes and written, b yes but over budget, n no, f none parsed. After
// it: ! the exit gate replied end, 2 parsed at attempt 2, ~ an ignored candidate that differs
// from the memory, = one that does not, * the memory's bytes changed. Every write makes
// the memory 10 tokens longer.
func parseRun(query string, trial int, line string) stat.Run {
	r := stat.Run{Query: query, Corpus: "c-" + query, Level: "L1", Model: "m", Trial: trial}
	for _, word := range strings.Fields(line) {
		t := parseTurn(word)
		if t.Written {
			r.MemoryTokens += 10
		}
		t.MemoryTokens = r.MemoryTokens
		r.Turns = append(r.Turns, t)
	}
	return r
}

func parseTurn(word string) stat.Turn {
	letter := strings.ToLower(word[:1])
	has := func(mark string) bool { return strings.Contains(word[1:], mark) }
	parsed := letter != "f"
	return stat.Turn{
		Evidence: letter != word[:1], Parsed: parsed, FirstTry: parsed && !has("2"),
		Update: letter == "y" || letter == "b", Written: letter == "y", OverBudget: letter == "b",
		Exit: has("!"), Candidate: has("~") || has("="), Differs: has("~"), Changed: letter == "y" || has("*"),
	}
}

// repeat is runs of so many queries and trials, all with the same turns.
func repeat(queries, trials int, line string) (runs []stat.Run) {
	for q := range queries {
		for trial := range trials {
			runs = append(runs, parseRun(fmt.Sprint("q", q), trial, line))
		}
	}
	return runs
}
