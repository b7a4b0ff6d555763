package main

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/poimen-memory/mem/scripted/fakeserver"
)

// diskSpec has logs of some hundred kilobytes.
func diskSpec(t *testing.T) (spec, dir string) {
	t.Helper()
	dir = t.TempDir()
	spec = filepath.Join(dir, "big.yaml")
	write(t, spec, `experiment: big
corpora: [{id: s, path: s.jsonl, chunk: {records: 1}}]
queries: [{id: q, text: "Which port?"}]
models: [{id: m, policy: always_update}]
`)
	write(t, filepath.Join(dir, "s.jsonl"), strings.Repeat(`{"role": "tool", "text": "Redis listens on 6380"}`+"\n", 300))
	return spec, dir
}

func evalInto(t *testing.T, spec, out string) (code int, said string) {
	var b bytes.Buffer
	code = execute(t.Context(), []string{"eval", spec, "--out", out}, strings.NewReader(""), &b, &b)
	return code, b.String()
}

// TestFullDisk fills a file system of a fixed size: at first while a log is written, then
// while a report is. Where no file system may be mounted, TestLogOnAFullDisk and
// TestFailedWriteKeepsTheFile say the same of each part.
func TestFullDisk(t *testing.T) {
	spec, dir := diskSpec(t)
	out := filepath.Join(dir, "small")
	if err := os.Mkdir(out, 0o777); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mount("mem-test", out, "tmpfs", 0, "size=64k"); err != nil {
		t.Skipf("no file system may be mounted here (%v): its parts are held by eval_that_cannot_write_more_is_3.txtar and TestFailedWriteKeepsTheFile", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(out, 0); err != nil {
			t.Error(err)
		}
	})
	for _, size := range []string{"64k", "200k", "220k", "240k", "260k", "280k", "16m"} {
		if err := syscall.Mount("mem-test", out, "tmpfs", syscall.MS_REMOUNT, "size="+size); err != nil {
			t.Fatal(err)
		}
		code, said := evalInto(t, spec, out)
		if full := strings.Contains(said, "no space left on device"); full != (code == 3) || code != 0 && code != 3 {
			t.Errorf("%s: exit code %d\n%s", size, code, said)
		}
		if code == 0 != (size == "16m") {
			t.Logf("%s: exit code %d", size, code)
		}
		var logs bytes.Buffer
		verified := execute(t.Context(), []string{"verify", out}, nil, &logs, &logs)
		if verified != 0 && verified != 3 {
			t.Errorf("%s: verify ends with %d\n%s", size, verified, &logs)
		}
		noneUnfinished(t, filepath.Join(out, "big"))
	}
	whole := filepath.Join(dir, "whole")
	if code, said := evalInto(t, spec, whole); code != 0 {
		t.Fatalf("exit code %d, want 0\n%s", code, said)
	}
	for _, name := range []string{"summary.json", "report.md", "junit.xml", "runs/s/q/L1/m/record/events.jsonl"} {
		if diff := cmp.Diff(read(t, filepath.Join(whole, "big", name)), read(t, filepath.Join(out, "big", name))); diff != "" {
			t.Errorf("%s differs once there was space (-undisturbed +repaired):\n%s", name, diff)
		}
	}
}

func noneUnfinished(t *testing.T, dir string) {
	t.Helper()
	left, err := filepath.Glob(filepath.Join(dir, ".*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v (%v)", left, err)
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Error(err)
	}
	return string(data)
}

