package scripted_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/poimen-memory/mem/harness/diag"
	"github.com/poimen-memory/mem/loop"
	"github.com/poimen-memory/mem/scripted"
)

// FuzzScript: a file is a script that answers any turn with a reply or an error, or has errors that
// point into it.
func FuzzScript(f *testing.F) {
	for _, seed := range []string{
		"turns:\n  - {turn: 1, check: yes, update: port 6380, next: continue}\n  - {turns: 2-3, check: no, next: end, think: why}\n",
		"turns: [{turn: 1, attempts: [{raw: no gates, repeat: 2}, {error: gone}, {check: yes, update: {text: ab, times: 3}, next: end}]}]\n",
		"default: {raw: |\n  text\n  , finish: length}\nanswer: [{raw: 6380}, {error: gone}]\n",
		"default: {check: no, next: continue}\nanswer: \"6380\"\n",
		"turns: [{turn: 1, check: no, next: end}, {turns: 1-2, check: no, next: end}]", "---", "turns: []\n", "default: {}\n",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		script, err := scripted.ParseScript("s.yaml", data)
		if err == nil {
			for turn := range 4 {
				for attempt := range 4 {
					script.Model().Complete(t.Context(), loop.Request{Turn: turn, Attempt: attempt + 1})
				}
			}
			return
		}
		list, ok := errors.AsType[diag.Errors](err)
		if !ok || len(list) == 0 {
			t.Fatalf("error %v, want a diag.Errors", err)
		}
		lines := strings.Count(strings.ReplaceAll(string(data), "\r", "\n"), "\n") + 1
		for _, e := range list {
			if e.Pos.Line < 1 || e.Pos.Line > lines || e.Pos.Col < 1 || e.Msg == "" {
				t.Errorf("no such place in %q: %v", data, e)
			}
		}
	})
}
