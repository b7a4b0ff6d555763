//go:build linux

package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// process is the program as a user runs it, and what its runs came to.
type process struct {
	b    *testing.B
	path string
	runs int
	cpu  time.Duration // of all runs
	peak int64         // resident, KB, of the largest
	best time.Duration // wall time of the quickest
}

func built(b *testing.B) *process {
	b.Helper()
	path := filepath.Join(b.TempDir(), "mem")
	if out, err := exec.Command("go", "build", "-o", path, ".").CombinedOutput(); err != nil {
		b.Fatalf("%v\n%s", err, out)
	}
	return &process{b: b, path: path}
}

func (p *process) run(dir string, args ...string) {
	cmd := exec.Command(p.path, args...)
	var out bytes.Buffer
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, &out, &out
	start := time.Now()
	if err := cmd.Run(); err != nil {
		p.b.Fatalf("%v\n%s", err, &out)
	}
	took, used := time.Since(start), cmd.ProcessState.SysUsage().(*syscall.Rusage)
	if p.runs++; p.runs == 1 || took < p.best {
		p.best = took
	}
	p.cpu += cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	p.peak = max(p.peak, used.Maxrss)
}

// report gives the quickest run's wall time, for other processes only ever slow it.
func (p *process) report() {
	p.b.ReportMetric(float64(p.best.Microseconds())/1e3, "best-ms")
	p.b.ReportMetric(float64(p.cpu.Microseconds())/1e3/float64(p.runs), "cpu-ms/op")
	p.b.ReportMetric(float64(p.peak)/1e3, "peak-MB")
}

// BenchmarkVersion is how long mem takes to start: under 15 ms.
func BenchmarkVersion(b *testing.B) {
	p := built(b)
	for b.Loop() {
		p.run(".", "--version")
	}
	p.report()
}

// BenchmarkEval is mem eval of 20 queries over 40 chunks of 4,800 tokens.
func BenchmarkEval(b *testing.B) {
	p, dir := built(b), session(b, 20, 40)
	for b.Loop() {
		p.run(dir, "eval", "x.yaml")
	}
	p.report()
	b.ReportMetric(20*40*float64(p.runs)/p.cpu.Seconds(), "turns/cpu-s")
}

// BenchmarkGrowth reads 50 chunks, ten times and a hundred times as many: cost is linear in
// turns beyond what it takes to start, and memory flat beyond the 8 MiB of chunks that are kept.
func BenchmarkGrowth(b *testing.B) {
	built := built(b)
	for _, chunks := range []int{50, 500, 5000} {
		b.Run(fmt.Sprintf("chunks=%d", chunks), func(b *testing.B) {
			p, dir := &process{b: b, path: built.path}, session(b, 1, chunks)
			for b.Loop() {
				p.run(dir, "eval", "x.yaml")
			}
			p.report()
			b.ReportMetric(float64(p.cpu.Microseconds())/1e3/float64(p.runs*chunks), "cpu-ms/turn")
		})
	}
}

// session lays out a spec of some queries over so many chunks, and a policy that writes
// nothing. The corpus goes to its file as it is made: a child's peak memory is at least what
// its parent had.
func session(b *testing.B, queries, chunks int) (dir string) {
	b.Helper()
	dir = b.TempDir()
	var spec strings.Builder
	spec.WriteString("experiment: x\ncorpora: [{id: s, path: s.jsonl, chunk: {records: 1}}]\nmodels: [{id: never, policy: never_update}]\nqueries:\n")
	for i := range queries {
		fmt.Fprintf(&spec, "  - {id: q%d, text: \"Which port does service %d listen on?\"}\n", i, i)
	}
	if err := os.WriteFile(filepath.Join(dir, "x.yaml"), []byte(spec.String()), 0o600); err != nil {
		b.Fatal(err)
	}
	corpus, err := os.Create(filepath.Join(dir, "s.jsonl"))
	if err != nil {
		b.Fatal(err)
	}
	defer corpus.Close()
	for i := range chunks {
		if _, err := fmt.Fprintf(corpus, "{\"role\": \"tool\", \"text\": %q}\n", logOf(i)); err != nil {
			b.Fatal(err)
		}
	}
	return dir
}

// logOf is the n-th piece of a log, of some 4,800 tokens, unlike the others.
func logOf(n int) string {
	var text strings.Builder
	for i := n * 140; i < n*140+140; i++ {
		fmt.Fprintf(&text, "2026-03-02T09:%02d:%02dZ ferryd: offer %d to courier %d took %d ms\n", i/60%60, i%60, i, i%7, i%9973*i%997)
	}
	return text.String()
}
