package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/poimen-memory/mem/gate"
	"github.com/poimen-memory/mem/prompt"
	"github.com/poimen-memory/mem/prompt/token"
	"github.com/poimen-memory/mem/scripted/fakeserver"
)

var update = flag.Bool("update", false, "write the committed recording: go test ./cmd/mem -run TestRecording -update")

const recording = "../../experiments/recordings/fake-3b"

// TestRecording: the committed recording is what a live evaluation of a fake server leaves,
// to the byte. experiments/recorded.yaml answers from it.
func TestRecording(t *testing.T) {
	count, err := token.New("o200k_base")
	if err != nil {
		t.Fatal(err)
	}
	server := fakeserver.Start(fakeserver.Config{Model: "fake-3b", Reply: func(r fakeserver.Request) fakeserver.Reply { return fake(r, count) }})
	defer server.Close()
	dir := t.TempDir()
	experiments, err := filepath.Abs("../../experiments")
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "live.yaml"), fmt.Sprintf(`
experiment: live
corpora: [{id: staging, path: %q, chunk: {tokens: 500}}]
queries: [{id: redis-port, text: "Which port does the staging Redis listen on?"}]
models: [{id: fake-3b, live: {base_url: %q, model: fake-3b, temperature: 0, seed: 7}}]
`, filepath.ToSlash(filepath.Join(experiments, "corpora", "staging.jsonl")), server.BaseURL()))
	if out, err := evalLive(t, dir).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for name, text := range artefacts(t, dir) {
		if filepath.Base(name) != "calls.jsonl" {
			continue
		}
		name, _ = filepath.Rel(filepath.Join("reports", "live"), name)
		committed := filepath.Join(recording, name)
		if *update {
			if err := os.MkdirAll(filepath.Dir(committed), 0o777); err != nil {
				t.Fatal(err)
			}
			write(t, committed, text)
		}
		want, err := os.ReadFile(committed)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), text); diff != "" {
			t.Errorf("%s (-committed +recorded):\n%s", name, diff)
		}
	}
}

// fake answers as a small model might: it finds the port, and fails to close its gates at
// the first attempt of the turn in which it does. Its chat template takes 23 tokens.
func fake(r fakeserver.Request, count prompt.Counter) fakeserver.Reply {
	user := r.Text("user")
	reply := fakeserver.Reply{Text: gate.Decision{}.Reply(), Reasoning: "Nothing about Redis here.", PromptTokens: count.Count(user) + 23}
	_, section, _ := strings.Cut(user, "<section>")
	if strings.Contains(section, "6380") {
		reply.Reasoning = "The port is named."
		reply.Text = gate.Decision{Update: true, HasCandidate: true, Candidate: "The staging Redis listens on port 6380.", Exit: true}.Reply()
		if strings.Contains(string(r.Body), `"seed":7`) {
			reply.Text = strings.TrimSuffix(reply.Text, "</next>")
		}
	}
	reply.CompletionTokens = count.Count(reply.Reasoning + reply.Text)
	return reply
}
