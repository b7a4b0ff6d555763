package result

import (
	"maps"
	"slices"
	"strings"

	"github.com/poimen-memory/mem/harness/check"
	"github.com/poimen-memory/mem/harness/corpus"
	"github.com/poimen-memory/mem/harness/plan"
	"github.com/poimen-memory/mem/harness/record"
	"github.com/poimen-memory/mem/harness/spec"
	"github.com/poimen-memory/mem/loop"
)

// budgetTables measures the prompts over each corpus. Its chunks and questions count whether
// or not a run sent them; memories and whole prompts are those that were sent.
func budgetTables(s *summary) []check.BudgetTable {
	var tables []check.BudgetTable
	for _, setup := range s.plan.Setups {
		tables = append(tables, corpusBudgets(s, setup)...)
		tables = append(tables, memoryBudget(s, setup)...)
	}
	return tables
}

func corpusBudgets(s *summary, setup *plan.Setup) (tables []check.BudgetTable) {
	for i := range s.plan.Spec.Corpora {
		id := s.plan.Spec.Corpora[i].ID.Value
		u := check.Usage{Fixed: setup.Prompts.Fixed()}
		for _, session := range setup.Sessions {
			if session.Corpus.ID.Value != id {
				continue
			}
			u.Chunks = append(u.Chunks, session.ChunkTokens()...)
			for _, q := range session.Queries() {
				u.Questions = append(u.Questions, setup.Prompts.Measure(q.Text).Tokens)
			}
		}
		for _, d := range only(s.runs, func(d *runData) bool { return d.Corpus == id && d.planned.Setup == setup }) {
			addSent(&u, d)
		}
		tables = append(tables, setup.Headroom().Table(spec.JoinVariant(id, setup.Name()), s.plan.Tokenizer(), u))
	}
	return tables
}

// memoryBudget measures the prompts of L2, whose chunks are what L1 left. Without
// such a run there is no table.
func memoryBudget(s *summary, setup *plan.Setup) []check.BudgetTable {
	u := check.Usage{Fixed: setup.Prompts.Fixed()}
	for _, d := range only(s.runs, func(d *runData) bool { return d.OverMemories() && d.planned.Setup == setup }) {
		u.Chunks, u.Questions = append(u.Chunks, d.sent.Chunks...), append(u.Questions, d.sent.Questions...)
		addSent(&u, d)
	}
	if len(u.Chunks) == 0 {
		return nil
	}
	return []check.BudgetTable{setup.Headroom().Table(spec.JoinVariant(memoriesTable, setup.Name()), s.plan.Tokenizer(), u)}
}

// addSent adds what the run's prompts took.
func addSent(u *check.Usage, d *runData) {
	u.Memories = append(u.Memories, d.sent.Memories...)
	u.Prompts = append(u.Prompts, d.sent.Prompts...)
	u.Answers = append(u.Answers, d.sent.Answers...)
}

// memoriesTable stands in place of a corpus; no id has a space in it.
const memoriesTable = "L1 memories"

// judgeAll judges in the order: golden and ledger, budget, retain and log of each run, levels, expect.
func judgeAll(s *summary, r *Result) []check.Result {
	list := judgeGoldens(s.plan)
	for _, t := range r.Budgets {
		result := s.plan.Headroom().Check(t)
		result.Pos = s.plan.Spec.Checks.Budget.Pos
		list = append(list, result)
	}
	for _, d := range s.runs {
		list = append(list, d.checks...)
	}
	list = append(list, judgeLevels(s, r.Runs)...)
	for _, d := range r.Drift {
		list = append(list, check.Tokenizer(d, s.plan.Spec.Checks.Tokenizer.Value.MaxUndercount, s.plan.Spec.Checks.Tokenizer.Pos))
	}
	judged := judge(r.Runs)
	for i := range s.plan.Spec.Expect {
		list = append(list, check.Expect(&s.plan.Spec.Expect[i], judged))
	}
	return list
}

func judgeGoldens(p *plan.Plan) (list []check.Result) {
	for _, g := range p.Goldens() {
		list = append(list, g.Check(), g.Recorded())
	}
	return list
}

func judge(runs []Run) []check.Judged {
	list := make([]check.Judged, len(runs))
	for i, r := range runs {
		list[i] = check.Judged{
			Name: r.Name, Model: r.Model, Query: r.Query, Corpus: r.Corpus, Session: r.Session,
			Level: r.Level, ExitGate: r.ExitGate, Trial: r.Trial, Ended: r.State == record.Complete, Facts: r.Facts,
		}
		if r.Answer != nil && r.Answer.Score != nil {
			list[i].SubEM = &r.Answer.Score.SubEM
		}
	}
	return list
}

// judgeLevels compares the logs of runs that differ in their level alone and were fed the same
// chunks.
func judgeLevels(s *summary, runs []Run) []check.Result {
	if s.plan.Spec.L2Source != spec.Chunks || len(s.plan.Spec.Levels.Value) < 2 {
		return nil
	}
	lower := map[plan.Cell]Run{}
	var list []check.Result
	for _, run := range runs {
		key := run.Cell
		key.Name, key.Level = "", 0
		other, ok := lower[key]
		if !ok {
			lower[key] = run
			continue
		}
		list = append(list, compareLogs(s, other, run))
	}
	return list
}

func compareLogs(s *summary, lower, upper Run) check.Result {
	subject := lower.Name + " and " + upper.Level.String()
	if lower.State != record.Complete || upper.State != record.Complete {
		return check.Skipped("levels", subject, "not both runs ended")
	}
	a, err := s.folder.OpenLog(lower.Name)
	if err != nil {
		return check.Unreadable("levels", subject, err)
	}
	defer a.Close()
	b, err := s.folder.OpenLog(upper.Name)
	if err != nil {
		return check.Unreadable("levels", subject, err)
	}
	defer b.Close()
	return check.Levels(subject, loop.Level(upper.Level-lower.Level), a, b)
}

// warnings are what is no error and should be known.
func warnings(p *plan.Plan) []string {
	list := plan.Advice(p)
	merged := p.Merged()
	for _, name := range slices.Sorted(maps.Keys(merged)) {
		list = append(list, "queries "+strings.Join(merged[name], ", ")+" ask the same of one session: statistics count them as one query")
	}
	var sessions []*corpus.Session
	for _, s := range p.Sessions {
		sessions = append(sessions, s.Session)
	}
	return slices.Concat(list, corpus.Warnings(sessions), corpus.TagWarnings(sessions))
}
