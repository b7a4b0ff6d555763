package harness_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/poimen-memory/mem/harness/stat/decide"
)

type naivePolicy struct {
	name, model string
	fails       []string // criteria that are NO-GO on forty questions; the others are GO
}

// naive are policies that look good by accident if a criterion is missing: each must fail, and
// by the criteria that are about what it does wrong. Evidence is the fourth of eight chunks.
var naive = []naivePolicy{
	{"oracle", "policy: oracle", nil},
	{"never updates", "policy: never_update", []string{"recall_committed", "exit_useful"}},
	{"always updates", "policy: always_update", []string{"specificity_strict", "exit_useful"}},
	{"lexical overlap", "policy: lexical", []string{"recall_committed", "specificity_strict", "exit_useful"}},
	{"writes everything, ends in time", "script: all.yaml", []string{"specificity_strict"}},
	{"always ends", "script: ends.yaml", []string{"exit_useful"}},
	{"never ends", "script: goes-on.yaml", []string{"exit_useful"}},
	{"ends at the last chunk alone", "script: late.yaml", nil}, // late costs turns, not answers
	{"writes what no memory can hold", "script: long.yaml", []string{"recall_committed"}},
	{"malformed", "script: malformed.yaml", []string{"recall_committed", "specificity_strict", "exit_useful", "first_try_parse"}},
	{"well formed at the second try", "script: second.yaml", []string{"first_try_parse"}},
}

// naiveScripts are right about the chunks, but for what their names say.
var naiveScripts = map[string]string{
	"all.yaml":       "turns: [{turns: 4-8, check: 'yes', update: 'port 6380', next: end}]\ndefault: {check: 'yes', update: 'port', next: continue}",
	"ends.yaml":      "turns: [{turn: 4, check: 'yes', update: 'port 6380', next: end}]\ndefault: {check: 'no', next: end}",
	"goes-on.yaml":   "turns: [{turn: 4, check: 'yes', update: 'port 6380', next: continue}]\ndefault: {check: 'no', next: continue}",
	"late.yaml":      "turns: [{turn: 4, check: 'yes', update: 'port 6380', next: continue}, {turn: 8, check: 'no', next: end}]\ndefault: {check: 'no', next: continue}",
	"long.yaml":      "turns: [{turn: 4, check: 'yes', update: {text: ' word', times: 4000}, next: end}]\ndefault: {check: 'no', next: continue}",
	"malformed.yaml": "default: {attempts: [{raw: 'It is useful.', repeat: 3}]}",
	"second.yaml": "turns: [{turn: 4, attempts: [{raw: hm}, {check: 'yes', update: 'port 6380', next: end}]}]\n" +
		"default: {attempts: [{raw: hm}, {check: 'no', next: continue}]}",
}

// TestNaivePoliciesFail: forty questions settle every criterion of every policy.
func TestNaivePoliciesFail(t *testing.T) {
	for _, policy := range naive {
		t.Run(policy.name, func(t *testing.T) {
			t.Parallel()
			files := map[string]string{"s.jsonl": jsonl(
				"Good morning.", "Which port does Redis listen on, asks Ann.", "Redis, which port: Ann asks what it does listen on.",
				"Redis listens on port 6380.", "Ann knows which port Redis does listen on.", "On which port does Redis listen, Bob?", "Lunch.", "Bye.")}
			for name, text := range naiveScripts {
				files[name] = text
			}
			var asks []string
			for i := range 40 {
				asks = append(asks, fmt.Sprintf(`{id: q%d, text: "Which port does Redis listen on, try %d?", evidence: [r4]}`, i, i))
			}
			files["naive.yaml"] = "experiment: naive\ncorpora: [{id: s, path: s.jsonl, chunk: {records: 1}}]\nqueries: [" + strings.Join(asks, ", ") +
				"]\nmodels: [{id: m, " + policy.model + "}]\n" + decideOnM + "\n"
			r := eval(t, config(t), filepath.Join(write(t, files), "naive.yaml"))
			fails := []string(nil)
			for _, c := range r.Decisions[0].Criteria {
				switch c.Verdict {
				case decide.NoGo:
					fails = append(fails, c.Metric)
				case decide.Inconclusive:
					t.Errorf("%s is not settled: %s", c.Metric, c.Estimate)
				}
			}
			if diff := cmp.Diff(policy.fails, fails); diff != "" {
				t.Errorf("criteria that it fails (-want +got):\n%s", diff)
			}
			want := decide.Go
			if len(policy.fails) > 0 {
				want = decide.NoGo
			}
			if got := r.Decisions[0].Verdict; got != want {
				t.Errorf("verdict is %s, want %s", got, want)
			}
		})
	}
}

// TestEveryCriterionIsNeeded: without it, some policy would fail by no criterion.
func TestEveryCriterionIsNeeded(t *testing.T) {
	for _, c := range decide.DefaultCriteria() {
		if !slices.ContainsFunc(naive, func(p naivePolicy) bool { return slices.Equal(p.fails, []string{c.Metric}) }) {
			t.Errorf("no policy of the table fails by %s alone", c.Metric)
		}
	}
}
