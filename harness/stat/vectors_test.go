package stat_test

import (
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"os"
	"strconv"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	stat "github.com/poimen-memory/mem/harness/stat"
	"github.com/poimen-memory/mem/harness/stat/cluster"
	"github.com/poimen-memory/mem/harness/stat/decide"
)

// vectors are worked examples that independent code computed. STAT_VECTORS=FILE reads others
// of the same schema.
type vectors struct {
	Schema    string
	Tolerance float64
	Vectors   []struct {
		ID, Kind string
		Cases    []example
	}
}

// example is one worked example; what is expected is checked off by name.
type example struct {
	Name, Kind string
	Input      json.RawMessage
	Expected   map[string]any
}

func readVectors(t *testing.T) vectors {
	t.Helper()
	name := os.Getenv("STAT_VECTORS")
	if name == "" {
		name = "testdata/stat-vectors.json"
	}
	raw, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	var v vectors
	if err := json.Unmarshal(raw, &v); err != nil {
		t.Fatal(err)
	}
	if v.Schema != "gate-stats-vectors/2" || len(v.Vectors) == 0 {
		t.Fatalf("%s: schema %q with %d vectors: want gate-stats-vectors/2 with some", name, v.Schema, len(v.Vectors))
	}
	return v
}

// kinds compute every number that a vector of a kind expects.
func kinds() map[string]func(*testing.T, example) map[string]any {
	return map[string]func(*testing.T, example) map[string]any{
		"contingency":       contingency,
		"binomial_interval": binomialInterval,
		"pccp_interval":     pccpInterval,
		"pccp_cells":        pccpInterval,
		"cluster_t":         clusterT,
		"mover":             mover,
		"sign_flip":         signFlip,
		"mcnemar":           mcNemar,
		"holm":              holm,
		"trace_metrics":     traceMetrics,
		"consistency":       consistency,
		"verdict":           verdict,
		"verdict_v2":        verdict,
		"bounded_mean":      boundedMean,
		"paired_difference": pairedDifference,
		"alpha_spending":    alphaSpending,
		"assurance":         assurance,
		"label_noise":       labelNoise,
		"exit_run":          exitRun,
	}
}

func TestVectors(t *testing.T) {
	v := readVectors(t)
	for _, group := range v.Vectors {
		if len(group.Cases) == 0 {
			t.Errorf("%s has no cases", group.ID)
		}
		for i, e := range group.Cases {
			kind := group.Kind
			if e.Kind != "" {
				kind = e.Kind
			}
			compute, ok := kinds()[kind]
			if !ok {
				t.Errorf("%s: nothing here computes a vector of kind %q", group.ID, kind)
				continue
			}
			t.Run(fmt.Sprintf("%s/%d", group.ID, i), func(t *testing.T) {
				match(t, "", e.Expected, compute(t, e), v.Tolerance)
			})
		}
	}
}

// match wants every expected number, and nothing else, within tolerance.
func match(t *testing.T, path string, want, got any, tolerance float64) {
	t.Helper()
	switch want := want.(type) {
	case map[string]any:
		got, _ := got.(map[string]any)
		if len(want) == 0 {
			t.Errorf("%s expects nothing", path)
		}
		for k := range want {
			v, ok := got[k]
			if !ok {
				t.Errorf("%s.%s is expected and not computed", path, k)
				continue
			}
			match(t, path+"."+k, want[k], v, tolerance)
		}
	case []any:
		got, _ := got.([]any)
		if len(got) != len(want) {
			t.Errorf("%s has %d elements, want %d", path, len(got), len(want))
			return
		}
		for i := range want {
			match(t, fmt.Sprintf("%s[%d]", path, i), want[i], got[i], tolerance)
		}
	default:
		if !near(want, got, tolerance) {
			t.Errorf("%s is %v, want %v", path, got, want)
		}
	}
}

