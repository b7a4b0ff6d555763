package render_test

import (
	"bytes"
	"flag"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/poimen-memory/mem/harness"
	"github.com/poimen-memory/mem/harness/render"
)

var update = flag.Bool("update", false, "write the golden files under testdata: go test ./harness/render -update")

// TestGolden holds all that is rendered against testdata. After a deliberate change run it
// with -update, and read the diff.
func TestGolden(t *testing.T) {
	result := func(t render.Terminal, r *harness.Result) func(io.Writer) error {
		return func(w io.Writer) error { return t.Result(w, r) }
	}
	both := []*harness.Result{passed(), broken()}
	for name, write := range map[string]func(io.Writer) error{
		"passed.txt":        result(render.Terminal{Width: 100}, passed()),
		"broken.txt":        result(render.Terminal{}, broken()),
		"broken-140.txt":    result(render.Terminal{Width: 140}, broken()),
		"broken-100.txt":    result(render.Terminal{Width: 100}, broken()),
		"broken-80.txt":     result(render.Terminal{Width: 80}, broken()),
		"broken-60.txt":     result(render.Terminal{Width: 60}, broken()),
		"quiet.txt":         result(render.Terminal{Width: 100, Quiet: true}, broken()),
		"hostile.txt":       result(render.Terminal{Width: 100}, hostile()),
		"usage.txt":         result(render.Terminal{Width: 80}, metered()),
		"usage-wide.txt":    result(render.Terminal{}, metered()),
		"usage.md":          func(w io.Writer) error { return render.Markdown(w, metered()) },
		"service.txt":       func(w io.Writer) error { return render.Terminal{Width: 80}.Service(w, services()) },
		"total.txt":         func(w io.Writer) error { return render.Terminal{Width: 100}.Total(w, both) },
		"plan.txt":          func(w io.Writer) error { return render.Terminal{Width: 60}.Plan(w, "hotpotqa", "o200k_base", plan()) },
		"plan-totals.txt":   func(w io.Writer) error { return render.Terminal{Width: 80}.Totals(w, "By model", plan()) },
		"plan-unpriced.txt": func(w io.Writer) error { return render.Terminal{}.Totals(w, "By model", plan()[:1]) },
		"budget.txt": func(w io.Writer) error {
			return render.Terminal{Width: 80}.Budget(w, forecasts())
		},
		"tokens.txt": func(w io.Writer) error {
			return render.Terminal{}.Tokens(w, "prompt of turn 1, tokens of o200k_base", tokens())
		},
		"passed.json":     func(w io.Writer) error { return render.JSON(w, passed()) },
		"passed.md":       func(w io.Writer) error { return render.Markdown(w, passed()) },
		"both.md":         func(w io.Writer) error { return render.Markdown(w, both...) },
		"hostile.md":      func(w io.Writer) error { return render.Markdown(w, hostile()) },
		"junit.xml":       func(w io.Writer) error { return render.JUnit(w, both) },
		"annotations.txt": func(w io.Writer) error { return render.Annotations(w, both) },
	} {
		t.Run(name, func(t *testing.T) {
			var got bytes.Buffer
			if err := write(&got); err != nil {
				t.Fatal(err)
			}
			golden(t, filepath.Join("testdata", name), got.Bytes())
		})
	}
}

func golden(t *testing.T, file string, got []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, got, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s (-want +got):\n%s", file, diff)
	}
}

func plan() (rows []harness.Planned) {
	for i, run := range broken().Runs[:3] {
		run.Model = []string{"oracle", "live", "live"}[i]
		e := harness.Estimate{Runs: 1, Calls: 10, Bound: i == 1, Prompt: 61000 + i, Completion: 20480, USD: float64(i) / 80}
		if i == 0 {
			e.Unpriced = 1
		}
		rows = append(rows, harness.Planned{Cell: run.Cell, Estimate: e})
	}
	return rows
}

func tokens() []render.TokenRow {
	return []render.TokenRow{{Component: "template", Tokens: 301, Limit: 400}, {Component: "system"}, {Component: "section", Tokens: 4711, Limit: 5000}}
}

// The width of text is the same in a locale that has East Asian widths: tablewriter asks
// the environment when the process starts.
func TestLocale(t *testing.T) {
	run := exec.Command(os.Args[0], "-test.run=^TestGolden$")
	run.Env = append(os.Environ(), "LC_ALL=ja_JP.UTF-8", "LANG=ja_JP.UTF-8", "RUNEWIDTH_EASTASIAN=1", "TZ=Asia/Tokyo")
	if out, err := run.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
