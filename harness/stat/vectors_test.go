package stat_test

import (
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"os"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/poimen-memory/mem/harness/stat"
)

// vectors are worked examples that independent code (mpmath, exact rationals) computed.
type vectors struct {
	Tolerance float64
	Vectors   []struct {
		ID, Kind   string
		Cases      []example
		Projection []example
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
	raw, err := os.ReadFile("testdata/stat-vectors.json")
	if err != nil {
		t.Fatal(err)
	}
	var v vectors
	if err := json.Unmarshal(raw, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

// kinds compute every number that a vector of a kind expects.
func kinds() map[string]func(*testing.T, example) map[string]any {
	return map[string]func(*testing.T, example) map[string]any{
		"contingency":       contingency,
		"binomial_interval": binomialInterval,
		"pccp_interval":     pccpInterval,
		"cluster_t":         clusterT,
		"mover":             mover,
		"sign_flip":         signFlip,
		"mcnemar":           mcNemar,
		"trace_metrics":     traceMetrics,
		"consistency":       consistency,
		"verdict":           verdict,
		"projection":        projection,
	}
}

func TestVectors(t *testing.T) {
	v := readVectors(t)
	run := func(id, kind string, i int, e example) {
		compute, ok := kinds()[kind]
		if !ok {
			t.Errorf("%s: vector of kind %q, which nothing here computes", id, kind)
			return
		}
		t.Run(fmt.Sprintf("%s/%d", id, i), func(t *testing.T) {
			match(t, "", e.Expected, compute(t, e), v.Tolerance)
		})
	}
	for _, group := range v.Vectors {
		for i, e := range group.Cases {
			kind := group.Kind
			if e.Kind != "" {
				kind = e.Kind
			}
			run(group.ID, kind, i, e)
		}
		for i, e := range group.Projection {
			run(group.ID, "projection", i, e)
		}
	}
}

// match wants every expected number, and nothing else, within tolerance.
func match(t *testing.T, path string, want, got any, tolerance float64) {
	t.Helper()
	switch want := want.(type) {
	case map[string]any:
		got, _ := got.(map[string]any)
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

// clusters are counts of a vector, query by query.
type clusters struct{ X, N, K []float64 }

func (c clusters) list() []stat.Cluster { return zip(c.X, c.N, c.K) }

func zip(x, n, k []float64) []stat.Cluster {
	list := make([]stat.Cluster, len(x))
	for i := range x {
		list[i] = stat.Cluster{X: x[i], N: n[i]}
		if k != nil {
			list[i].K = k[i]
		}
	}
	return list
}

func pccpInterval(t *testing.T, e example) map[string]any {
	var in clusters
	read(t, e, &in)
	p := stat.Pool(in.list())
	return map[string]any{
		"point": p.Rate(), "G": p.Queries, "n": p.N, "m": p.M, "k": p.K, "d0": p.D0, "cr1_se": p.SE(),
		"two_sided_95":       pair(p.Lower(0.025), p.Upper(0.025)),
		"lower_95_one_sided": p.Lower(0.05), "upper_95_one_sided": p.Upper(0.05),
	}
}

func clusterT(t *testing.T, e example) map[string]any {
	var in clusters
	read(t, e, &in)
	p := stat.Pool(in.list())
	return map[string]any{
		"point": p.Rate(), "cr1_se": p.SE(), "t_975": distuv.StudentsT{Sigma: 1, Nu: float64(p.Queries - 1)}.Quantile(0.975),
		"mean_t": pair(meanT(p, 0.025)), "logit_t": pair(logitT(p, 0.025)),
	}
}

func signFlip(t *testing.T, e example) map[string]any {
	var in struct{ D []float64 }
	read(t, e, &in)
	f := stat.FlipSigns(in.D, 0.05, stat.Flips{})
	return map[string]any{"mean": f.Mean, "p_two_sided": f.P, "p_two_sided_dec": f.P, "p_one_sided_greater": f.Greater}
}

func mcNemar(t *testing.T, e example) map[string]any {
	var in struct{ B, C int }
	read(t, e, &in)
	exact, mid := stat.McNemar(in.B, in.C)
	return map[string]any{"exact": exact, "exact_dec": exact, "mid_p_dec": mid}
}

func mover(t *testing.T, e example) map[string]any {
	var in struct {
		RecallX []float64 `json:"recall_x"`
		RecallN []float64 `json:"recall_n"`
		SpecX   []float64 `json:"spec_x"`
		SpecN   []float64 `json:"spec_n"`
	}
	read(t, e, &in)
	runs := gateRuns(in.RecallX, in.RecallN, in.SpecX, in.SpecN)
	out := map[string]any{
		"resid_corr_clipped": stat.ResidualCorrelation(zip(in.RecallX, in.RecallN, nil), zip(in.SpecX, in.SpecN, nil)),
		"prevalence":         sum(in.RecallN) / (sum(in.RecallN) + sum(in.SpecN)),
	}
	for _, name := range []string{"balanced_accuracy", "precision", "f1", "mcc"} {
		m := measure(t, runs, name)
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

// gateRuns are runs, one per query, with so many yes on so many evidence turns, and no on
// evidence-free ones.
func gateRuns(recallX, recallN, specX, specN []float64) []stat.Run {
	var runs []stat.Run
	for q := range recallX {
		r := stat.Run{Query: fmt.Sprint("q", q), LastEvidence: 1}
		for i := range int(recallN[q]) {
			yes := i < int(recallX[q])
			r.Turns = append(r.Turns, stat.Turn{Evidence: true, Parsed: true, FirstTry: true, Update: yes, Written: yes})
		}
		for i := range int(specN[q]) {
			yes := i >= int(specX[q])
			r.Turns = append(r.Turns, stat.Turn{Parsed: true, FirstTry: true, Update: yes, Written: yes})
		}
		runs = append(runs, r)
	}
	return runs
}

func measure(t *testing.T, runs []stat.Run, name string) stat.Estimate {
	t.Helper()
	e, err := stat.MeasureOne(name, runs)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func verdict(t *testing.T, e example) map[string]any {
	var in struct {
		Criteria []struct {
			Name string
			clusters
			Threshold float64
		}
		RetainViolations int `json:"retain_violations"`
	}
	read(t, e, &in)
	var criteria []stat.Criterion
	var counts [][]stat.Cluster
	for _, c := range in.Criteria {
		criteria = append(criteria, stat.Criterion{Metric: c.Name, Threshold: c.Threshold})
		counts = append(counts, c.list())
	}
	d, err := stat.DecideClusters(criteria, counts, stat.Integrity{Changed: in.RetainViolations})
	if err != nil {
		t.Fatal(err)
	}
	var bounds []any
	for _, j := range d.Criteria {
		bounds = append(bounds, map[string]any{"name": j.Metric, "lower_95": j.Lower, "upper_1_minus_05_over_m": j.Upper})
	}
	return map[string]any{"bounds": bounds, "verdict": d.Verdict}
}

func projection(t *testing.T, e example) map[string]any {
	var in struct {
		clusters
		Threshold, Alpha float64
		ZPow             float64 `json:"zpow,string"`
	}
	read(t, e, &in)
	total, ok := stat.Pool(in.list()).Project(in.Threshold, in.Alpha, in.ZPow)
	return map[string]any{"total_queries_needed": orNaN(float64(total), ok)}
}
