package render_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/poimen-memory/mem/harness/check"
	"github.com/poimen-memory/mem/harness/render"
	"github.com/poimen-memory/mem/harness/render/internal/rendertest"
	"github.com/poimen-memory/mem/harness/result"
)

func shown(t *testing.T, term render.Terminal, r *result.Result) string {
	t.Helper()
	var b bytes.Buffer
	if err := term.Result(&b, r); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// tableRows are the fields of each row of each table under a heading, one list a table;
// folded parts follow one another.
func tableRows(text, heading string) (tables [][][]string) {
	_, text, _ = strings.Cut("\n"+text, "\n"+heading)
	in := false
	for _, line := range strings.Split(text, "\n") {
		switch {
		case rule.MatchString(line):
			tables, in = append(tables, nil), true
		case in && (line == "" || strings.HasPrefix(line, "  ")):
			in = false
		case in:
			last := &tables[len(tables)-1]
			*last = append(*last, strings.Fields(line))
		case len(tables) > 0 && line != "" && !strings.HasPrefix(line, "  ") && !strings.HasPrefix(line, "model"):
			return tables // the next section
		}
	}
	return tables
}

// numbers are those of a gate row in the order of the table, taken from the counts again.
func numbers(row result.GateRow) []string {
	c := row.Counts
	ints := func(list ...int) (texts []string) {
		for _, n := range list {
			texts = append(texts, strconv.Itoa(n))
		}
		return texts
	}
	accuracy := "–"
	if c.TruePos+c.FalseNeg > 0 && c.TrueNeg+c.FalsePos > 0 {
		recall := float64(c.TruePos) / float64(c.TruePos+c.FalseNeg)
		accuracy = fmt.Sprintf("%.2f", (recall+float64(c.TrueNeg)/float64(c.TrueNeg+c.FalsePos))/2)
	}
	list := ints(c.Turns, c.FirstTry, c.FailedPos+c.FailedNeg, c.TruePos, c.FalseNeg, c.TrueNeg, c.FalsePos)
	list = append(list, accuracy)
	list = append(list, ints(c.ExitEarly, c.ExitOnTime, c.ExitLate, c.ExitNever, c.ChunksUsed, c.OverBudget)...)
	return append(list, ints(int(math.Round(float64(c.MemoryTokens)/float64(c.Runs))))...)
}

// Every number of the gate table equals the result's, whatever the width folds it to.
func TestGateNumbers(t *testing.T) {
	r := broken()
	distinct(r)
	for _, width := range []int{0, 40, 60, 80, 100, 140} {
		parts := tableRows(shown(t, render.Terminal{Width: width, Detail: render.Verbose}, r), "Gate counts")
		for i, want := range r.Gates {
			var got []string
			for _, part := range parts {
				const keys = 3 // model, level, exit
				got = append(got, part[i][keys:]...)
				if key := part[i][1] + " " + part[i][2]; key != want.Level.String()+" "+want.ExitGate {
					t.Errorf("width %d, row %d is of %s", width, i, key)
				}
			}
			if diff := cmp.Diff(numbers(want), got); diff != "" {
				t.Errorf("width %d, row %d (-want +got):\n%s", width, i, diff)
			}
		}
	}
}

// distinct makes all counts of a row different, so that two columns changed for one
// another are seen.
func distinct(r *result.Result) {
	for i := range r.Gates {
		c := &r.Gates[i].Counts
		for j, field := range []*int{
			&c.Turns, &c.FirstTry, &c.TruePos, &c.FalseNeg, &c.FalsePos, &c.TrueNeg, &c.FailedPos, &c.FailedNeg,
			&c.OverBudget, &c.ChunksUsed, &c.ExitEarly, &c.ExitOnTime, &c.ExitLate, &c.ExitNever,
		} {
			*field = 17*i + j*j
		}
	}
}

func TestGateTableFits100(t *testing.T) {
	r := broken()
	r.Gates = r.Gates[:12] // without the model of a long name
	if parts := tableRows(shown(t, render.Terminal{Width: 100, Detail: render.Verbose}, r), "Gate counts"); len(parts) != 1 {
		t.Errorf("the table is in %d parts", len(parts))
	}
}

func TestCheckNumbers(t *testing.T) {
	r := broken()
	count := func(kind string, s check.Status) string {
		n := 0
		for _, c := range r.Checks {
			if c.Check == kind && c.Status == s {
				n++
			}
		}
		return strconv.Itoa(n)
	}
	rows := tableRows(shown(t, render.Terminal{Detail: render.Verbose}, r), "Checks")[0]
	if len(rows) != 5 {
		t.Fatalf("%d kinds of checks: %v", len(rows), rows)
	}
	for _, row := range rows {
		want := []string{row[0], count(row[0], check.Pass), count(row[0], check.Fail), count(row[0], check.Skip)}
		if diff := cmp.Diff(want, row[:4]); diff != "" {
			t.Errorf("%s (-want +got):\n%s", row[0], diff)
		}
	}
}

func TestSentence(t *testing.T) {
	failed := rendertest.Passed()
	failed.Experiment = "second"
	failed.Checks[3].Status = check.Fail
	empty := &result.Result{Experiment: "third"}
	skipped := rendertest.Passed()
	skipped.Checks[3].Status = check.Skip
	for want, rs := range map[string][]*result.Result{
		"✓ first: passed — 4 checks passed, 1 run, 3 turns\n":                                                           {rendertest.Passed()},
		"✗ second: FAILED — 1 of 4 checks failed, 1 run, 3 turns\n":                                                     {failed},
		"✗ third: NOT JUDGED — no check judged, no run complete\n":                                                      {empty},
		"✓ first: passed — 3 checks passed, 1 skipped, 1 run, 3 turns\n":                                                {skipped},
		"✗ 2 experiments: FAILED — 1 not passed (second), 1 of 8 checks failed, 2 runs, 6 turns\n":                      {rendertest.Passed(), failed},
		"✓ 2 experiments: passed — 8 checks passed, 2 runs, 6 turns\n":                                                  {rendertest.Passed(), rendertest.Passed()},
		"✗ 0 experiments: NOT JUDGED — no check judged, no run complete\n":                                              {},
		"✗ 4 experiments: FAILED — 4 not passed (second, second, second, …), 4 of 16 checks failed, 4 runs, 12 turns\n": {failed, failed, failed, failed},
	} {
		var b bytes.Buffer
		if err := (render.Terminal{}).Total(&b, rs); err != nil {
			t.Fatal(err)
		}
		if b.String() != want {
			t.Errorf("found %s want %s", b.String(), want)
		}
		if len(rs) == 1 {
			text := shown(t, render.Terminal{Detail: render.Verbose}, rs[0])
			if !strings.HasSuffix("\n\n"+text, "\n\n"+want) {
				t.Errorf("the sentence is not last:\n%s", text)
			}
		}
	}
}

func TestQuiet(t *testing.T) {
	if got, want := shown(t, render.Terminal{Detail: render.Quiet}, rendertest.Passed()), "✓ first: passed — 4 checks passed, 1 run, 3 turns\n"; got != want {
		t.Errorf("found %q, want %q", got, want)
	}
	text := shown(t, render.Terminal{Detail: render.Quiet}, broken())
	for _, want := range []string{"✗ golden: ", "✗ retain: ", "✗ expect: ", "connection refused"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing", want)
		}
	}
	for _, other := range []string{"Gate counts", "Warnings", "skipped: "} {
		if strings.Contains(text, other) {
			t.Errorf("found %q", other)
		}
	}
}

