package progress_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/poimen-memory/mem/harness/progress"
	"github.com/poimen-memory/mem/harness/run"
)

// TestLongWaitsAreSaidInLogs, once for all calls that wait together, and short ones not.
func TestLongWaitsAreSaidInLogs(t *testing.T) {
	var log bytes.Buffer
	p := &progress.Display{W: &log}
	p.At(run.Progress{Experiment: "x"})
	now, why := time.Now(), fmt.Errorf("status 429: slow down")
	p.Waiting("m", now.Add(10*time.Second), why)
	p.Waiting("m", now.Add(60*time.Second), why)
	p.Waiting("m", now.Add(62*time.Second), why)
	p.Waiting("m", now.Add(120*time.Second), why)
	lines := strings.Split(strings.TrimSpace(log.String()), "\n")
	if len(lines) != 2 || !strings.HasPrefix(lines[0], "x: m waits 1m0s, until ") || !strings.HasSuffix(lines[0], "status 429: slow down") {
		t.Errorf("the log says:\n%s", &log)
	}
}

// TestEndSaysHowFarItCame: without a bar one line is left of an experiment, none when quiet.
func TestEndSaysHowFarItCame(t *testing.T) {
	for quiet, want := range map[bool]string{false: "x: 2 of 3 runs, 14 turns\n", true: ""} {
		var log bytes.Buffer
		p := &progress.Display{W: &log, Quiet: quiet}
		p.Begin(nil)
		p.At(run.Progress{Experiment: "x", Runs: 2, OfAll: 3, Turns: 14})
		p.End()
		if log.String() != want {
			t.Errorf("quiet %v: the log says %q, want %q", quiet, &log, want)
		}
	}
}
