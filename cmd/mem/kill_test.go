package main

import (
	"flag"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/poimen-memory/mem/gate"
	"github.com/poimen-memory/mem/scripted/fakeserver"
)

var kills = flag.Int("kills", 8, "how often TestKilledAnywhere kills a live evaluation; 50 for the full test")

// answer depends on the request's bytes alone.
func answer(r fakeserver.Request) fakeserver.Reply {
	h := fnv.New64a()
	h.Write(r.Body)
	switch n := h.Sum64(); n % 5 {
	case 0:
		return fakeserver.Reply{Text: "no gates"}
	case 1, 2:
		return fakeserver.Reply{Text: gate.Decision{Update: true, HasCandidate: true, Candidate: fmt.Sprintf("memory %x", n)}.Reply()}
	default:
		return fakeserver.Reply{Text: gate.Decision{Exit: n%3 == 0}.Reply()}
	}
}

// liveExperiment is twelve runs of twenty turns, with the exit gate recorded and enforced.
func liveExperiment(t *testing.T, url string) string {
	t.Helper()
	dir := t.TempDir()
	var session strings.Builder
	for i := range 20 {
		fmt.Fprintf(&session, `{"role": "tool", "text": "line %d of a log", "id": "r%d"}`+"\n", i, i)
	}
	spec := fmt.Sprintf(`
experiment: live
corpora: [{id: s, path: s.jsonl, chunk: {records: 1}}]
queries:
  - {id: a, text: "Which port?", evidence: [r3]}
  - {id: b, text: "Which host?", evidence: [r7, r9]}
  - {id: c, text: "Which user?"}
exit_gate: [record, enforce]
trials: 4
models: [{id: m, live: {base_url: %q, model: m, seed: 7, max_connections: 4, api_key_env: MEM_TEST_KEY}, price: {prompt: 1, completion: 2}}]
checks: {tokenizer: {max_undercount: 1}}
`, url)
	for name, text := range map[string]string{"s.jsonl": session.String(), "live.yaml": spec} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

const testKey = "sk-never-to-be-seen-4711"

// evalLive starts the program itself: a process is what gets killed.
func evalLive(t *testing.T, dir string, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command("mem", append([]string{"eval", "live.yaml", "--live"}, args...)...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "MEM_TEST_KEY="+testKey)
	return cmd
}

func artefacts(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(filepath.Join(dir, "reports"), func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		name, _ := filepath.Rel(dir, path)
		files[name] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// comparable are the artefacts that a resumed evaluation shares with an undisturbed one:
// a journal may end in another order of errors, and time is time.
func comparable(files map[string]string) map[string]string {
	kept := map[string]string{}
	for name, text := range files {
		if base := filepath.Base(name); base != "calls.jsonl" && base != "timing.json" {
			kept[name] = timeless(text)
		}
	}
	return kept
}

// TestKilledAnywhere kills a live evaluation at random instants and resumes it each time.
// What it comes to is what an undisturbed one does, and no more calls are repeated than
// were in flight at the kills.
func TestKilledAnywhere(t *testing.T) {
	server := fakeserver.Start(fakeserver.Config{Reply: answer, Model: "m", Key: testKey, Latency: 3 * time.Millisecond})
	defer server.Close()
	calm := liveExperiment(t, server.BaseURL())
	if out, err := evalLive(t, calm).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	want := artefacts(t, calm)
	calls := server.Requests()

	var mu sync.Mutex
	asked := map[string]int{}
	counting := fakeserver.Start(fakeserver.Config{
		Model: "m", Key: testKey, Latency: 3 * time.Millisecond,
		Reply: func(r fakeserver.Request) fakeserver.Reply {
			mu.Lock()
			asked[string(r.Body)]++
			mu.Unlock()
			return answer(r)
		},
	})
	defer counting.Close()
	dir := liveExperiment(t, counting.BaseURL())
	random := rand.New(rand.NewPCG(1, 2))
	killed := 0
	for ; killed < *kills; killed++ {
		cmd := evalLive(t, dir, "--resume")
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Duration(random.IntN(400)) * time.Millisecond)
		cmd.Process.Kill()
		if cmd.Wait() == nil {
			break // it was done already
		}
	}
	if out, err := evalLive(t, dir, "--resume").CombinedOutput(); err != nil {
		t.Fatalf("the last session: %v\n%s", err, out)
	}
	got := artefacts(t, dir)
	normal := func(files map[string]string, url string) map[string]string {
		kept := comparable(files)
		for name, text := range kept {
			kept[name] = strings.ReplaceAll(text, url, "URL")
		}
		return kept
	}
	if diff := cmp.Diff(normal(want, server.BaseURL()), normal(got, counting.BaseURL())); diff != "" {
		t.Errorf("artefacts (-undisturbed +killed and resumed):\n%.4000s", diff)
	}
	repeats := 0
	for _, n := range asked {
		repeats += n - 1
	}
	if len(asked) != calls || repeats > 4*killed {
		t.Errorf("%d different calls, want %d; %d repeats after %d kills with 4 connections", len(asked), calls, repeats, killed)
	}
	t.Logf("%d calls, %d kills, %d repeats", calls, killed, repeats)
	for name, text := range got {
		if strings.Contains(text, testKey) {
			t.Errorf("%s holds the key", name)
		}
	}
}
