package stat_test

import (
	"strings"

	"github.com/poimen-memory/mem/harness/stat"
)

// parseRun reads a run from a line of turns, one word each. The letter is the turn, upper
// case on evidence: y yes and written, b yes but over budget, n no, f none parsed. After
// it: ! the exit gate says end, 2 parsed at attempt 2, ~ an ignored candidate that differs
// from the memory, = one that does not, * the memory's bytes changed. Every write makes
// the memory 10 tokens longer.
func parseRun(query string, trial int, line string) stat.Run {
	r := stat.Run{Query: query, Corpus: "c", Level: "L1", Model: "m", Trial: trial}
	for i, word := range strings.Fields(line) {
		t := parseTurn(word)
		if t.Evidence {
			r.LastEvidence = i + 1
		}
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
func repeat(queries, trials int, line string) []stat.Run {
	var runs []stat.Run
	for q := range queries {
		for trial := range trials {
			runs = append(runs, parseRun(string(rune('A'+q/26))+string(rune('a'+q%26)), trial, line))
		}
	}
	return runs
}