// Colour adds escape sequences and nothing else; a hostile text adds none.
func TestColour(t *testing.T) {
	sequence := regexp.MustCompile("\x1b\\[[0-9]+m")
	for _, r := range []*result.Result{rendertest.Passed(), broken(), hostile()} {
		plain := shown(t, render.Terminal{Width: 80, Detail: render.Verbose}, r)
		colour := shown(t, render.Terminal{Width: 80, Colour: true, Detail: render.Verbose}, r)
		if !strings.Contains(colour, "\x1b[") {
			t.Errorf("%s: no colour", r.Experiment)
		}
		if diff := cmp.Diff(plain, sequence.ReplaceAllString(colour, "")); diff != "" {
			t.Errorf("%s (-plain +colour):\n%s", r.Experiment, diff)
		}
	}
}

// What is not shown of very many failures and very long diffs is counted.
func TestManyFailures(t *testing.T) {
	r := rendertest.Passed()
	for i := range 60 {
		r.Checks = append(r.Checks, check.Result{Check: "retain", Subject: strconv.Itoa(i), Status: check.Fail, Diff: strings.Repeat("x\n", 50)})
	}
	text := shown(t, render.Terminal{Detail: render.Verbose}, r)
	for want, times := range map[string]int{"✗ retain: ": 50, "✗ 10 more failures in summary.json": 1, "… 10 more lines in summary.json": 50} {
		if got := strings.Count(text, want); got != times {
			t.Errorf("%q is there %d times, want %d", want, got, times)
		}
	}
}

func TestJSONRoundTrip(t *testing.T) {
	for _, r := range []*result.Result{rendertest.Passed(), broken()} {
		var b bytes.Buffer
		if err := render.JSON(&b, r); err != nil {
			t.Fatal(err)
		}
		var back result.Result
		if err := json.Unmarshal(b.Bytes(), &back); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(r, &back, cmpopts.IgnoreFields(check.Result{}, "Pos")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", r.Experiment, diff)
		}
	}
}

func TestJSONListsAreNeverNull(t *testing.T) {
	var b bytes.Buffer
	r := &result.Result{}
	if err := render.JSON(&b, r); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(b.String(), "null") || !strings.HasSuffix(b.String(), "}\n") {
		t.Errorf("found %s", b.String())
	}
	if r.Checks != nil {
		t.Error("the result was changed")
	}
}

type full struct{}

var errFull = errors.New("no space left")

func (full) Write([]byte) (int, error) { return 0, errFull }

func TestWriteErrors(t *testing.T) {
	r := broken()
	term := render.Terminal{Detail: render.Verbose}
	for name, err := range map[string]error{
		"Result": term.Result(full{}, r), "Total": term.Total(full{}, nil), "Plan": render.Plan(full{}, term, "x", "o200k_base", slices.Values(planned())), "Totals": render.Totals(full{}, term, "x", slices.Values(planned())),
		"Budget": render.Budget(full{}, term, tables(r.Budgets)), "Tokens": term.Tokens(full{}, "x", tokens()), "JSON": render.JSON(full{}, r),
		"Markdown": render.Markdown(full{}, r), "JUnit": render.JUnit(full{}, []*result.Result{r}),
		"Annotations": render.Annotations(full{}, []*result.Result{r}),
	} {
		if !errors.Is(err, errFull) {
			t.Errorf("%s returns %v", name, err)
		}
	}
}
