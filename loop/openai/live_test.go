package openai_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/poimen-memory/mem/loop"
	"github.com/poimen-memory/mem/loop/openai"
	"github.com/poimen-memory/mem/scripted/fakeserver"
)

// echo says the first word it was asked, so that a reply given to another call would be seen.
func echo(r fakeserver.Request) fakeserver.Reply {
	word, _, _ := strings.Cut(r.Text("user"), " ")
	return fakeserver.Reply{Text: "re: " + word + " ", PromptTokens: 10, CompletionTokens: 2}
}

// askAll makes n calls with prompts of their own from the workers, and fails on any reply
// that is not theirs.
func askAll(t testing.TB, c *openai.Client, workers, n int, padding string) {
	t.Helper()
	next := make(chan int)
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			for i := range next {
				r := loop.Request{Turn: i, Attempt: 1, User: fmt.Sprintf("%d %s", i, padding), MaxTokens: 64}
				got, err := c.Complete(context.Background(), r)
				if err != nil || got.Text != fmt.Sprintf("re: %d ", i) {
					t.Errorf("call %d: %.40q, %v", i, got.Text, err)
				}
			}
		})
	}
	for i := range n {
		next <- i
	}
	close(next)
	wg.Wait()
}

// TestEveryCallIsAnsweredThroughFaults: with any mixture of passing faults, each call gets
// its own reply, every request is counted, and no more are in flight than allowed.
func TestEveryCallIsAnsweredThroughFaults(t *testing.T) {
	for seed := range uint64(3) {
		const n, workers, most = 100, 12, 5
		s := serve(t, fakeserver.Config{
			Shape: fakeserver.Shape(seed % 3), Key: key, Reply: echo, Jitter: time.Millisecond, Seed: seed,
			Plan: fakeserver.Random(seed, 0.4, 4, fakeserver.Passing()...),
		})
		c := client(t, s.BaseURL(), openai.Config{Retry: impatient(8), Limits: openai.Limits{MaxConnections: most}})
		askAll(t, c, workers, n, "")
		got := c.Stats()
		if got.Calls != n || got.Failures != 0 || got.Attempts != s.Requests() || got.Attempts != n+got.Retries || got.Retries < n/4 {
			t.Errorf("seed %d: %d requests seen, stats %+v", seed, s.Requests(), got)
		}
		if got.TooMany+got.ServerErrors+got.Broken != got.Retries || got.TooMany*got.ServerErrors*got.Broken == 0 {
			t.Errorf("seed %d: failures do not add up: %+v", seed, got)
		}
		if got.Latency.Count != n || got.PromptTokens != 10*n || got.CompletionTokens != 2*n || got.InFlight+got.Waiting+got.InBackoff != 0 {
			t.Errorf("seed %d: %+v", seed, got)
		}
		if s.MostAtOnce() > most {
			t.Errorf("seed %d: %d in flight, want at most %d", seed, s.MostAtOnce(), most)
		}
	}
}

func TestConnectionsAreKept(t *testing.T) {
	var mu sync.Mutex
	peers := map[string]bool{}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		peers[r.RemoteAddr] = true
		mu.Unlock()
		io.WriteString(w, `{"choices":[{"message":{"content":"ok"}}]}`)
	}))
	defer s.Close()
	calls(t, client(t, s.URL, openai.Config{Limits: openai.Limits{MaxConnections: 20}}), 500)
	if len(peers) > 40 { // some are dialled while another is on its way back to the pool
		t.Errorf("%d connections for 500 calls, 20 at a time", len(peers))
	}
}

// BenchmarkThroughput makes 1,000 calls to a server that takes 50 ms, over 50 connections,
// with prompts of 20 KB, client and server sharing the processors. The metric of-limit is
// the share of connections ÷ latency that is reached.
func BenchmarkThroughput(b *testing.B) {
	const calls, connections, latency = 1000, 50, 50 * time.Millisecond
	s := serve(b, fakeserver.Config{Latency: latency, Reply: echo})
	c := client(b, s.BaseURL(), openai.Config{Limits: openai.Limits{MaxConnections: connections}})
	padding := strings.Repeat("2026-01-12 [tool] <line> of a \"log\"\n", 20<<10/36)
	askAll(b, c, connections, connections, padding) // dials
	for b.Loop() {
		askAll(b, c, connections, calls, padding)
	}
	rate := float64(calls*b.N) / b.Elapsed().Seconds()
	b.ReportMetric(rate, "calls/s")
	b.ReportMetric(rate*latency.Seconds()/connections, "of-limit")
	b.ReportMetric(float64(c.Stats().Latency.P95.Milliseconds()), "ms-p95")
}
