package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
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
	code = run(t.Context(), []string{"eval", spec, "--out", out}, strings.NewReader(""), &b, &b)
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
		verified := run(t.Context(), []string{"verify", out}, nil, &logs, &logs)
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
			t.Errorf("%s is another once there was room (-undisturbed +repaired):\n%s", name, diff)
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

// TestReadOnlyOut: a folder that cannot be written is found out before anything runs.
func TestReadOnlyOut(t *testing.T) {
	spec, dir := diskSpec(t)
	out := filepath.Join(dir, "reports")
	if code, said := evalInto(t, spec, out); code != 0 {
		t.Fatalf("exit code %d, want 0\n%s", code, said)
	}
	target := filepath.Join(out, "big")
	if os.Getuid() == 0 { // whom no mode stops
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
}
