package main

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/poimen-memory/mem/harness"
	"github.com/poimen-memory/mem/harness/render"
	"github.com/poimen-memory/mem/loop"
	"github.com/poimen-memory/mem/loop/eventlog"
	"github.com/poimen-memory/mem/loop/journal"
)

// saveHTML writes report.html from what stands in an experiment's folder: the logs of its
// runs, and of live ones timing.json. A scripted experiment's page is the same each time.
func saveHTML(dir string, r *harness.Result) error {
	report := render.Report{Result: r, Turns: map[string][]render.Turn{}}
	timed := false
	for _, run := range r.Runs {
		turns, live, err := readTurns(filepath.Join(dir, "runs", filepath.FromSlash(run.Name)))
		if errors.Is(err, fs.ErrNotExist) {
			continue // a run that was skipped has no logs
		}
		if err != nil {
			return err
		}
		report.Turns[run.Name] = turns
		timed = timed || live
	}
	if timed {
		timing, err := os.ReadFile(filepath.Join(dir, "timing.json"))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		report.Timing = string(timing)
	}
	return writeFile(filepath.Join(dir, "report.html"), func(w io.Writer) error { return render.HTML(w, report) })
}

// readTurns puts a run's event log and call journal together, turn by turn. A log that
// was cut gives the turns before the cut. live says that the replies came from a server.
func readTurns(dir string) (turns []render.Turn, live bool, err error) {
	if turns, err = loggedTurns(filepath.Join(dir, "events.jsonl")); err != nil {
		return nil, false, err
	}
	h, calls, err := journal.ReadFile(filepath.Join(dir, "calls.jsonl"))
	if err != nil {
		return nil, false, err
	}
	for _, c := range calls {
		if c.Turn == loop.AnswerTurn {
			continue // the run's answer is in its result
		}
		if c.Turn > len(turns) {
			break // the turn was never resolved
		}
		t := &turns[c.Turn-1]
		if t.Digest == "" {
			t.Digest, t.Prompt = c.Digest, c.User
		}
		if n := c.Attempt - 1; n < len(t.Calls) { // asked again after a call without a reply
			t.Calls[n] = answerOf(c)
			continue
		}
		t.Calls = append(t.Calls, answerOf(c))
	}
	return turns, h.Live(), nil
}

func answerOf(c journal.Call) render.Answer {
	a := render.Answer{Reply: c.Reply, Reasoning: c.Reasoning, Error: c.Error}
	if c.Error != "" {
		return a
	}
	if _, err := loop.Parse(loop.Completion{Text: c.Reply, Reasoning: c.Reasoning, Finish: c.Finish}); err != nil {
		a.Wrong = err.Error()
	}
	return a
}

func loggedTurns(path string) ([]render.Turn, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var turns []render.Turn
	for e, err := range eventlog.Read(f) {
		if err != nil {
			break // the log check has said so
		}
		turns = withEvent(turns, e)
	}
	return turns, nil
}

// withEvent adds a turn, or to the last one what the event says of it. What is said before
// the first turn, by a log that was changed, is of none.
func withEvent(turns []render.Turn, e loop.Event) []render.Turn {
	last := &render.Turn{}
	if n := len(turns); n > 0 {
		last = &turns[n-1]
	}
	switch e := e.(type) {
	case loop.Gate:
		return append(turns, render.Turn{Parsed: true, Update: e.Update, Exit: e.Exit, Tokens: last.Tokens})
	case loop.ParseFailed:
		return append(turns, render.Turn{Tokens: last.Tokens})
	case loop.Memory:
		last.Written, last.Tokens, last.Memory = true, e.Tokens, &e.Text
	case loop.BudgetExceeded:
		last.OverBudget = true
	}
	return turns
}