func near(want, got any, tolerance float64) bool {
	x, isNumber := asFloat(got)
	switch want := want.(type) {
	case nil:
		return isNumber && math.IsNaN(x)
	case float64:
		return isNumber && math.Abs(x-want) <= tolerance
	case string:
		if r, ok := new(big.Rat).SetString(want); ok && isNumber { // an exact fraction
			exact, _ := r.Float64()
			return math.Abs(x-exact) <= 1e-12
		}
		return fmt.Sprint(got) == want
	}
	return false
}

// asFloat reads a number; nil is undefined, NaN here.
func asFloat(v any) (float64, bool) {
	switch v := v.(type) {
	case float64:
		return v, true
	case int:
		return float64(v), true
	case *float64:
		if v == nil {
			return math.NaN(), true
		}
		return *v, true
	}
	return 0, false
}

func read(t *testing.T, e example, into any) {
	t.Helper()
	if err := json.Unmarshal(e.Input, into); err != nil {
		t.Fatal(err)
	}
}

func pair(a, b float64) []any { return []any{a, b} }

// orNaN is an undefined rate as NaN.
func orNaN(v float64, ok bool) float64 {
	if !ok {
		return math.NaN()
	}
	return v
}

func contingency(t *testing.T, e example) map[string]any {
	var in struct{ TP, FN, FP, TN int }
	read(t, e, &in)
	c := stat.Counts{TruePos: in.TP, FalseNeg: in.FN, FalsePos: in.FP, TrueNeg: in.TN}
	return map[string]any{
		"recall": orNaN(c.Recall()), "specificity": orNaN(c.Specificity()), "balanced_accuracy": orNaN(c.BalancedAccuracy()),
		"precision": orNaN(c.Precision()), "f1": orNaN(c.F1()), "mcc": orNaN(c.MCC()),
	}
}

func binomialInterval(t *testing.T, e example) map[string]any {
	var in struct{ X, N, Conf float64 }
	read(t, e, &in)
	side := (1 - in.Conf) / 2
	return map[string]any{
		"wilson":          pair(wilson(in.X, in.N, side)),
		"clopper_pearson": pair(clopperPearson(in.X, in.N, side)),
		"jeffreys":        pair(jeffreys(in.X, in.N, side)),
	}
}

// table is counts of a vector: an entry for each query on each session. Without names every
// entry is a query on a session of its own.
type table struct {
	X, N, K, Missing    []float64
	Query, Session, Tag []string
	Unit                stat.Unit
}

func (c table) cells() []stat.Cell {
	list := make([]stat.Cell, len(c.N))
	for i := range list {
		list[i] = stat.Cell{Query: c.name(c.Query, i), Session: c.name(c.Session, i), N: c.N[i]}
		for _, f := range []struct {
			into *float64
			from []float64
		}{{&list[i].X, c.X}, {&list[i].K, c.K}, {&list[i].Missing, c.Missing}} {
			if f.from != nil {
				*f.into = f.from[i]
			}
		}
	}
	return list
}

func (c table) name(names []string, i int) string {
	if names == nil {
		return strconv.Itoa(i)
	}
	return names[i]
}

func pccpInterval(t *testing.T, e example) map[string]any {
	var in table
	read(t, e, &in)
	p := cluster.Pool(in.cells(), in.Unit)
	q, s, cell := p.Sizes()
	return map[string]any{
		"point": p.Rate(), "G": p.Units(), "units": p.Units(), "queries": p.Queries(), "sessions": p.Sessions(),
		"n": p.N, "m": q, "m_q": q, "m_s": s, "m_qs": cell, "k": p.Repeats(), "d0": p.D0(), "C": p.Variance(), "cr1_se": p.SE(),
		"two_sided_95":       pair(p.Lower(0.025), p.Upper(0.025)),
		"lower_95_one_sided": p.Lower(0.05), "upper_95_one_sided": p.Upper(0.05),
	}
}

