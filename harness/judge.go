package harness

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/poimen-memory/mem/harness/check"
	"github.com/poimen-memory/mem/harness/corpus"
	"github.com/poimen-memory/mem/harness/spec"
	"github.com/poimen-memory/mem/loop"
)

// result puts everything in the order of the matrix.
func (e *Experiment) result(ended map[string]*done, earlier []Decision) (*Result, error) {
	r := &Result{
		Schema: SchemaVersion, Experiment: e.Spec.Experiment.Value, About: e.Spec.About,
		Spec: filepath.ToSlash(e.Spec.File), Tokenizer: e.Tokenizer(), Prompt: e.template, Budget: e.prompts.Budget(),
		Warnings: e.warnings(),
	}
	var runs []*done
	for _, j := range e.jobs {
		if d := ended[j.Name]; d != nil {
			runs = append(runs, d)
			r.Runs = append(r.Runs, d.Run)
		}
	}
	r.Gates = e.gates(runs)
	r.Answers = e.answerRows(r.Gates, runs)
	r.ByLength = e.byLength(runs)
	r.Budgets = e.budgets(runs)
	r.Usage, r.Drift = e.usage(runs)
	r.Checks = e.checks(r, runs)
	var wrong [2]error
	r.Decisions, wrong[0] = e.decide(runs, earlier)
	r.Comparisons, wrong[1] = e.compare(runs)
	return r, errors.Join(wrong[:]...)
}

// budgets measures the prompts over each corpus. Its chunks and questions count whether
// or not a run sent them; memories and whole prompts are those that were sent.
func (e *Experiment) budgets(runs []*done) []check.BudgetTable {
	var tables []check.BudgetTable
	for i := range e.Spec.Corpora {
		id := e.Spec.Corpora[i].ID.Value
		u := check.Usage{Fixed: e.prompts.Fixed()}
		for _, s := range e.sessions {
			if s.corpus.ID.Value != id {
				continue
			}
			u.Chunks = append(u.Chunks, s.ChunkTokens()...)
			for _, q := range s.Queries() {
				u.Questions = append(u.Questions, e.prompts.Measure(q.Text).Tokens)
			}
		}
		for _, d := range only(runs, func(d *done) bool { return d.Corpus == id }) {
			d.addSent(&u)
		}
		tables = append(tables, e.headroom().Table(id, e.Tokenizer(), u))
	}
	return append(tables, e.budgetOverMemories(runs)...)
}

// budgetOverMemories measures the prompts of L2, whose chunks are what L1 left. Without
// such a run there is no table.
func (e *Experiment) budgetOverMemories(runs []*done) []check.BudgetTable {
	u := check.Usage{Fixed: e.prompts.Fixed()}
	for _, d := range only(runs, func(d *done) bool { return d.Session == MemoriesSession && d.Level == 2 }) {
		u.Chunks, u.Questions = append(u.Chunks, d.chunks...), append(u.Questions, d.question)
		d.addSent(&u)
	}
	if len(u.Chunks) == 0 {
		return nil
	}
	return []check.BudgetTable{e.headroom().Table(memoriesTable, e.Tokenizer(), u)}
}

// addSent adds what the run's prompts took.
func (d *done) addSent(u *check.Usage) {
	u.Memories = append(u.Memories, d.memories...)
	u.Prompts = append(u.Prompts, d.prompts...)
	u.Answers = append(u.Answers, d.asked...)
}

// memoriesTable stands in place of a corpus; no id has a space in it.
const memoriesTable = "L1 memories"

func (e *Experiment) headroom() check.Headroom {
	c := e.Spec.Checks.Budget.Value
	return check.Headroom{Budget: e.prompts.Budget(), Percentile: c.Percentile, Min: c.MinHeadroom}
}

// checks judges in the order: golden and ledger, budget, retain and log of each run, levels, expect.
func (e *Experiment) checks(r *Result, runs []*done) []check.Result {
	list := e.judgeGoldens()
	for _, t := range r.Budgets {
		result := e.headroom().Check(t)
		result.Pos = e.Spec.Checks.Budget.Pos
		list = append(list, result)
	}
	for _, d := range runs {
		list = append(list, d.checks...)
	}
	list = append(list, e.levels(r.Runs)...)
	for _, d := range r.Drift {
		list = append(list, check.Tokenizer(d, e.Spec.Checks.Tokenizer.Value.MaxUndercount, e.Spec.Checks.Tokenizer.Pos))
	}
	judged := judge(r.Runs)
	for i := range e.Spec.Expect {
		list = append(list, check.Expect(&e.Spec.Expect[i], judged))
	}
	return list
}

func (e *Experiment) judgeGoldens() (list []check.Result) {
	for _, g := range e.Goldens() {
		list = append(list, g.Check(), g.Recorded())
	}
	return list
}

func judge(runs []Run) []check.Judged {
	list := make([]check.Judged, len(runs))
	for i, r := range runs {
		list[i] = check.Judged{
			Name: r.Name, Model: r.Model, Query: r.Query, Corpus: r.Corpus, Session: r.Session,
			Level: r.Level, ExitGate: r.ExitGate, Trial: r.Trial, Ended: r.State == Complete, Facts: r.Facts,
		}
		if r.Answer != nil && r.Answer.Score != nil {
			list[i].SubEM = &r.Answer.Score.SubEM
		}
	}
	return list
}

// levels compares the logs of runs that differ in their level alone and were fed the same
// chunks.
func (e *Experiment) levels(runs []Run) []check.Result {
	if e.Spec.L2Source != spec.Chunks || len(e.Spec.Levels.Value) < 2 {
		return nil
	}
	lower := map[Cell]Run{}
	var list []check.Result
	for _, run := range runs {
		key := run.Cell
		key.Name, key.Level = "", 0
		other, ok := lower[key]
		if !ok {
			lower[key] = run
			continue
		}
		list = append(list, e.compareLogs(other, run))
	}
	return list
}

func (e *Experiment) compareLogs(lower, upper Run) check.Result {
	subject := lower.Name + " and " + upper.Level.String()
	if lower.State != Complete || upper.State != Complete {
		return check.Skipped("levels", subject, "not both runs ended")
	}
	a, err := os.Open(filepath.Join(e.runDir(lower.Name), eventsFile))
	if err != nil {
		return check.Unreadable("levels", subject, err)
	}
	defer a.Close()
	b, err := os.Open(filepath.Join(e.runDir(upper.Name), eventsFile))
	if err != nil {
		return check.Unreadable("levels", subject, err)
	}
	defer b.Close()
	return check.Levels(subject, loop.Level(upper.Level-lower.Level), a, b)
}

// warnings are what is no error and should be known.
func (e *Experiment) warnings() []string {
	var list []string
	for _, s := range e.sessions {
		list = append(list, s.Warnings()...)
		list = append(list, tagWarning(s.Session)...)
	}
	return slices.Clip(list)
}

func tagWarning(s *corpus.Session) []string {
	if s.Reserved() == 0 && s.GateTags() == 0 {
		return nil
	}
	var parts []string
	if n := s.Reserved(); n > 0 {
		parts = append(parts, plural(n, "reserved tag")+" escaped when sent")
	}
	if n := s.GateTags(); n > 0 {
		parts = append(parts, plural(n, "gate tag")+" left as text")
	}
	return []string{"corpus " + s.Name() + ": " + strings.Join(parts, ", ")}
}
