package harness_test

import (
	"path/filepath"
	"testing"

	"github.com/poimen-memory/mem/harness/run"
)

// TestProgressKnowsTurnsThatAskAServer: not those of runs that replay what others asked, for these
// are over at once.
func TestProgressKnowsTurnsThatAskAServer(t *testing.T) {
	path := filepath.Join(write(t, map[string]string{
		"s.jsonl": jsonl("one", "two", "three"),
		"x.yaml": `experiment: x
exit_gate: [record, enforce]
corpora: [{id: s, path: s.jsonl, chunk: {records: 1}}]
queries: [{id: q, text: "Which port?", evidence: [r2]}]
checks: {tokenizer: {max_undercount: 1}}
models: [{id: m, live: {base_url: "http://localhost:1/v1", model: m}}]
`,
	}), "x.yaml")
	cfg := liveOutcomes(t, false)
	var last run.Progress
	cfg.Run.Progress = func(now run.Progress) { last = now }
	e, err := prepare(t, cfg, path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if last.Asked != 3 || last.OfAsked != 3 || last.Turns <= 3 {
		t.Errorf("%+v, want 3 of 3 turns asked, among more", last)
	}
}
