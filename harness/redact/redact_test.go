package redact_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/poimen-memory/mem/harness/check"
	"github.com/poimen-memory/mem/harness/record"
	"github.com/poimen-memory/mem/harness/redact"
	"github.com/poimen-memory/mem/harness/result"
)

// TestTexts: what may hold a text of others is left out wherever it stands, and the result that
// it is made of stays as it was.
func TestTexts(t *testing.T) {
	const word = "swordfish"
	text := word
	r := &result.Result{
		Experiment: "x", Warnings: []string{`found "` + word + `"`},
		Checks: []check.Result{
			{Check: "golden", Status: check.Fail, Detail: "differs at byte 1 want \"a " + word + " \\\" b\", got its end", Diff: "-" + word},
			{Check: "log", Status: check.Fail, Detail: "line 2: " + word},
			{Check: "baseline", Status: check.Fail, Detail: "1 count differs", Diff: "m, turns 1 → 2"},
		},
		Runs: []result.Run{{}, {}},
	}
	r.Runs[0].State, r.Runs[0].Reason = record.Incomplete, "status 500: "+word
	r.Runs[1].State, r.Runs[1].FinalMemory = record.Complete, &text
	r.Runs[1].Answer = &result.Answer{Text: &text, References: []string{word}, Attempts: 2}
	before, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	bare, err := json.Marshal(redact.Texts(r))
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(bare), word) || !strings.Contains(string(bare), "turns 1 → 2") || !strings.Contains(string(bare), `"attempts":2`) {
		t.Errorf("without text it is %s", bare)
	}
	if after, _ := json.Marshal(r); string(after) != string(before) {
		t.Errorf("it was %s, is %s", before, after)
	}
}
