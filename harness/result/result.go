package result

import (
	"maps"
	"slices"

	"github.com/poimen-memory/mem/harness/check"
	"github.com/poimen-memory/mem/harness/plan"
	"github.com/poimen-memory/mem/harness/record"
	"github.com/poimen-memory/mem/harness/result/paired"
	"github.com/poimen-memory/mem/harness/spec"
	"github.com/poimen-memory/mem/harness/stat"
	"github.com/poimen-memory/mem/harness/stat/confidence"
	"github.com/poimen-memory/mem/prompt"
)

// SchemaVersion is that of Result as JSON.
const SchemaVersion = 3

// Result is all that an experiment came to. With scripted models it is the same from run
// to run; nothing in it is touched by a clock.
type Result struct {
	Schema      int                 `json:"schema"`
	Experiment  string              `json:"experiment"`
	About       string              `json:"about,omitempty"`
	Spec        string              `json:"spec"` // the file, as it was given
	Tokenizer   string              `json:"tokenizer"`
	Prompt      plan.Template       `json:"prompt"`
	Budget      prompt.Budget       `json:"budget"`
	Variants    []plan.Variation    `json:"variants,omitempty"` // in which each model was evaluated
	Decisions   []Decision          `json:"decisions,omitempty"`
	Comparisons []paired.Comparison `json:"comparisons,omitempty"` // with the spec's baselines
	Checks      []check.Result      `json:"checks"`
	Gates       []GateRow           `json:"gates"`
	Answers     []AnswerRow         `json:"answers,omitempty"`   // of specs that ask for them
	ByLength    []LengthRow         `json:"by_length,omitempty"` // of corpora of several lengths
	ByTag       []TagRow            `json:"by_tag,omitempty"`    // of tags that divide the queries
	Budgets     []check.BudgetTable `json:"budgets"`
	Usage       []Usage             `json:"usage,omitempty"` // of models whose server counts
	Drift       []check.Drift       `json:"tokenizer_drift,omitempty"`
	Runs        []Run               `json:"runs"`
	Warnings    []string            `json:"warnings,omitempty"`
	NoText      bool                `json:"no_text,omitempty"` // texts of sessions, prompts, replies and memories are left out
}

// GateRow is what the gates of one model did at one level and exit setting, over the
// complete ones of its runs.
type GateRow struct {
	Model    string        `json:"model"`
	Level    spec.Level    `json:"level"`
	ExitGate string        `json:"exit_gate"`
	Excluded int           `json:"excluded_runs"` // of them, not complete: in no count
	Counts   stat.Counts   `json:"counts"`
	Hard     HardRow       `json:"hard_negatives,omitzero"`
	Metrics  []stat.Metric `json:"metrics"` // all of METRICS section 1
	Queries  []QueryRow    `json:"queries"`
	// Confidence is of models that were asked for log probabilities; nothing is decided on it.
	Confidence *confidence.Gates `json:"confidence,omitempty"`
}

// HardRow is the update gate on hard negatives, chunks that state something of another key
// than the query's: only parsed turns count. They are in the row's counts too.
type HardRow struct {
	Turns int `json:"turns"`
	Yes   int `json:"yes"` // wrong
}

// QueryRow is the counts of one query in a GateRow, over corpora and trials.
type QueryRow struct {
	Query  string      `json:"query"`
	Counts stat.Counts `json:"counts"`
}

// Metric is the row's metric of that name; ok is false if it has none.
func (row GateRow) Metric(name string) (e stat.Estimate, ok bool) {
	return metricNamed(row.Metrics, name)
}

func metricNamed(metrics []stat.Metric, name string) (e stat.Estimate, ok bool) {
	for _, m := range metrics {
		if m.Name == name {
			return m.Estimate, true
		}
	}
	return stat.Estimate{}, false
}

// Run is one run's end.
type Run struct {
	plan.Cell
	// CountedQuery and CountedSession are what statistics count the run for, where that is another
	// query (of the same question) or session (the sessions that L2 runs join are one).
	CountedQuery   string `json:"counted_query,omitempty"`
	CountedSession string `json:"counted_session,omitempty"`

	Tags map[string]string `json:"tags,omitempty"` // of the query

	State  record.State `json:"state"`
	Reason string       `json:"reason,omitempty"` // of any state but complete
	check.Facts
	Input    string       `json:"input_sha"`                   // of query, chunks and labels
	Packing  string       `json:"packing,omitempty"`           // how chunks are filled, where variants of the spec differ in it
	Length   int          `json:"length,omitempty"`            // of a synthetic session: tokens, at most
	Depth    float64      `json:"depth,omitempty"`             // where its first needle stands, in percent of the text
	Chunks   int          `json:"chunks"`                      // T, of the whole source
	Evidence []int        `json:"evidence"`                    // turns whose chunk is evidence; the last is t*
	Hard     []int        `json:"hard_negatives,omitempty"`    // turns without evidence whose chunk states something of another key
	Cut      []int        `json:"cut_evidence,omitempty"`      // turns whose chunk begins within a label
	Changed  []int        `json:"retain_violations,omitempty"` // retaining turns that changed the memory's bytes
	Troubles Troubles     `json:"troubles,omitzero"`
	Counts   *stat.Counts `json:"counts,omitempty"` // of a complete run
	Answer   *Answer      `json:"answer,omitempty"` // of a complete run, where the spec asks for it
}

// Exit is the process's exit code for results: 0 all passed, 1 judged and failed, 2 bad
// usage or spec, 3 infrastructure, 4 undecided, 130 interrupted; of several the first of
// 130, 2, 3, 1, 4. Nothing judged is 2: an empty run is never 0. A decision is 0 only if
// it is GO.
func Exit(results ...*Result) int {
	found := map[int]bool{}
	judged := false
	for _, r := range results {
		for _, run := range r.Runs {
			judged = judged || run.State != record.Skipped
			found[run.State.Exit()] = true
		}
		for _, c := range r.Checks {
			judged = judged || c.Status != check.Skip
			found[map[check.Status]int{check.Fail: 1}[c.Status]] = true
		}
		for _, d := range r.Decisions {
			found[d.exit()] = true
		}
	}
	if !judged {
		found[2] = true
	}
	return FirstExit(found)
}

// FirstExit is the exit code that counts where several are due.
func FirstExit(due map[int]bool) int {
	for _, code := range []int{130, 2, 3, 1, 4} {
		if due[code] {
			return code
		}
	}
	return 0
}

// Count is how many runs are in a state.
func (r *Result) Count(s record.State) int {
	n := 0
	for _, run := range r.Runs {
		if run.State == s {
			n++
		}
	}
	return n
}

// Checked is how many checks have a status.
func (r *Result) Checked(s check.Status) int {
	n := 0
	for _, c := range r.Checks {
		if c.Status == s {
			n++
		}
	}
	return n
}

// Tags are the tags that the result has rows of, in ascending order.
func (r *Result) Tags() []string {
	seen := map[string]bool{}
	for _, row := range r.ByTag {
		seen[row.Tag] = true
	}
	return slices.Sorted(maps.Keys(seen))
}
