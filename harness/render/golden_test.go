package render_test

import (
	"bytes"
	"flag"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/poimen-memory/mem/harness/forecast"
	"github.com/poimen-memory/mem/harness/render"
	"github.com/poimen-memory/mem/harness/render/internal/rendertest"
	"github.com/poimen-memory/mem/harness/result"
)

var update = flag.Bool("update", false, "write the golden files under testdata: go test ./harness/render -update")

// TestGolden holds all that is rendered against testdata. After a deliberate change run it
// with -update, and read the diff.
func TestGolden(t *testing.T) {
	shown := func(t render.Terminal, r *result.Result) func(io.Writer) error {
		return func(w io.Writer) error { return t.Result(w, r) }
	}
	both := []*result.Result{rendertest.Passed(), broken()}
	for name, write := range map[string]func(io.Writer) error{
		"passed.txt":     shown(render.Terminal{Width: 100, Detail: render.Verbose}, rendertest.Passed()),
		"broken.txt":     shown(render.Terminal{Detail: render.Verbose}, broken()),
		"broken-140.txt": shown(render.Terminal{Width: 140, Detail: render.Verbose}, broken()),
		"broken-100.txt": shown(render.Terminal{Width: 100, Detail: render.Verbose}, broken()),
		"broken-80.txt":  shown(render.Terminal{Width: 80, Detail: render.Verbose}, broken()),
		"broken-60.txt":  shown(render.Terminal{Width: 60, Detail: render.Verbose}, broken()),
		"brief.txt":      shown(render.Terminal{Folder: "reports/broken"}, broken()),
		"brief-80.txt":   shown(render.Terminal{Width: 80, Colour: true}, broken()),
		"brief-60.txt":   shown(render.Terminal{Width: 60}, broken()),
		"brief-120.txt":  shown(render.Terminal{Width: 120}, rendertest.Passed()),
		"quiet.txt":      shown(render.Terminal{Width: 100, Detail: render.Quiet}, broken()),
		"hostile.txt":    shown(render.Terminal{Width: 100, Detail: render.Verbose}, hostile()),
		"usage.txt":      shown(render.Terminal{Width: 80, Detail: render.Verbose}, metered()),
		"usage-wide.txt": shown(render.Terminal{Detail: render.Verbose}, metered()),
		"usage.md":       func(w io.Writer) error { return render.Markdown(w, metered()) },
		"bytag.txt":      shown(render.Terminal{Width: 80, Detail: render.Quiet, By: []string{rendertest.Tagged().ByTag[0].Tag}}, rendertest.Tagged()),
		"bytag.md":       func(w io.Writer) error { return render.Markdown(w, rendertest.Tagged()) },
		"service.txt":    func(w io.Writer) error { return render.Service(w, render.Terminal{Width: 80}, services()) },
		"total.txt":      func(w io.Writer) error { return render.Terminal{Width: 100}.Total(w, both) },
		"plan.txt": func(w io.Writer) error {
			return render.Plan(w, render.Terminal{Width: 60}, "hotpotqa", "o200k_base", slices.Values(planned()))
		},
		"plan-totals.txt": func(w io.Writer) error {
			return render.Totals(w, render.Terminal{Width: 80}, "By model", slices.Values(planned()))
		},
		"plan-unpriced.txt": func(w io.Writer) error {
			return render.Totals(w, render.Terminal{}, "By model", slices.Values(planned()[:1]))
		},
		"budget.txt": func(w io.Writer) error {
			return render.Budget(w, render.Terminal{Width: 80}, forecasts())
		},
		"tokens.txt": func(w io.Writer) error {
			return render.Terminal{}.Tokens(w, "prompt of turn 1, tokens of o200k_base", tokens())
		},
		"passed.json":     func(w io.Writer) error { return render.JSON(w, rendertest.Passed()) },
		"passed.md":       func(w io.Writer) error { return render.Markdown(w, rendertest.Passed()) },
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

func planned() (rows []forecast.Planned) {
	for i, run := range broken().Runs[:3] {
		run.Model = []string{"oracle", "live", "live"}[i]
		e := forecast.Estimate{Runs: 1, Calls: 10, Bound: i == 1, Prompt: 61000 + i, Completion: 20480, USD: float64(i) / 80}
		if i == 0 {
			e.Unpriced = 1
		}
		rows = append(rows, forecast.Planned{Cell: run.Cell, Estimate: e})
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