func clusterT(t *testing.T, e example) map[string]any {
	var in table
	read(t, e, &in)
	p := cluster.Pool(in.cells(), in.Unit)
	return map[string]any{
		"point": p.Rate(), "cr1_se": p.SE(), "t_975": distuv.StudentsT{Sigma: 1, Nu: float64(p.Queries() - 1)}.Quantile(0.975),
		"mean_t": pair(meanT(p, 0.025)), "logit_t": pair(logitT(p, 0.025)),
	}
}

func signFlip(t *testing.T, e example) map[string]any {
	var in struct{ D []float64 }
	read(t, e, &in)
	f := cluster.FlipSigns(in.D, 0)
	return map[string]any{"mean": cluster.Average(in.D), "p_two_sided": f.P, "p_two_sided_dec": f.P, "p_one_sided_greater": f.Greater}
}

func mcNemar(t *testing.T, e example) map[string]any {
	var in struct{ B, C int }
	read(t, e, &in)
	exact, mid := cluster.McNemar(in.B, in.C)
	return map[string]any{"exact": exact, "exact_dec": exact, "mid_p_dec": mid}
}

func holm(t *testing.T, e example) map[string]any {
	var in struct{ P []float64 }
	read(t, e, &in)
	var adjusted []any
	for _, p := range cluster.Holm(in.P) {
		adjusted = append(adjusted, p)
	}
	return map[string]any{"adjusted": adjusted}
}

func mover(t *testing.T, e example) map[string]any {
	var in struct {
		K       []float64
		RecallX []float64 `json:"recall_x"`
		RecallN []float64 `json:"recall_n"`
		SpecX   []float64 `json:"spec_x"`
		SpecN   []float64 `json:"spec_n"`
		Query   []string
		Session []string
		Unit    stat.Unit
	}
	read(t, e, &in)
	recall := table{X: in.RecallX, N: in.RecallN, K: in.K, Query: in.Query, Session: in.Session}
	specificity := table{X: in.SpecX, N: in.SpecN, K: in.K, Query: in.Query, Session: in.Session}
	s := stat.Collect(gateRuns(recall, specificity))
	out := map[string]any{
		"resid_corr_clipped": cluster.ResidualCorrelation(cluster.NewRate(recall.cells()), cluster.NewRate(specificity.cells()), in.Unit),
		"prevalence":         sum(in.RecallN) / (sum(in.RecallN) + sum(in.SpecN)),
	}
	for _, name := range []string{"balanced_accuracy", "precision", "f1", "mcc"} {
		m := measure(t, s, name, in.Unit)
		out[name] = map[string]any{"point": m.Value, "two_sided_95": []any{m.Lower, m.Upper}}
	}
	return out
}

func sum(v []float64) (total float64) {
	for _, x := range v {
		total += x
	}
	return total
}

// gateRuns are runs with so many yes on so many evidence turns, and no on evidence-free
// ones: of a cell in K runs, the first has the turns and the others none.
func gateRuns(recall, specificity table) (runs []stat.Run) {
	for i, c := range recall.cells() {
		free := specificity.cells()[i]
		r := stat.Run{Query: c.Query, Corpus: c.Session}
		for j := range int(c.N) {
			yes := j < int(c.X)
			r.Turns = append(r.Turns, stat.Turn{Evidence: true, Parsed: true, FirstTry: true, Update: yes, Written: yes})
		}
		for j := range int(free.N) {
			yes := j >= int(free.X)
			r.Turns = append(r.Turns, stat.Turn{Parsed: true, FirstTry: true, Update: yes, Written: yes})
		}
		runs = append(runs, r)
		for trial := 1; trial < int(c.K); trial++ {
			runs = append(runs, stat.Run{Query: c.Query, Corpus: c.Session, Trial: trial})
		}
	}
	return runs
}

