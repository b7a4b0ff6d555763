package harness_test

import (
	"encoding/json"
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/poimen-memory/mem/gate"
	"github.com/poimen-memory/mem/harness"
	"github.com/poimen-memory/mem/harness/result"
	"github.com/poimen-memory/mem/harness/run"
	"github.com/poimen-memory/mem/loop"
	"github.com/poimen-memory/mem/loop/openai"
	"github.com/poimen-memory/mem/scripted/fakeserver"
)

// surely replies with log probabilities: it is surer of yes where the chunk holds the port, and
// never of end.
func surely(logProbs func(tokens []map[string]any) string) func(fakeserver.Request) fakeserver.Reply {
	return func(r fakeserver.Request) fakeserver.Reply {
		yes := 0.25
		if _, section, _ := strings.Cut(r.Text("user"), "<section>"); strings.Contains(section, "port 6380") {
			yes = 0.75
		}
		d := gate.Decision{Update: yes > 0.5, HasCandidate: yes > 0.5, Candidate: "port 6380"}
		word, other := "no", "yes"
		said := 1 - yes
		if d.Update {
			word, other, said = "yes", "no", yes
		}
		var tokens []map[string]any
		token := func(text string, p float64, more ...any) {
			top := []map[string]any{{"token": text, "logprob": math.Log(p)}}
			for i := 0; i+1 < len(more); i += 2 {
				top = append(top, map[string]any{"token": more[i], "logprob": math.Log(more[i+1].(float64))})
			}
			tokens = append(tokens, map[string]any{"token": text, "logprob": math.Log(p), "top_logprobs": top})
		}
		text := d.Reply()
		before, rest, _ := strings.Cut(text, "<check>"+word)
		middle, after, _ := strings.Cut(rest, "<next>continue")
		token(before+"<check>", 1)
		token(word, said, other, 1-said)
		token(middle+"<next>", 1)
		token("continue", 0.9, "end", 0.1)
		token(after, 1)
		return fakeserver.Reply{Text: text, LogProbs: logProbs(tokens)}
	}
}

func content(tokens []map[string]any) string {
	b, err := json.Marshal(map[string]any{"content": tokens})
	if err != nil {
		panic(err)
	}
	return string(b)
}

// sureConfig asks a server for log probabilities.
func sureConfig(t *testing.T, reply func(fakeserver.Request) fakeserver.Reply, out string) harness.Config {
	t.Helper()
	server := fakeserver.Start(fakeserver.Config{Reply: reply, Model: "m"})
	t.Cleanup(server.Close)
	client, err := openai.New(openai.Config{BaseURL: server.BaseURL(), Model: "m", Params: openai.Params{LogProbs: true}, Timeout: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	return harness.Config{Out: out, Run: run.Config{Live: true}, Models: func(m run.ModelFor) (loop.Model, error) { return client.Trial(m.Cell.Trial), nil }}
}

// TestLogProbsAreJournaledAndShown: what a server says of its tokens is in the journal and in the
// result; eval demands that the records judged again come to the same.
func TestLogProbsAreJournaledAndShown(t *testing.T) {
	path, out := liveSpec(t, ""), t.TempDir()
	r := eval(t, sureConfig(t, surely(content), out), path)
	row := r.Gates[0]
	if c := row.Confidence; c == nil || c.Turns != 30 || c.Update.Replies != 30 || c.Update.Positive != 6 || *c.Update.AUC != 1 || *c.Update.Brier != 0.0625 ||
		c.Exit.Replies != 30 || c.Exit.Positive != 24 || *c.Exit.AUC != 0.5 || c.Missing != nil {
		t.Errorf("found %+v", row.Confidence)
	}
	calls := 0
	for name, text := range tree(t, out) {
		if filepath.Base(name) == "calls.jsonl" {
			calls += strings.Count(text, `"gate_confidence":{"yes":0.75,"end":0.1}`)
		}
	}
	if calls == 0 {
		t.Error("no journal holds a probability")
	}
}

// TestLogProbsThatCannotBeRead: a server that sends none, or nonsense, loses nothing but them.
func TestLogProbsThatCannotBeRead(t *testing.T) {
	path := liveSpec(t, "")
	want := eval(t, sureConfig(t, surely(content), t.TempDir()), path)
	for _, sent := range []string{"null", "[]", `{"content":[]}`, `{"content":null}`, `{"content":7}`, `{"content":[{"token":7}]}`, `"x"`, `{"content":[{"token":"<check>","logprob":"x"}]}`} {
		r := eval(t, sureConfig(t, surely(func([]map[string]any) string { return sent }), t.TempDir()), path)
		c := r.Gates[0].Confidence
		if c == nil || c.Update.Replies != 0 || len(c.Missing) != 1 || c.Missing[0].Turns != 30 || c.Missing[0].Reason != "the server sent no log probabilities" {
			t.Errorf("%s: found %+v", sent, c)
		}
		if !cmp.Equal(want.Gates[0].Metrics, r.Gates[0].Metrics) || result.Exit(r) != result.Exit(want) {
			t.Errorf("%s: the metrics are others", sent)
		}
	}
}

// TestNoLogProbsNothingShown: where none are asked for, none are kept, whatever a server sends.
func TestNoLogProbsNothingShown(t *testing.T) {
	server := fakeserver.Start(fakeserver.Config{Reply: surely(content), Model: "m"})
	t.Cleanup(server.Close)
	out := t.TempDir()
	r := eval(t, liveConfig(t, server, out), liveSpec(t, ""))
	if r.Gates[0].Confidence != nil || strings.Contains(fmt.Sprint(tree(t, out)), "gate_confidence") {
		t.Error("probabilities were kept that nobody asked for")
	}
}