// TestFullDiskIsNoticedBeforeACallIsPaid: while a live evaluation's disk is full it asks
// nothing, however often it is resumed; with space again it asks for what is missing, once.
func TestFullDiskIsNoticedBeforeACallIsPaid(t *testing.T) {
	server := fakeserver.Start(fakeserver.Config{Reply: answer, Model: "m", Key: testKey})
	defer server.Close()
	dir := liveExperiment(t, server.BaseURL())
	out := filepath.Join(dir, "reports")
	smallDisk(t, out)
	resume := func(args ...string) (int, string) {
		cmd := evalLive(t, dir, append([]string{"--resume"}, args...)...)
		said, _ := cmd.CombinedOutput()
		return cmd.ProcessState.ExitCode(), string(said)
	}
	if code, said := resume("--max-calls", "20"); code != 3 || server.Requests() != 20 {
		t.Fatalf("exit code %d, %d requests\n%s", code, server.Requests(), said)
	}
	filler := filepath.Join(out, "filler")
	if err := fill(filler); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if code, said := resume(); code != 3 || !strings.Contains(said, "no space left on device") {
			t.Errorf("exit code %d, want 3\n%s", code, said)
		}
		if n := server.Requests(); n != 20 {
			t.Errorf("%d requests with the disk full, want 20 from before", n)
		}
	}
	if err := os.Remove(filler); err != nil {
		t.Fatal(err)
	}
	code, said := resume()
	calls := 0
	for name, text := range artefacts(t, dir) {
		if filepath.Base(name) == "calls.jsonl" && strings.Contains(name, "record") {
			calls += strings.Count(text, "\n") - 2
		}
	}
	if code != 0 || server.Requests() != calls {
		t.Errorf("exit code %d, %d requests for %d calls\n%s", code, server.Requests(), calls, said)
	}
}

// TestHarmDuringARunIsNoticedBeforeTheNextCall: once the seventh call is answered on a disk
// that it fills, or from a folder that is gone or another, no call is made.
func TestHarmDuringARunIsNoticedBeforeTheNextCall(t *testing.T) {
	remove := func(name string) func(string) error {
		return func(dir string) error { return os.RemoveAll(filepath.Join(dir, name)) }
	}
	for name, test := range map[string]struct {
		harm func(dir string) error
		says string
	}{
		"out removed":     {remove("reports"), "reports/live was removed during the evaluation"},
		"folder removed":  {remove("reports/live"), "reports/live was removed during the evaluation"},
		"records removed": {remove("reports/live/runs"), "reports/live/runs was removed during the evaluation"},
		"folder replaced": {func(dir string) error {
			live := filepath.Join(dir, "reports/live")
			return errors.Join(os.Rename(live, live+".moved"), os.Mkdir(live, 0o777))
		}, "reports/live was replaced during the evaluation"},
		"disk full": {func(dir string) error { return fill(filepath.Join(dir, "reports/filler")) }, "no space left on device"},
	} {
		t.Run(name, func(t *testing.T) {
			var dir string
			var failed atomic.Value
			server := fakeserver.Start(fakeserver.Config{Model: "m", Key: testKey, Reply: func(r fakeserver.Request) fakeserver.Reply {
				if r.N == 7 {
					if err := test.harm(dir); err != nil {
						failed.Store(err)
					}
				}
				return answer(r)
			}})
			defer server.Close()
			dir = liveExperiment(t, server.BaseURL())
			rewrite(t, dir, "max_connections: 4", "max_connections: 1")
			if name == "disk full" {
				smallDisk(t, filepath.Join(dir, "reports"))
			}
			cmd := evalLive(t, dir)
			said, _ := cmd.CombinedOutput()
			if err := failed.Load(); err != nil {
				t.Fatal(err)
			}
			if code := cmd.ProcessState.ExitCode(); code != 3 || !strings.Contains(string(said), test.says) || strings.Contains(string(said), "run skipped") {
				t.Errorf("exit code %d, want 3, %q and no run skipped\n%s", code, test.says, said)
			}
			if n := server.Requests(); n != 7 {
				t.Errorf("%d requests, want none after 7", n)
			}
		})
	}
}

