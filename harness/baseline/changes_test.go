package baseline_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/poimen-memory/mem/harness/baseline"
	"github.com/poimen-memory/mem/harness/check"
	"github.com/poimen-memory/mem/harness/record"
	"github.com/poimen-memory/mem/harness/result"
	"github.com/poimen-memory/mem/harness/stat"
)

// judgedLexical is a result of one model, and of the queries given the chunks without evidence that it wrote.
func judgedLexical(noise map[string]int) *result.Result {
	row := result.GateRow{Model: "lexical", Level: 1, ExitGate: "record", Counts: stat.Counts{Runs: 2, Turns: 8}}
	for _, query := range []string{"host", "port"} {
		c := stat.Counts{FalsePos: noise[query], TrueNeg: 4 - noise[query]}
		row.Queries = append(row.Queries, result.QueryRow{Query: query, Counts: c})
		row.Counts.FalsePos += c.FalsePos
		row.Counts.TrueNeg += c.TrueNeg
	}
	r := &result.Result{Experiment: "x", Spec: "x.yaml", Gates: []result.GateRow{row}, Runs: []result.Run{{}, {}}}
	for i := range r.Runs {
		r.Runs[i].State = record.Complete
	}
	return r
}

// TestChangesAreSaidInWords: which count of which model, from what to what, and of which queries.
func TestChangesAreSaidInWords(t *testing.T) {
	dir := t.TempDir()
	b := baseline.Folder{Dir: dir}
	file := filepath.Join(dir, "x.jsonl")
	write := func(noise map[string]int) {
		t.Helper()
		update := baseline.Folder{Dir: dir, Update: true}
		if err := update.Judge(&strings.Builder{}, judgedLexical(noise), false); err != nil {
			t.Fatal(err)
		}
	}
	judge := func(r *result.Result) check.Result {
		t.Helper()
		if err := b.Judge(nil, r, false); err != nil {
			t.Fatal(err)
		}
		return r.Checks[len(r.Checks)-1]
	}
	update := "; if that is meant: mem eval x.yaml --baseline " + filepath.ToSlash(dir) + " --update-baseline"
	write(nil)
	for _, test := range []struct {
		noise map[string]int
		want  string
	}{
		{nil, "every count is that of " + file},
		{map[string]int{"host": 1, "port": 1}, "2 counts differ from " + file + ": lexical · L1 · record, noise ignored: right 8 → 6; lexical · L1 · record, noise ignored: wrong 0 → 2 (queries host, port)" + update},
		{map[string]int{"port": 2}, "2 counts differ from " + file + ": lexical · L1 · record, noise ignored: right 8 → 6; lexical · L1 · record, noise ignored: wrong 0 → 2 (query port)" + update},
	} {
		if got := judge(judgedLexical(test.noise)); got.Detail != test.want {
			t.Errorf("%v: found\n%s\nwant\n%s", test.noise, got.Detail, test.want)
		}
	}

	write(map[string]int{"host": 1})
	if got := judge(judgedLexical(map[string]int{"port": 1})); !got.Failed() || !strings.Contains(got.Detail, "noise: as many as before, of other queries (host, port)") {
		t.Errorf("the mistake of another query: %s", got.Detail)
	}

	gone := judgedLexical(map[string]int{"host": 1})
	gone.Gates, gone.Runs[0].State = nil, record.Failed
	if got := judge(gone); !strings.Contains(got.Detail, "runs, complete 2 → 1") || !strings.Contains(got.Detail, "runs, failed 0 → 1") || !strings.Contains(got.Detail, "record: gone") {
		t.Errorf("a model that is gone: %s", got.Detail)
	}

	for text, want := range map[string]string{
		"{}\nno JSON\n": "x.jsonl: line 2: ",
		`{"budget":{},"experiment":"x","tokenizer":""}` + "\n": "no count differs from ",
	} {
		r := &result.Result{Experiment: "x", Spec: "x.yaml"}
		if strings.HasPrefix(want, "no count") {
			lines, err := r.Lines()
			if err != nil {
				t.Fatal(err)
			}
			text = strings.Replace(lines, `"tokenizer":""`, `"tokenizer":"","new":1`, 1)
		}
		if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		if got := judge(r); !got.Failed() || !strings.Contains(got.Detail, want) {
			t.Errorf("%s: %v", text, got)
		}
	}
}
