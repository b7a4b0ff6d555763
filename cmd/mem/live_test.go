package main

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/poimen-memory/mem/harness/models"
	"github.com/poimen-memory/mem/harness/plan"
	"github.com/poimen-memory/mem/harness/progress"
	"github.com/poimen-memory/mem/harness/run"
	"github.com/poimen-memory/mem/harness/spec"
	"github.com/poimen-memory/mem/loop"
	"github.com/poimen-memory/mem/scripted/fakeserver"
)

type serverKey struct{}

// running is a script's server, and how many requests it had when last asked.
type running struct {
	*fakeserver.Server
	seen int
}

// serve [AFTER STATUS] starts a server of the model m and puts its URL into MEM_TEST_URL and
// its key into MEM_TEST_KEY. After that many requests it answers with the status.
func serve(ts *testscript.TestScript, _ bool, args []string) {
	cfg := fakeserver.Config{Reply: answer, Model: "m", Key: testKey}
	if len(args) == 2 {
		after, err := strconv.Atoi(args[0])
		ts.Check(err)
		status, err := strconv.Atoi(args[1])
		ts.Check(err)
		cfg.Plan = func(r fakeserver.Request) fakeserver.Fault {
			if r.N <= after {
				return fakeserver.Fault{}
			}
			return fakeserver.Status(status, fakeserver.VLLM)
		}
	}
	s := fakeserver.Start(cfg)
	ts.Defer(s.Close)
	ts.Setenv("MEM_TEST_URL", s.BaseURL())
	ts.Setenv("MEM_TEST_KEY", testKey)
	*ts.Value(serverKey{}).(*running) = running{Server: s}
}

// requests N wants that many requests since it was last asked.
func requests(ts *testscript.TestScript, _ bool, args []string) {
	s := ts.Value(serverKey{}).(*running)
	n := s.Requests() - s.seen
	if s.seen += n; strconv.Itoa(n) != args[0] {
		ts.Fatalf("%d requests, want %s", n, args[0])
	}
}

// offline fails a test whose program opens a connection.
type offline struct{ t *testing.T }

func (o offline) RoundTrip(r *http.Request) (*http.Response, error) {
	o.t.Errorf("a connection to %s was opened", r.URL)
	return nil, http.ErrServerClosed
}

// TestNoConnectionWithoutLive: the models are skipped, whatever else is asked for.
func TestNoConnectionWithoutLive(t *testing.T) {
	standard := http.DefaultTransport
	defer func() { http.DefaultTransport = standard }()
	http.DefaultTransport = offline{t}
	server := fakeserver.Start(fakeserver.Config{Reply: answer, Model: "m", Key: testKey})
	defer server.Close()
	t.Setenv("MEM_TEST_KEY", testKey)
	dir := liveExperiment(t, server.BaseURL())
	spec, out := filepath.Join(dir, "live.yaml"), filepath.Join(dir, "reports")
	for _, args := range [][]string{
		{"eval", spec, "--out", out}, {"eval", spec, "--list"}, {"eval", spec, "--dry-run"}, {"eval", spec, "--live", "--list"},
		{"golden", "diff", spec}, {"prompt", "--spec", spec, "--project", "s", "--query", "a", "--chunk", "1"},
	} {
		var stdout, stderr bytes.Buffer
		execute(context.Background(), args, strings.NewReader(""), &stdout, &stderr)
		if strings.Contains(stderr.String(), "panic") {
			t.Errorf("%v: %s", args, &stderr)
		}
	}
	if n := server.Requests(); n != 0 {
		t.Errorf("%d requests", n)
	}
}

// TestTheKeyIsNowhere: not in what is written or said, whatever goes wrong, with servers
// that repeat it in their errors.
func TestTheKeyIsNowhere(t *testing.T) {
	echo := func(status int) fakeserver.Plan {
		return func(r fakeserver.Request) fakeserver.Fault {
			return fakeserver.Raw(status, "text/plain", "you sent "+r.Header.Get("Authorization"))
		}
	}
	for name, cfg := range map[string]fakeserver.Config{
		"answers":   {Reply: answer, Model: "m", Key: testKey},
		"refuses":   {Reply: answer, Plan: echo(401)},
		"fails":     {Reply: answer, Plan: echo(500)},
		"malformed": {Reply: answer, Plan: echo(200)},
		"says it": {Reply: func(r fakeserver.Request) fakeserver.Reply {
			reply := answer(r)
			reply.Text, reply.Reasoning = reply.Text+r.Header.Get("Authorization"), r.Header.Get("Authorization")
			return reply
		}},
		"counts with it": {Reply: func(r fakeserver.Request) fakeserver.Reply {
			reply := answer(r)
			reply.RawUsage = strconv.Quote(r.Header.Get("Authorization"))
			return reply
		}},
		"another model": {Reply: answer, Model: "other", Key: testKey},
	} {
		t.Run(name, func(t *testing.T) {
			server := fakeserver.Start(cfg)
			defer server.Close()
			dir := liveExperiment(t, server.BaseURL())
			impatient(t, dir)
			var said strings.Builder
			for _, args := range [][]string{{}, {"--resume"}, {"--list"}, {"--dry-run"}, {"--fresh", "--max-calls", "3"}, {"--help"}, {"--timeout", "1"}} {
				out, _ := evalLive(t, dir, args...).CombinedOutput()
				fmt.Fprintf(&said, "%v\n%s\n", args, out)
			}
			wantNoKey(t, "the output", said.String())
			files := artefacts(t, dir)
			if len(files) < 20 {
				t.Fatalf("only %d artefacts", len(files))
			}
			for path, text := range files {
				wantNoKey(t, path, text)
			}
		})
	}
}

