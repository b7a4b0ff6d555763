package harness_test

import (
	"context"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/poimen-memory/mem/harness/forecast"
	"github.com/poimen-memory/mem/harness/plan"
	"github.com/poimen-memory/mem/harness/run"
	"github.com/poimen-memory/mem/loop"
)

// sent counts what runs send, by name.
type sent struct {
	mu            sync.Mutex
	calls, tokens map[string]int
}

// watch is a factory of models that are counted.
func (s *sent) watch(m run.ModelFor) (loop.Model, error) {
	model, err := factory(m)
	return modelFunc(func(ctx context.Context, r loop.Request) (loop.Completion, error) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.calls[m.Cell.Name]++
		s.tokens[m.Cell.Name] += m.Count.Count(r.User)
		return model.Complete(ctx, r)
	}), err
}

// TestPlanHolds: what runs really send is what the plan said, exactly or at most.
func TestPlanHolds(t *testing.T) {
	s := sent{calls: map[string]int{}, tokens: map[string]int{}}
	cfg := config(t)
	cfg.Models = s.watch
	cfg.Select = func(c plan.Cell) bool { return c.Query == "redis-port" && c.Model != "noisy" }
	e, err := prepare(t, cfg, experiments+"agent-session.yaml")
	if err != nil {
		t.Fatal(err)
	}
	plan := slices.Collect(forecast.Runs(e.Plan))
	if _, err := e.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	fewer := 0
	for _, p := range plan {
		calls, tokens := s.calls[p.Name], s.tokens[p.Name]
		if calls > p.Calls || !p.Bound && calls != p.Calls {
			t.Errorf("%s: %d calls, planned %d, a bound: %v", p.Name, calls, p.Calls, p.Bound)
		}
		if tokens > p.Prompt || calls == p.Calls && tokens < p.Prompt/2 {
			t.Errorf("%s: %d tokens sent, planned %d", p.Name, tokens, p.Prompt)
		}
		if calls < p.Calls {
			fewer++
		}
	}
	if len(plan) != 24 || fewer == 0 {
		t.Errorf("%d runs, %d with fewer calls than the bound: want 24, some", len(plan), fewer)
	}
}

// TestPlanCosts: a price is of a million tokens, and a model without one costs nothing
// that is known.
func TestPlanCosts(t *testing.T) {
	dir := write(t, map[string]string{
		"s.jsonl": strings.Repeat(`{"role": "tool", "text": "6380"}`+"\n", 3),
		"s.yaml": `experiment: x
corpora: [{id: s, path: s.jsonl, chunk: {records: 1}}]
queries: [{id: q, text: "Which port?"}]
trials: 2
models:
  - {id: dear, policy: lexical, price: {prompt: 1.5, completion: 6}}
  - {id: free, policy: lexical, price: {prompt: 0, completion: 0}}
  - {id: unknown, policy: lexical}
`})
	e, err := prepare(t, config(t), dir+"/s.yaml")
	if err != nil {
		t.Fatal(err)
	}
	totals := forecast.ByModel(forecast.Runs(e.Plan))
	prompt := totals[0].Prompt
	want := []forecast.Total{
		{Model: "dear", Estimate: forecast.Estimate{Runs: 2, Calls: 6, Prompt: prompt, Completion: 6 * 2048, USD: (1.5*float64(prompt) + 6*6*2048) / 1e6}},
		{Model: "free", Estimate: forecast.Estimate{Runs: 2, Calls: 6, Prompt: prompt, Completion: 6 * 2048}},
		{Model: "unknown", Estimate: forecast.Estimate{Runs: 2, Calls: 6, Prompt: prompt, Completion: 6 * 2048, Unpriced: 2}},
	}
	near := cmp.Comparer(func(a, b float64) bool { return math.Abs(a-b) < 1e-9 })
	if diff := cmp.Diff(want, totals, near); diff != "" || prompt < 6*300 {
		t.Errorf("-want +got\n%s", diff)
	}
	if sum := forecast.Sum(forecast.Runs(e.Plan)); sum.Runs != 6 || sum.Unpriced != 2 || sum.Bound {
		t.Errorf("sum is %+v", sum)
	}
}

// TestAroundMemory: what stands beside a memory is the template's, to the byte.
func TestAroundMemory(t *testing.T) {
	for template, want := range map[string][2]string{
		"": {" ", " "},
		"<problem>{prompt}</problem>{<memory>\n so far: {memory}\t</memory><section>{chunk}</section>": {"\n so far: ", "\t"},
	} {
		cfg := config(t)
		cfg.Template = template
		cfg.Select = func(plan.Cell) bool { return false }
		e, err := prepare(t, cfg, experiments+"agent-session.yaml")
		if err != nil {
			t.Fatal(err)
		}
		if before, after := e.AroundMemory(); before != want[0] || after != want[1] {
			t.Errorf("template %q: around a memory are %q and %q, want %q", template, before, after, want)
		}
	}
}
