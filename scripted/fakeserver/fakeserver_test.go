package fakeserver_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/poimen-memory/mem/scripted/fakeserver"
)

func start(t *testing.T, cfg fakeserver.Config) *fakeserver.Server {
	s := fakeserver.Start(cfg)
	t.Cleanup(s.Close)
	return s
}

func post(s *fakeserver.Server, key, body string) (int, string) {
	return postWithin(time.Minute, s, key, body)
}

// postWithin returns what came back, or the error in its place.
func postWithin(limit time.Duration, s *fakeserver.Server, key, body string) (int, string) {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, "POST", s.BaseURL()+"/chat/completions", strings.NewReader(body))
	if err != nil {
		return 0, err.Error()
	}
	r.Header.Set("Authorization", "Bearer "+key)
	resp, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		return 0, err.Error()
	}
	defer resp.Body.Close()
	got, err := io.ReadAll(resp.Body)
	if err != nil {
		return resp.StatusCode, err.Error()
	}
	return resp.StatusCode, string(got)
}

const hello = `{"model":"m","messages":[{"role":"system","content":"s"},{"role":"user","content":"<hi>"}]}`

func TestShapes(t *testing.T) {
	reply := fakeserver.Reply{Text: "<check>", Reasoning: "why", PromptTokens: 7, CompletionTokens: 2}
	for shape, want := range map[fakeserver.Shape][]string{
		fakeserver.VLLM:     {`"message":{"content":"<check>","reasoning":"why","role":"assistant"}`, `"prompt_logprobs":null`},
		fakeserver.OldVLLM:  {`"message":{"content":"<check>","reasoning_content":"why","role":"assistant"}`},
		fakeserver.LlamaCpp: {`"reasoning_content":"why"`, `"timings":{`},
	} {
		s := start(t, fakeserver.Config{Shape: shape, Reply: func(r fakeserver.Request) fakeserver.Reply {
			if r.Text("system") != "s" || r.Text("user") != "<hi>" || string(r.Body) != hello || r.N != 1 || r.Again != 0 {
				t.Errorf("request is %+v", r)
			}
			return reply
		}})
		status, got := post(s, "", hello)
		for _, part := range append(want, `"usage":{"completion_tokens":2,"prompt_tokens":7,"total_tokens":9}`, `"finish_reason":"stop"`) {
			if status != 200 || !strings.Contains(got, part) {
				t.Errorf("shape %d: %d %s, want %s", shape, status, got, part)
			}
		}
	}
}

func TestErrorShapes(t *testing.T) {
	for shape, want := range map[fakeserver.Shape]string{
		fakeserver.VLLM:     `{"error":{"code":404,"message":"The model ` + "`m`" + ` does not exist.","param":null,"type":"Not Found"}}`,
		fakeserver.OldVLLM:  `{"code":404,"message":"The model ` + "`m`" + ` does not exist.","object":"error","param":null,"type":"Not Found"}`,
		fakeserver.LlamaCpp: `{"error":{"code":404,"message":"The model ` + "`m`" + ` does not exist.","type":"Not Found"}}`,
	} {
		s := start(t, fakeserver.Config{Shape: shape, Model: "other"})
		if status, got := post(s, "", hello); status != 404 || got != want+"\n" {
			t.Errorf("shape %d: %d %s", shape, status, got)
		}
	}
}

func TestKeyAndBody(t *testing.T) {
	s := start(t, fakeserver.Config{Key: "k"})
	for _, test := range []struct {
		key, body string
		want      int
	}{{"k", hello, 200}, {"x", hello, 401}, {"k", "{", 400}} {
		if got, _ := post(s, test.key, test.body); got != test.want {
			t.Errorf("key %s, body %s: status %d, want %d", test.key, test.body, got, test.want)
		}
	}
	if s.Requests() != 3 {
		t.Errorf("%d requests", s.Requests())
	}
}

func TestModels(t *testing.T) {
	s := start(t, fakeserver.Config{Model: "m"})
	resp, err := http.Get(s.BaseURL() + "/models")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if got, _ := io.ReadAll(resp.Body); !strings.Contains(string(got), `"id":"m"`) {
		t.Errorf("%s", got)
	}
}

