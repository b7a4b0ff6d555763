package glossary

import (
	"fmt"
	"strings"

	"github.com/poimen-memory/mem/harness/stat"
	"github.com/poimen-memory/mem/harness/stat/answer"
)

// The sets of runs that examples are about.
const (
	Recorded = "recorded" // exit gate recorded only
	Enforced = "enforced"
	Answers  = "answers"
)

// exampleRun is a run of an example: its turns a word each, as Notation says, and the chunks
// after an enforced exit.
type exampleRun struct {
	query    string
	trial    int
	turns    string
	unread   string
	answered string
}

// Notation explains the words of ExampleLines.
const Notation = `A word is a turn: y the update gate said yes and the memory was written, b yes but the candidate
was over budget, n no, f no reply parsed. A capital is a chunk with evidence. After it: ! the
exit gate said end, 2 parsed at the second attempt, ~ a no with an ignored candidate that differs
from the memory, = with one that does not. A write makes the memory 10 tokens longer.`

func exampleRuns(set string) []exampleRun {
	switch set {
	case Enforced:
		return []exampleRun{{query: "host", trial: 1, turns: "n~ B n!", unread: "n Y y"}}
	case Answers:
		return []exampleRun{
			{query: "port", trial: 1, turns: "n Y n Y! n n", answered: "6380"},
			{query: "port", trial: 2, turns: "y Y2 f N n! n", answered: "It is port 6380."},
			{query: "host", trial: 1, turns: "n~ B n! n Y y", answered: "6379"},
		}
	}
	return []exampleRun{
		{query: "port", trial: 1, turns: "n Y n Y! n n"},
		{query: "port", trial: 2, turns: "y Y2 f N n! n"},
		{query: "host", trial: 1, turns: "n~ B n! n Y y"},
		{query: "none", trial: 1, turns: "n n= y n! n! n"},
	}
}

const exampleReference = "6380"

// Runs are those of a set, as package stat takes them.
func Runs(set string) (runs []stat.Run) {
	for _, e := range exampleRuns(set) {
		r := stat.Run{Query: e.query, Corpus: "session-" + e.query, Level: "L1", Model: "m", Trial: e.trial, Exit: stat.ExitRecord}
		for _, word := range strings.Fields(e.turns) {
			t := turn(word)
			if t.Written {
				r.MemoryTokens += 10
			}
			t.MemoryTokens = r.MemoryTokens
			r.Turns = append(r.Turns, t)
		}
		if set == Enforced {
			r.Exit = stat.ExitEnforce
			r.Evidence = evidence(e.turns + " " + e.unread)
			r.Total = len(strings.Fields(e.turns + " " + e.unread))
		}
		if e.answered != "" {
			score := answer.Compare(e.answered, []string{exampleReference}, false)
			r.Answer = &score
		}
		runs = append(runs, r)
	}
	return runs
}

func turn(word string) stat.Turn {
	letter := strings.ToLower(word[:1])
	has := func(mark string) bool { return strings.Contains(word[1:], mark) }
	return stat.Turn{
		Evidence: letter != word[:1], Parsed: letter != "f", FirstTry: letter != "f" && !has("2"),
		Update: letter == "y" || letter == "b", Written: letter == "y", OverBudget: letter == "b",
		Exit: has("!"), Candidate: has("~") || has("="), Differs: has("~"), Changed: letter == "y",
	}
}

func evidence(turns string) (list []int) {
	for i, word := range strings.Fields(turns) {
		if turn(word).Evidence {
			list = append(list, i+1)
		}
	}
	return list
}

// ExampleLines shows the runs of a set, a line each.
func ExampleLines(set string) (lines []string) {
	for _, e := range exampleRuns(set) {
		line := fmt.Sprintf("%s, trial %d:", e.query, e.trial)
		for _, word := range strings.Fields(e.turns) {
			line += fmt.Sprintf("  %-2s", word)
		}
		line = strings.TrimRight(line, " ")
		if e.unread != "" {
			line += "   (not read: " + strings.Join(strings.Fields(e.unread), "  ") + ")"
		}
		if e.answered != "" {
			line += fmt.Sprintf("   answer %q, want %q", e.answered, exampleReference)
		}
		lines = append(lines, line)
	}
	return lines
}

// ExampleTitle is what a set of runs is, in words.
func ExampleTitle(set string) string {
	switch set {
	case Enforced:
		return "one run of 6 chunks that an enforced exit gate ended at chunk 3"
	case Answers:
		return "three runs with an answer from the final memory"
	}
	return "four runs of 6 chunks with the exit gate recorded only"
}
