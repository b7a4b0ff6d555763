package main

import (
	"fmt"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/poimen-memory/mem/scripted/fakeserver"
)

// TestKilledShards: shards of a live evaluation, which are killed at random and started again
// with --resume by an engine, leave what one undisturbed process does; with one folder together,
// and with one each that are merged.
func TestKilledShards(t *testing.T) {
	server := fakeserver.Start(fakeserver.Config{Reply: answer, Model: "m", Key: testKey, Latency: latency})
	defer server.Close()
	calm := liveExperiment(t, server.BaseURL())
	if out, err := evalLive(t, calm).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	want := normal(artefacts(t, calm), server.BaseURL())
	for _, shared := range []bool{true, false} {
		dir := liveExperiment(t, server.BaseURL())
		out := func(int) string { return "reports" }
		if !shared {
			out = func(i int) string { return fmt.Sprintf("shards/%d", i) }
		}
		const n = 3
		killed := make([]int, n+1)
		var engine sync.WaitGroup
		for i := 1; i <= n; i++ {
			random := rand.New(rand.NewPCG(uint64(i), 4711))
			engine.Go(func() { killed[i] = startUntilComplete(t, random, dir, fmt.Sprintf("%d/%d", i, n), out(i)) })
		}
		engine.Wait()
		if killed[1]+killed[2]+killed[3] == 0 {
			t.Error("no shard was killed")
		}
		if !shared {
			memIn(t, dir, "merge", "reports", "shards/3", "shards/1", "shards/2")
			memIn(t, dir, "merge", "reports", "shards/1", "shards/2", "shards/3") // again adds nothing
		}
		memIn(t, dir, "judge", "live.yaml")
		got := normal(artefacts(t, dir), server.BaseURL())
		delete(got, filepath.Join("reports", "live", "runs", "expected.json"))
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("one folder: %v: artefacts (-one machine +shards, %v kills):\n%.4000s", shared, killed, diff)
		}
	}
}

// startUntilComplete starts a shard again until it ends by itself, and returns how often it was
// killed.
func startUntilComplete(t *testing.T, random *rand.Rand, dir, shard, out string) (killed int) {
	for killed < 20 {
		cmd := evalLive(t, dir, "--resume", "--shard", shard, "--out", out)
		var stderr strings.Builder
		cmd.Stderr = &stderr
		if err := cmd.Start(); err != nil {
			t.Error(err)
			return killed
		}
		kill := time.AfterFunc(time.Duration(50+random.IntN(300))*time.Millisecond, func() {
			if killed < 4 {
				cmd.Process.Kill()
			}
		})
		err := cmd.Wait()
		kill.Stop()
		if err == nil {
			return killed
		}
		if status := cmd.ProcessState.Sys().(syscall.WaitStatus); !status.Signaled() {
			t.Errorf("shard %s: %v\n%s", shard, err, &stderr)
			return killed
		}
		killed++
	}
	t.Errorf("shard %s does not end", shard)
	return killed
}

// memIn runs a command that must end with 0.
func memIn(t *testing.T, dir string, args ...string) {
	t.Helper()
	cmd := exec.Command("mem", args...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("mem %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}