func TestFaults(t *testing.T) {
	const limit = 100 * time.Millisecond // of what never ends
	for _, test := range []struct {
		fault  fakeserver.Fault
		status int
		want   string
	}{
		{fakeserver.TooMany("3"), 429, "slow down"},
		{fakeserver.Status(500, fakeserver.LlamaCpp), 500, "fault: Internal Server Error"},
		{fakeserver.ErrorIn200(), 200, "engine died"},
		{fakeserver.NoChoices(), 200, `"choices":[]`},
		{fakeserver.Malformed(), 200, `{"choices"`},
		{fakeserver.WrongType(), 200, "<html>"},
		{fakeserver.Truncated(), 200, "unexpected EOF"},
		{fakeserver.Dropped(), 200, "unexpected EOF"},
		{fakeserver.Reset(), 0, "EOF"},
		{fakeserver.Garbage("what?\r\n"), 0, "malformed HTTP"},
		{fakeserver.Drip(0), 200, `"content":"ok"`},
		{fakeserver.Silence(), 0, "deadline exceeded"},
		{fakeserver.Huge(100000), 200, strings.Repeat("a", 100000)},
		{fakeserver.Redirect(307, "http://127.0.0.2/"), 307, ""},
	} {
		s := start(t, fakeserver.Config{Plan: fakeserver.Script(test.fault)})
		wait := time.Minute
		if test.want == "deadline exceeded" {
			wait = limit
		}
		if status, got := postWithin(wait, s, "", hello); status != test.status || !strings.Contains(got, test.want) {
			t.Errorf("%s: %d %.100s; want %d %.100s", test.fault.Name, status, got, test.status, test.want)
		}
		if status, got := post(s, "", hello); status != 200 || !strings.Contains(got, `"ok"`) {
			t.Errorf("after %s: %d %s", test.fault.Name, status, got)
		}
	}
}

// TestDrip: a byte comes by itself, and the rest takes so long that a client may leave before.
func TestDrip(t *testing.T) {
	s := start(t, fakeserver.Config{Plan: fakeserver.Script(fakeserver.Drip(100 * time.Millisecond))})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, "POST", s.BaseURL()+"/chat/completions", strings.NewReader(hello))
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var first [2]byte
	if n, err := resp.Body.Read(first[:]); n != 1 || err != nil || first[0] != '{' {
		t.Errorf("at first: %d bytes, %q, %v", n, first, err)
	}
	cancel()
	if _, err := io.ReadAll(resp.Body); !errors.Is(err, context.Canceled) {
		t.Errorf("error is %v, want that the rest was not there yet", err)
	}
}

// TestRandomDoesNotDependOnOrder sends the same requests forwards, backwards and all at once.
func TestRandomDoesNotDependOnOrder(t *testing.T) {
	const n, tries = 60, 3
	run := func(seed uint64, each func(ask func(i int))) (statuses [n][tries]int) {
		s := start(t, fakeserver.Config{Plan: fakeserver.Random(seed, 0.5, 2, fakeserver.TooMany(""), fakeserver.Status(500, 0))})
		each(func(i int) {
			for try := range tries {
				statuses[i][try], _ = post(s, "", fmt.Sprintf(`{"model":"%d"}`, i))
			}
		})
		return statuses
	}
	forwards := func(ask func(int)) {
		for i := range n {
			ask(i)
		}
	}
	backwards := func(ask func(int)) {
		for i := range n {
			ask(n - 1 - i)
		}
	}
	together := func(ask func(int)) {
		var wg sync.WaitGroup
		for i := range n {
			wg.Go(func() { ask(i) })
		}
		wg.Wait()
	}
	want := run(1, forwards)
	for name, each := range map[string]func(func(int)){"backwards": backwards, "together": together} {
		if diff := cmp.Diff(want, run(1, each)); diff != "" {
			t.Errorf("%s:\n%s", name, diff)
		}
	}
	if cmp.Equal(want, run(2, forwards)) {
		t.Error("another seed gives the same faults")
	}
	count := map[int]int{}
	for _, statuses := range want {
		count[statuses[0]]++
		if statuses[2] != 200 {
			t.Errorf("the third try failed: %v, want at most two faults a request", statuses)
		}
	}
	if count[200] < 15 || count[429] < 5 || count[500] < 5 {
		t.Errorf("first tries gave %v, want about half failed", count)
	}
}

func TestConcurrencyIsSeen(t *testing.T) {
	const n = 8
	var arrived sync.WaitGroup // the n requests after the first
	arrived.Add(n)
	s := start(t, fakeserver.Config{Reply: func(r fakeserver.Request) fakeserver.Reply {
		if r.N > 1 {
			arrived.Done()
			arrived.Wait()
		}
		return fakeserver.Reply{Text: "ok"}
	}})
	post(s, "", hello)
	if s.MostAtOnce() != 1 {
		t.Errorf("one call: %d at once", s.MostAtOnce())
	}
	var wg sync.WaitGroup
	for range n {
		wg.Go(func() { post(s, "", hello) })
	}
	wg.Wait()
	if got := s.MostAtOnce(); got != n || s.Requests() != n+1 {
		t.Errorf("%d at once of %d, want %d of %d", got, s.Requests(), n, n+1)
	}
}

// TestCloseDoesNotWaitForSlowCalls: it would take longer than tests may.
func TestCloseDoesNotWaitForSlowCalls(t *testing.T) {
	arrived := make(chan struct{})
	s := fakeserver.Start(fakeserver.Config{Latency: 24 * time.Hour, Reply: func(fakeserver.Request) fakeserver.Reply {
		close(arrived)
		return fakeserver.Reply{Text: "ok"}
	}})
	go postWithin(24*time.Hour, s, "", hello)
	<-arrived
	s.Close()
}
