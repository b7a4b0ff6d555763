package stat_test

import (
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/poimen-memory/mem/harness/stat"
)

var (
	hit    = stat.Turn{Evidence: true, Parsed: true, FirstTry: true, Update: true, Written: true}
	miss   = stat.Turn{Evidence: true, Parsed: true, FirstTry: true}
	noise  = stat.Turn{Parsed: true, Update: true, OverBudget: true}
	quiet  = stat.Turn{Parsed: true, FirstTry: true}
	failed = stat.Turn{}
	lost   = stat.Turn{Evidence: true}
)

func exit(t stat.Turn) stat.Turn { t.Exit = true; return t }

func TestCount(t *testing.T) {
	got := stat.Count(stat.Run{
		Turns:        []stat.Turn{hit, miss, noise, quiet, failed, lost, exit(quiet), exit(hit)},
		LastEvidence: 8, MemoryTokens: 40,
	})
	want := stat.Counts{
		Runs: 1, Turns: 8, FirstTry: 5, TruePos: 2, FalseNeg: 1, FalsePos: 1, TrueNeg: 2, FailedPos: 1, FailedNeg: 1,
		OverBudget: 1, ChunksUsed: 2, MemoryTokens: 40, ExitEarly: 1,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("counts (-want +got):\n%s", diff)
	}
	if got.ParseFailed() != 2 {
		t.Errorf("parse failed is %d, want 2", got.ParseFailed())
	}
}

func TestExitAgainstLastEvidence(t *testing.T) {
	for name, test := range map[string]struct {
		turns []stat.Turn
		last  int
		want  stat.Counts
	}{
		"early":                     {[]stat.Turn{exit(quiet), hit, exit(quiet)}, 2, stat.Counts{ExitEarly: 1}},
		"early, evidence unreached": {[]stat.Turn{exit(quiet)}, 2, stat.Counts{ExitEarly: 1}},
		"on time":                   {[]stat.Turn{quiet, exit(hit)}, 2, stat.Counts{ExitOnTime: 1}},
		"late":                      {[]stat.Turn{quiet, hit, exit(quiet)}, 2, stat.Counts{ExitLate: 1}},
		"never":                     {[]stat.Turn{quiet, hit}, 2, stat.Counts{ExitNever: 1}},
		"no evidence":               {[]stat.Turn{quiet, quiet}, 0, stat.Counts{NoEvidence: 1}},
		"no evidence, exit":         {[]stat.Turn{quiet, exit(quiet)}, 0, stat.Counts{NoEvidence: 1, ExitNoEvidence: 1}},
	} {
		c := stat.Count(stat.Run{Turns: test.turns, LastEvidence: test.last})
		got := stat.Counts{
			ExitEarly: c.ExitEarly, ExitOnTime: c.ExitOnTime, ExitLate: c.ExitLate, ExitNever: c.ExitNever,
			NoEvidence: c.NoEvidence, ExitNoEvidence: c.ExitNoEvidence,
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// TestAddCoversEveryField fails when a field is added to Counts and not to its sum.
func TestAddCoversEveryField(t *testing.T) {
	var a stat.Counts
	v := reflect.ValueOf(&a).Elem()
	for i := range v.NumField() {
		v.Field(i).SetInt(int64(i + 1))
	}
	sum := reflect.ValueOf(a.Add(a))
	for i := range sum.NumField() {
		if got, want := sum.Field(i).Int(), int64(2*(i+1)); got != want {
			t.Errorf("%s is %d, want %d", sum.Type().Field(i).Name, got, want)
		}
	}
}

func TestUndefinedRates(t *testing.T) {
	for name, c := range map[string]stat.Counts{
		"no evidence":   {FalsePos: 1, TrueNeg: 1},
		"only evidence": {TruePos: 1, FalseNeg: 1},
		"only failures": {FailedPos: 1, FailedNeg: 1},
	} {
		if _, ok := c.BalancedAccuracy(); ok {
			t.Errorf("%s: balanced accuracy is defined", name)
		}
	}
	got, ok := stat.Counts{TruePos: 9, FalseNeg: 1, TrueNeg: 3, FalsePos: 1, FailedNeg: 5}.BalancedAccuracy()
	if !ok || got != (0.9+0.75)/2 {
		t.Errorf("balanced accuracy is %v, %v", got, ok)
	}
}