func wantNoKey(t *testing.T, where, text string) {
	t.Helper()
	if i := strings.Index(text, testKey); i >= 0 {
		t.Errorf("%s holds the key: …%.200s", where, text[max(0, i-100):])
	}
}

// impatient makes an experiment give up at the first failure.
func impatient(t *testing.T, dir string) {
	t.Helper()
	path := filepath.Join(dir, "live.yaml")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	write(t, path, strings.Replace(string(text), "seed: 7", "seed: 7, max_tries: 1", 1))
}

// TestPanicHidesTheKey: not even a crash's dump of what is in hand shows it.
func TestPanicHidesTheKey(t *testing.T) {
	if os.Getenv("MEM_TEST_PANIC") != "" {
		c := &models.Clients{Meter: &models.Meter{}}
		s := loadLive(t, os.Getenv("MEM_TEST_PANIC"))
		opened(t.Context(), t, s, c)
		panic(fmt.Sprintf("%+v %#v %v", c, c, c.Client(s, "m")))
	}
	dir := liveExperiment(t, "http://localhost:1/v1")
	cmd := exec.Command(os.Args[0], "-test.run=^TestPanicHidesTheKey$")
	cmd.Env = append(os.Environ(), "MEM_TEST_PANIC="+filepath.Join(dir, "live.yaml"), "MEM_TEST_KEY="+testKey)
	out, err := cmd.CombinedOutput()
	if err == nil || !strings.Contains(string(out), "panic:") {
		t.Fatalf("no panic: %v\n%s", err, out)
	}
	wantNoKey(t, "the panic", string(out))
}

// TestBarSaysHowLiveModelsAre, also while no turn ends.
func TestBarSaysHowLiveModelsAre(t *testing.T) {
	server := fakeserver.Start(fakeserver.Config{Reply: answer, Model: "m", Key: testKey, Plan: fakeserver.Script(fakeserver.TooMany("0"))})
	defer server.Close()
	t.Setenv("MEM_TEST_KEY", testKey)
	s := loadLive(t, filepath.Join(liveExperiment(t, server.BaseURL()), "live.yaml"))
	c := &models.Clients{Meter: &models.Meter{}}
	if c.Status(s) != nil {
		t.Error("there is a status of models that are not to run")
	}
	model, err := opened(t.Context(), t, s, c).Model(run.ModelFor{Spec: s, Model: &s.Models[0], Cell: plan.Cell{Model: "m", Trial: 1}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := model.Complete(t.Context(), loop.Request{Turn: 1, Attempt: 1, User: "x", MaxTokens: 9}); err != nil {
		t.Fatal(err)
	}
	var bar lockedBuffer
	p := &progress.Display{W: &bar, Moves: true}
	p.Begin(c.Status(s))
	p.At(run.Progress{Experiment: "live", Turns: 900, Of: 1000, Asked: 1, OfAsked: 20}) // scripted runs are over at once
	p.End()
	if want := regexp.MustCompile(`live: 0 of 2 calls in flight, 1 failed, 0\.\d{4} USD.*/20`); !want.MatchString(bar.String()) {
		t.Errorf("the bar says %q, want %s", bar.String(), want)
	}
}

type lockedBuffer struct {
	mu sync.Mutex
	bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.Buffer.Write(p)
}

// opened are the models of a spec whose model m is to run.
func opened(ctx context.Context, t *testing.T, s *spec.Spec, c *models.Clients) models.Set {
	t.Helper()
	set, errs := models.Load(s, c)
	for i := range s.Models {
		m := &s.Models[i]
		errs = append(errs, set.Open(ctx, s, []*plan.Run{{Cell: plan.Cell{Model: m.ID.Value}, Spec: m}})...)
	}
	if err := errs.Err(); err != nil {
		t.Fatal(err)
	}
	return set
}

func loadLive(t *testing.T, path string) *spec.Spec {
	t.Helper()
	s, err := spec.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	return s
}