func measure(t *testing.T, s *stat.Sample, name string, unit stat.Unit) stat.Estimate {
	t.Helper()
	e, err := s.MeasureOne(name, unit)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// verdict is that of counts, of both kinds of vectors.
func verdict(t *testing.T, e example) map[string]any {
	var in struct {
		Criteria []struct {
			table
			Name, By  string
			Threshold float64
			Floor     *float64
		}
		Candidates       int
		Looks            []int
		LookBefore       int     `json:"look_before"`
		MissingShare     float64 `json:"missing_share"`
		RetainViolations int     `json:"retain_violations"`
		Unplanned        bool
	}
	read(t, e, &in)
	const turns = 1_000_000
	integrity := decide.Integrity{Changed: in.RetainViolations}
	integrity.Coverage = stat.Coverage{Turns: turns, Missing: int(math.Round(turns * in.MissingShare))}
	rule := decide.Rule{Unit: in.Criteria[0].Unit, Candidates: in.Candidates, Looks: in.Looks}
	if in.LookBefore > 0 {
		rule.Made = []decide.Made{{Look: in.LookBefore, Units: in.Looks[in.LookBefore-1]}}
	}
	if in.Unplanned {
		rule.Made = []decide.Made{{Units: 1}}
	}
	var list []decide.Counted
	for _, c := range in.Criteria {
		groups := map[string]string{}
		for i, tag := range c.Tag {
			groups[c.name(c.Query, i)] = tag
		}
		criterion := decide.Criterion{Metric: c.Name, Threshold: c.Threshold, By: c.By, Floor: c.Floor}
		list = append(list, decide.Counted{Criterion: criterion, Cells: c.cells(), Groups: groups})
	}
	d, err := decide.DecideCounted(list, rule, integrity)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]any{"verdict": d.Verdict, "alpha_go": d.Criteria[0].LowerAlpha, "alpha_no_go": d.Criteria[0].UpperAlpha}
	var bounds, judged []any
	for _, j := range d.Criteria {
		bounds = append(bounds, map[string]any{"name": j.Metric, "lower_95": j.Lower, "upper_1_minus_05_over_m": j.Upper, "verdict": j.Verdict})
		judged = append(judged, map[string]any{
			"name": j.Metric, "group": j.Group, "units": j.Units, "lower": j.Lower, "upper": j.Upper, "verdict": j.Verdict,
		})
	}
	out["bounds"], out["judged"] = bounds, judged
	if v, err := decide.VerdictOf(list, rule); err != nil || d.Verdict != decide.Invalid && v != d.Verdict {
		t.Errorf("VerdictOf is %s (%v), want %s", v, err, d.Verdict)
	}
	return out
}

func boundedMean(t *testing.T, e example) map[string]any {
	var in struct {
		Low, High, K   float64
		Values         [][]float64
		Query, Session []string
		Unit           stat.Unit
	}
	read(t, e, &in)
	c := table{Query: in.Query, Session: in.Session}
	for _, values := range in.Values {
		x := 0.0
		for _, v := range values {
			x += (v - in.Low) / (in.High - in.Low)
		}
		c.X, c.N, c.K = append(c.X, x), append(c.N, float64(len(values))), append(c.K, in.K)
	}
	p := cluster.Pool(c.cells(), in.Unit)
	scaled := func(share float64) float64 { return in.Low + share*(in.High-in.Low) }
	return map[string]any{
		"d0": p.D0(), "point": scaled(p.Rate()), "rescaled_point": p.Rate(),
		"lower_95_one_sided": scaled(p.Lower(0.05)), "upper_95_one_sided": scaled(p.Upper(0.05)),
		"two_sided_95": pair(scaled(p.Lower(0.025)), scaled(p.Upper(0.025))),
	}
}

func pairedDifference(t *testing.T, e example) map[string]any {
	var in struct {
		table
		AX           []float64 `json:"a_x"`
		BX           []float64 `json:"b_x"`
		Gained, Lost []float64
		Margin       float64
	}
	read(t, e, &in)
	var cells []cluster.PairedCell
	for i, c := range in.cells() {
		cells = append(cells, cluster.PairedCell{
			Query: c.Query, Session: c.Session, N: c.N, K: c.K, A: in.AX[i], B: in.BX[i], Gained: in.Gained[i], Lost: in.Lost[i],
		})
	}
	d := cluster.Compare(cells, in.Unit)
	lower, upper := d.Bounds(0.05)
	return map[string]any{
		"a": d.A, "b": d.B, "difference": d.Value(), "two_sided_95": pair(d.Bounds(0.025)), "lower_95_one_sided": lower,
		"upper_95_one_sided": upper, "p": d.P(), "se": d.SE(), "mdd": d.Detectable(), "margin_verdict": d.Margin(in.Margin),
	}
}

