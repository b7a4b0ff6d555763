package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"hash/fnv"
	"io/fs"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/poimen-memory/mem/gate"
	"github.com/poimen-memory/mem/scripted/fakeserver"
)

var (
	kills  = flag.Int("kills", 8, "how often TestKilledAnywhere kills a live evaluation; 200 for the full test")
	faults = flag.Float64("faults", 0, "the rate of requests that fail meanwhile, in five ways; 0.05 for the full test")
)

// answer depends on the request's bytes alone.
func answer(r fakeserver.Request) fakeserver.Reply {
	h := fnv.New64a()
	h.Write(bytes.Replace(r.Body, []byte(`,"stream":false`), nil, 1)) // how it is sent does not change what is said
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

// artefacts are the files that an evaluation has written, if it has begun to.
func artefacts(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	if _, err := os.Stat(filepath.Join(dir, "reports")); errors.Is(err, fs.ErrNotExist) {
		return files
	}
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

// TestKilledAnywhere kills live evaluations, each after a random number of requests and at a
// random instant after that, and resumes them. What each comes to is what an undisturbed one
// does, each call is in a journal once, and no more calls are repeated than were in flight at
// the kills.
func TestKilledAnywhere(t *testing.T) {
	if *kills < 1 {
		t.Fatalf("-kills %d: want at least 1", *kills)
	}
	server := fakeserver.Start(fakeserver.Config{Reply: answer, Model: "m", Key: testKey, Latency: latency})
	defer server.Close()
	calm := liveExperiment(t, server.BaseURL())
	if out, err := evalLive(t, calm).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	undisturbed := normal(artefacts(t, calm), server.BaseURL())
	calls := server.Requests()
	var killed, repeats, unkept, requests, experiments int
	for ; killed < *kills; experiments++ {
		c := startCampaign(t, uint64(experiments))
		n := c.killUntilDone(t, *kills-killed)
		if n == 0 {
			t.Fatalf("experiment %d ended before it could be killed", experiments)
		}
		killed += n
		if diff := cmp.Diff(undisturbed, normal(artefacts(t, c.dir), c.server.BaseURL())); diff != "" {
			t.Errorf("artefacts (-undisturbed +killed and resumed):\n%.4000s", diff)
		}
		again := c.repeats()
		if len(c.answered) != calls || again > connections*n {
			t.Errorf("%d different calls, want %d; %d repeats after %d kills with %d connections", len(c.answered), calls, again, n, connections)
		}
		unkept += c.unkept
		if left := c.notInJournals(t); left != 0 {
			t.Errorf("%d answers are in no journal at the end", left)
		}
		repeats += again
		requests += c.server.Requests()
		c.wantNoKey(t)
	}
	t.Logf("%d kills in %d experiments of %d calls: %d requests, of which %d were answered again; at the kills %d answers were in no journal",
		killed, experiments, calls, requests, repeats, unkept)
}

const (
	latency     = 3 * time.Millisecond
	connections = 4 // of liveExperiment
)

// normal is the comparable part of artefacts, without the server's address.
func normal(files map[string]string, url string) map[string]string {
	kept := comparable(files)
	for name, text := range kept {
		kept[name] = strings.ReplaceAll(text, url, "URL")
	}
	return kept
}

// campaign is an experiment that is killed and resumed until it is complete, and its server.
type campaign struct {
	dir    string
	server *fakeserver.Server
	random *rand.Rand
	unkept int // answers that were in no journal at a kill, of all kills

	mu       sync.Mutex
	answered map[string]int // how often, by the request's bytes
	left     int            // requests until the kill
	reached  chan struct{}  // closed at the last of them
}

func startCampaign(t *testing.T, seed uint64) *campaign {
	c := &campaign{random: rand.New(rand.NewPCG(1, seed)), answered: map[string]int{}}
	failing := fakeserver.Random(seed, *faults, 2, fakeserver.TooMany("0"), fakeserver.Status(http.StatusInternalServerError, fakeserver.VLLM),
		fakeserver.ErrorIn200(), fakeserver.Truncated(), fakeserver.Reset())
	c.server = fakeserver.Start(fakeserver.Config{
		Model: "m", Key: testKey, Latency: latency, Reply: answer,
		Plan: func(r fakeserver.Request) fakeserver.Fault {
			fault := failing(r)
			c.count(r, fault.Serve == nil)
			return fault
		},
	})
	t.Cleanup(c.server.Close)
	c.dir = liveExperiment(t, c.server.BaseURL())
	return c
}

func (c *campaign) count(r fakeserver.Request, answered bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if answered {
		c.answered[string(r.Body)]++
	}
	if c.left--; c.left == 0 {
		close(c.reached)
	}
}

// after is closed once n more requests have come.
func (c *campaign) after(n int) <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.left, c.reached = n, make(chan struct{})
	if n == 0 {
		close(c.reached)
	}
	return c.reached
}

// killUntilDone kills evaluations, at most so often, until one ends by itself, and returns how
// often it did. The experiment is complete then.
func (c *campaign) killUntilDone(t *testing.T, most int) (killed int) {
	t.Helper()
	for killed < most {
		reached, ended := c.after(c.random.IntN(60)), make(chan error, 1)
		cmd := evalLive(t, c.dir, "--resume")
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		go func() { ended <- cmd.Wait() }()
		select {
		case <-reached: // by chance between two requests, or before the first
			time.Sleep(time.Duration(c.random.IntN(20)) * time.Millisecond)
			cmd.Process.Kill()
			<-ended
		case <-ended:
		}
		if !cmd.ProcessState.Sys().(syscall.WaitStatus).Signaled() {
			break
		}
		killed++
		lost := c.notInJournals(t)
		if lost < 0 || lost > connections {
			t.Errorf("%d answers are in no journal after a kill, want at most the %d that were in flight", lost, connections)
		}
		c.unkept += lost
	}
	if out, err := evalLive(t, c.dir, "--resume").CombinedOutput(); err != nil {
		t.Fatalf("the last evaluation: %v\n%s", err, out)
	}
	return killed
}

// notInJournals is how many different answers no journal holds; below 0: some are held twice.
func (c *campaign) notInJournals(t *testing.T) int {
	t.Helper()
	c.mu.Lock()
	n := len(c.answered)
	c.mu.Unlock()
	for name, text := range artefacts(t, c.dir) {
		if strings.Contains(name, "/record/") && filepath.Base(name) == "calls.jsonl" {
			n -= max(0, strings.Count(text, "\n")-1-strings.Count(text, "\n{\"end\":"))
		}
	}
	return n
}

// repeats is how many answers were given again.
func (c *campaign) repeats() (n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, times := range c.answered {
		n += times - 1
	}
	return n
}

func (c *campaign) wantNoKey(t *testing.T) {
	t.Helper()
	for name, text := range artefacts(t, c.dir) {
		if strings.Contains(text, testKey) {
			t.Errorf("%s holds the key", name)
		}
	}
}