// TestReplyLostToAFullDiskIsAskedForAgain: the reply whose line did not fit is the only one that
// is paid for twice, and the record is whole after that.
func TestReplyLostToAFullDiskIsAskedForAgain(t *testing.T) {
	const lost = 7
	var filler string
	var failed atomic.Value
	server := fakeserver.Start(fakeserver.Config{Model: "m", Key: testKey, Reply: func(r fakeserver.Request) fakeserver.Reply {
		reply := answer(r)
		if r.N == lost {
			if err := fill(filler); err != nil {
				failed.Store(err)
			}
			reply.Reasoning = strings.Repeat("longer than what is left of a block ", 1<<10)
		}
		return reply
	}})
	defer server.Close()
	dir := liveExperiment(t, server.BaseURL())
	rewrite(t, dir, "max_connections: 4", "max_connections: 1")
	smallDisk(t, filepath.Join(dir, "reports"))
	filler = filepath.Join(dir, "reports/filler")
	said, _ := evalLive(t, dir).CombinedOutput()
	if err := failed.Load(); err != nil || server.Requests() != lost {
		t.Fatalf("%v, %d requests, want %d\n%s", err, server.Requests(), lost, said)
	}
	if err := os.Remove(filler); err != nil {
		t.Fatal(err)
	}
	cmd := evalLive(t, dir, "--resume")
	said, _ = cmd.CombinedOutput()
	calls := 0
	for name, text := range artefacts(t, dir) {
		if filepath.Base(name) == "calls.jsonl" && strings.Contains(name, "record") {
			calls += strings.Count(text, "\n") - 2
		}
	}
	if code := cmd.ProcessState.ExitCode(); code != 0 || server.Requests() != calls+1 {
		t.Errorf("exit code %d, %d requests for %d calls, want one more\n%s", code, server.Requests(), calls, said)
	}
	if code, out, errs := mem(t, dir, "verify", "reports"); code != 0 {
		t.Errorf("mem verify: exit code %d\n%s%s", code, out, errs)
	}
}

// smallDisk mounts a file system of 16 MB at dir.
func smallDisk(t *testing.T, dir string) {
	t.Helper()
	if err := os.Mkdir(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mount("mem-test", dir, "tmpfs", 0, "size=16m"); err != nil {
		t.Skipf("no file system may be mounted here (%v): TestNothingIsAskedThatCannotBeKept holds the parts", err)
	}
	t.Cleanup(func() { syscall.Unmount(dir, 0) })
}

// fill writes a file until the disk is full.
func fill(path string) error {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	for block := make([]byte, 1<<12); err == nil; {
		_, err = file.Write(block)
	}
	file.Close()
	if errors.Is(err, syscall.ENOSPC) {
		return nil
	}
	return err
}

// TestReadOnlyOut: a folder that cannot be written is found out before anything runs.
func TestReadOnlyOut(t *testing.T) {
	spec, dir := diskSpec(t)
	out := filepath.Join(dir, "reports")
	if code, said := evalInto(t, spec, out); code != 0 {
		t.Fatalf("exit code %d, want 0\n%s", code, said)
	}
	target := filepath.Join(out, "big")
	if os.Getuid() == 0 { // who may write in spite of the mode
		if err := syscall.Mount(target, target, "", syscall.MS_BIND, ""); err != nil {
			t.Skipf("no folder can be made read-only here: %v", err)
		}
		t.Cleanup(func() { syscall.Unmount(target, 0) })
		if err := syscall.Mount("", target, "", syscall.MS_REMOUNT|syscall.MS_BIND|syscall.MS_RDONLY, ""); err != nil {
			t.Fatal(err)
		}
	} else {
		if err := os.Chmod(target, 0o555); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { os.Chmod(target, 0o755) })
	}
	code, said := evalInto(t, spec, out)
	if code != 3 || !strings.HasPrefix(said, "big: 0 of 0 runs") && !strings.Contains(said, "mem: open "+target) {
		t.Errorf("exit code %d, want 3 and the folder\n%s", code, said)
	}
	if strings.Contains(said, "300 turns") {
		t.Errorf("it ran before it found out:\n%s", said)
	}
	for _, args := range [][]string{{"verify", out}, {"report", target}, {"report", target, "--explain", "exit_safe"}} { // readers
		var said bytes.Buffer
		if code := execute(t.Context(), args, nil, &said, &said); code != 0 {
			t.Errorf("%v: exit code %d\n%s", args, code, &said)
		}
	}
}