func alphaSpending(t *testing.T, e example) map[string]any {
	var in struct {
		Candidates, Claims, Look int
		LookBefore               int `json:"look_before"`
		Looks                    []int
	}
	read(t, e, &in)
	alpha := decide.SpendAlpha(in.Looks, in.Look, in.LookBefore)
	return map[string]any{"alpha": alpha, "alpha_go": alpha / float64(in.Candidates), "alpha_no_go": alpha / float64(in.Claims)}
}

func assurance(t *testing.T, e example) map[string]any {
	var in struct {
		table
		Threshold, Alpha float64
	}
	read(t, e, &in)
	f := cluster.Forecast{Seen: cluster.Pool(in.cells(), in.Unit), Threshold: in.Threshold, Alpha: in.Alpha}
	total := func(units int, ok bool) float64 { return orNaN(float64(units), ok) }
	chances := map[string]any{}
	for units := range e.Expected["chance_with"].(map[string]any) {
		n, err := strconv.Atoi(units)
		if err != nil {
			t.Fatal(err)
		}
		chances[units] = f.Chance(n)
	}
	return map[string]any{
		"ceiling": f.AtBest(), "chance_with": chances, "if_rate_holds_total": total(f.IfRateHolds()), "with_80_percent_total": total(f.WithChance()),
	}
}

func labelNoise(t *testing.T, e example) map[string]any {
	var in struct {
		Metric           string
		Threshold, Alpha float64
		Queries          [][]struct {
			Evidence bool
			Yes, End []int
		}
	}
	read(t, e, &in)
	if in.Alpha != 0.05 {
		t.Fatalf("alpha %v: a decision has 0.05", in.Alpha)
	}
	var s stat.Sample
	for q, chunks := range in.Queries {
		for trial := range chunks[0].Yes {
			r := stat.Run{Query: fmt.Sprint("q", q), Corpus: fmt.Sprint("s", q), Trial: trial}
			for _, c := range chunks {
				yes := c.Yes[trial] == 1
				r.Turns = append(r.Turns, stat.Turn{
					Evidence: c.Evidence, Parsed: true, FirstTry: true, Update: yes, Written: yes, Exit: c.End[trial] == 1,
				})
			}
			s.Add(r)
		}
	}
	d, err := decide.Decide(&s, decide.Rule{Criteria: []decide.Criterion{{Metric: in.Metric, Threshold: in.Threshold}}})
	if err != nil {
		t.Fatal(err)
	}
	j := d.Criteria[0]
	out := map[string]any{"verdict": d.Verdict, "lower": j.Lower, "upper": j.Upper, "n": j.Estimate.N, "x": j.Estimate.X, "flips": math.NaN()}
	if d.Labels != nil && !d.Labels.More {
		out["flips"] = d.Labels.Flips
	}
	return out
}

func exitRun(t *testing.T, e example) map[string]any {
	var in struct {
		T    int
		Star int `json:"t_star"`
		X    int `json:"t_x"`
	}
	read(t, e, &in)
	r := stat.Run{Query: "q", Corpus: "c", Turns: make([]stat.Turn, in.T)}
	for i := range r.Turns {
		r.Turns[i] = stat.Turn{Parsed: true, FirstTry: true, Evidence: i+1 == in.Star, Exit: i+1 == in.X}
	}
	s := stat.Collect([]stat.Run{r})
	out := map[string]any{}
	for name := range e.Expected {
		out[name] = measure(t, s, name, stat.Auto).Value
	}
	return out
}
