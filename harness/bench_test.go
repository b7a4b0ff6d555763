//go:build unix

package harness_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/poimen-memory/mem/gate"
	"github.com/poimen-memory/mem/harness"
	"github.com/poimen-memory/mem/harness/record"
	"github.com/poimen-memory/mem/harness/result"
	"github.com/poimen-memory/mem/harness/run"
	"github.com/poimen-memory/mem/harness/spec"
	"github.com/poimen-memory/mem/harness/spec/yamlpos"
	"github.com/poimen-memory/mem/loop"
	"github.com/poimen-memory/mem/loop/openai"
	"github.com/poimen-memory/mem/scripted/fakeserver"
)

// cpu is the processor seconds that this process has used: other processes slow it less
// than they slow a clock.
func cpu() float64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
}

// BenchmarkTurn is a scripted turn at chunks of 5,000 tokens with all that the harness does
// around it: journal, event log, checks while it runs, and the log's verification after it.
func BenchmarkTurn(b *testing.B) {
	for name, record := range map[string]func(i int) string{
		"unique":   func(i int) string { return logRecord(i * 150) },
		"repeated": func(int) string { return logRecord(0) },
	} {
		b.Run(name, func(b *testing.B) {
			const chunks = 100
			e := scripted5000(b, config(b), 1, chunks, record)
			b.ReportAllocs()
			turns, start := 0, cpu()
			for b.Loop() {
				r, err := e.Run(b.Context())
				if err != nil || result.Exit(r) != 0 {
					b.Fatal(err, r.Checks)
				}
				turns += chunks
			}
			b.ReportMetric(float64(turns)/(cpu()-start), "turns/cpu-s")
		})
	}
}

// BenchmarkParallel says how many times as fast two runs at a time are as one. The two
// take turns, and the quickest of each counts, for other processes only ever slow them.
// Two idle cores are needed: garbage is collected beside a single run too.
func BenchmarkParallel(b *testing.B) {
	var best [3]time.Duration
	var experiments [3]prepared
	for width := 1; width <= 2; width++ {
		cfg := config(b)
		cfg.Run.Parallel = width
		experiments[width] = scripted5000(b, cfg, 16, 100, func(i int) string { return logRecord(i * 150) })
	}
	for b.Loop() {
		for width := 1; width <= 2; width++ {
			start := time.Now()
			if _, err := experiments[width].Run(b.Context()); err != nil {
				b.Fatal(err)
			}
			if took := time.Since(start); best[width] == 0 || took < best[width] {
				best[width] = took
			}
		}
	}
	b.ReportMetric(best[1].Seconds()/best[2].Seconds(), "x-one")
}

// scripted5000 is an experiment that asks some queries of so many records of just under
// 5,000 tokens, and of a model that answers at once.
func scripted5000(b *testing.B, cfg harness.Config, queries, chunks int, text func(i int) string) prepared {
	var yaml, lines strings.Builder
	yaml.WriteString("experiment: x\ncorpora: [{id: s, path: s.jsonl, chunk: {records: 1}}]\nmodels: [{id: never, policy: never_update}]\nqueries:\n")
	for i := range queries {
		fmt.Fprintf(&yaml, "  - {id: q%d, text: Which port does service %d listen on}\n", i, i)
	}
	for i := range chunks {
		fmt.Fprintf(&lines, "{\"role\": \"tool\", \"text\": %q}\n", text(i))
	}
	dir := write(b, map[string]string{"x.yaml": yaml.String(), "s.jsonl": lines.String()})
	e, err := prepare(b, cfg, filepath.Join(dir, "x.yaml"))
	if err != nil {
		b.Fatal(err)
	}
	return e
}

// logRecord is some 4,900 tokens of a log.
func logRecord(from int) string {
	var text strings.Builder
	for i := range 132 {
		i += from
		fmt.Fprintf(&text, "2026-03-02T09:%02d:%02dZ ferryd: offer %d to courier %d took %d ms\n", i/60%60, i%60, i, i%7, i*i%997)
	}
	return text.String()
}

// BenchmarkLive is 20 runs of 40 turns against a server that takes 50 ms, journal on, into
// a new folder, client and server sharing the processors. The first takes 40 × 50 ms at the
// least: of-limit is how near to that the runs come, bare the same calls without the harness
// in the same minute, of-bare one by the other, which a busy machine moves least.
func BenchmarkLive(b *testing.B) {
	const queries, turns, latency = 20, 40, 50 * time.Millisecond
	server := fakeserver.Start(fakeserver.Config{Model: "m", Latency: latency, Reply: func(fakeserver.Request) fakeserver.Reply {
		return fakeserver.Reply{Text: gate.Decision{}.Reply()}
	}})
	defer server.Close()
	client, err := openai.New(openai.Config{BaseURL: server.BaseURL(), Model: "m", Limits: openai.Limits{MaxConnections: queries}})
	if err != nil {
		b.Fatal(err)
	}
	text := logRecord(0)
	var bare, evaluated time.Duration
	var bareCPU, used float64 // processor seconds
	rounds := 0
	for ; b.Loop(); rounds++ {
		start := cpu()
		bare += took(func() { callAll(b, client, queries, turns, text) })
		bareCPU += cpu() - start
		e := liveBench(b, client, queries, turns, text)
		start = cpu()
		evaluated += took(func() {
			if r, err := e.Run(b.Context()); err != nil || r.Count(record.Complete) != queries {
				b.Fatal(err, failures(r))
			}
		})
		used += cpu() - start
	}
	limit := time.Duration(rounds*turns) * latency
	b.ReportMetric(limit.Seconds()/bare.Seconds(), "bare-of-limit")
	b.ReportMetric(limit.Seconds()/evaluated.Seconds(), "of-limit")
	b.ReportMetric(bare.Seconds()/evaluated.Seconds(), "of-bare")
	b.ReportMetric(1e3*bareCPU/float64(rounds*queries*turns), "bare-cpu-ms/call")
	b.ReportMetric(1e3*used/float64(rounds*queries*turns), "cpu-ms/turn")
}

func took(do func()) time.Duration {
	start := time.Now()
	do()
	return time.Since(start)
}

// callAll makes a turn's calls one after the other, as many rows of them at a time as there
// are queries.
func callAll(b *testing.B, client *openai.Client, queries, turns int, text string) {
	var wg sync.WaitGroup
	for range queries {
		wg.Go(func() {
			for i := range turns {
				if _, err := client.Complete(b.Context(), loop.Request{Turn: i + 1, Attempt: 1, User: text, MaxTokens: 2048}); err != nil {
					b.Error(err)
				}
			}
		})
	}
	wg.Wait()
}

// liveBench is an experiment of a live model that client asks, in a folder of its own.
func liveBench(b *testing.B, client *openai.Client, queries, turns int, text string) prepared {
	cfg := config(b)
	cfg.Run.Live = true
	cfg.Models = func(m run.ModelFor) (loop.Model, error) { return client.Trial(m.Cell.Trial), nil }
	e := scripted5000(b, cfg, queries, turns, func(int) string { return text })
	e.Spec.Models[0].Live = &spec.Live{MaxConnections: yamlpos.At[int]{Value: queries, Place: e.Spec.At}}
	return e
}
