package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/testscript"

	"github.com/poimen-memory/mem/harness/record"
)

func TestMain(m *testing.M) {
	os.Setenv("GORACE", raceOptions) // for the processes that tests start
	testscript.Main(m, map[string]func(){"mem": main, "stuck": stuck, "reader": reader})
}

// A process under the race detector else sleeps for a second before it exits.
const raceOptions = "atexit_sleep_ms=0"

// reader is a program that a spec names as command: it finds a port, and says on its standard
// error how often it was asked. With an argument it ends instead.
func reader() {
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		os.Stderr.WriteString("asked\n")
		if len(os.Args) > 1 {
			os.Stderr.WriteString("no model at \x1b[31m" + os.Args[1] + "\n")
			os.Exit(4)
		}
		text := "<check>no</check><update></update><next>continue</next>"
		if strings.Contains(in.Text(), "port 6380") {
			text = "<check>yes</check><update>The port is 6380.</update><next>end</next>"
		}
		said, _ := json.Marshal(map[string]any{"content": text, "usage": map[string]int{"prompt_tokens": 300, "completion_tokens": 20}})
		log, _ := os.OpenFile("asked", os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o666) // beside the spec
		log.WriteString("asked\n")
		log.Close()
		os.Stdout.Write(append(said, '\n'))
	}
}

// stuck is a process that a first signal does not end: it says in two files when it waits
// for one, and that it has it, and goes on for good.
func stuck() {
	ctx := interruptible()
	os.WriteFile("asked", []byte("ready"), 0o666)
	<-ctx.Done()
	os.WriteFile("asked twice", []byte("ready"), 0o666)
	time.Sleep(time.Hour)
}

// TestScript runs the commands as a shell does. A script's file name is what it shows. With
// -short, which is how the race detector looks on, it runs those that do things at once.
func TestScript(t *testing.T) {
	dir, files := "testdata/script", []string(nil)
	if testing.Short() {
		dir = ""
		for _, of := range []string{"eval", "live"} {
			found, err := filepath.Glob("testdata/script/" + of + "_*.txtar")
			if err != nil || len(found) == 0 {
				t.Fatalf("no scripts of %s: %v", of, err)
			}
			files = append(files, found...)
		}
	}
	testscript.Run(t, testscript.Params{
		Dir:                 dir,
		Files:               files,
		RequireUniqueNames:  true,
		RequireExplicitExec: true,
		Setup: func(env *testscript.Env) error {
			tokenizers, err := filepath.Abs("../../prompt/token/testdata/tokenizers")
			env.Setenv("TOKENIZERS", tokenizers)
			env.Setenv("GORACE", raceOptions)
			env.Values[serverKey{}] = &running{}
			env.Values[lockKey{}] = new(func() error)
			return err
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits": exits, "interrupt": interrupt, "interrupttwice": interruptTwice, "records": records, "sametree": sameTree,
			"cut": cut, "edit": edit, "holds": holds, "serve": serve, "requests": requests,
			"aside": aside, "holdlock": holdLock, "holdshard": holdShard, "releaselock": releaseLock,
		},
	})
}

// exits CODE COMMAND… runs a command that must end with the code.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	err := ts.Exec(args[1], args[2:]...)
	code := 0
	if e, ok := errors.AsType[*exec.ExitError](err); ok {
		code = e.ExitCode()
	} else {
		ts.Check(err)
	}
	if neg || strconv.Itoa(code) != args[0] {
		ts.Fatalf("exit code is %d, want %s", code, args[0])
	}
}

// interrupt FILE COMMAND… runs a command, sends it SIGINT once FILE holds something, and
// wants exit code 130 and the command that goes on.
func interrupt(ts *testscript.TestScript, _ bool, args []string) {
	var out, stderr bytes.Buffer
	path, err := lookPath(ts.Getenv("PATH"), args[1])
	ts.Check(err)
	cmd := exec.Command(path, args[2:]...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = ts.Getenv("WORK"), &out, &stderr
	cmd.Env = []string{"PATH=" + ts.Getenv("PATH"), "HOME=" + ts.Getenv("HOME"), "GORACE=" + raceOptions, "MEM_TEST_URL=" + ts.Getenv("MEM_TEST_URL"), "MEM_TEST_KEY=" + testKey}
	ts.Check(cmd.Start())
	interruptOnce(ts, cmd, args[0])
	wait(cmd)
	ts.Logf("[stdout]\n%s[stderr]\n%s", &out, &stderr)
	if code := cmd.ProcessState.ExitCode(); code != 130 {
		ts.Fatalf("exit code is %d, want 130", code)
	}
	resume := "mem: to go on: " + strings.Join(args[1:], " ")
	if slices.Contains(args, "--live") {
		resume += " --resume"
	}
	for _, want := range []string{"interrupted", resume + "\n"} {
		if !strings.Contains(stderr.String(), want) {
			ts.Fatalf("stderr does not say %q", want)
		}
	}
}

// interrupttwice FILE1 FILE2 COMMAND… runs a command and sends it SIGINT once FILE1 holds
// something, and again once FILE2 does, which must end it as that signal does.
func interruptTwice(ts *testscript.TestScript, _ bool, args []string) {
	path, err := lookPath(ts.Getenv("PATH"), args[2])
	ts.Check(err)
	cmd := exec.Command(path, args[3:]...)
	cmd.Dir = ts.Getenv("WORK")
	ts.Check(cmd.Start())
	interruptOnce(ts, cmd, args[0])
	interruptOnce(ts, cmd, args[1])
	wait(cmd)
	if status := cmd.ProcessState.Sys().(syscall.WaitStatus); !status.Signaled() || status.Signal() != syscall.SIGINT {
		ts.Fatalf("it ended with %v, want by the signal", cmd.ProcessState)
	}
}

// wait gives a command some minutes to end.
func wait(cmd *exec.Cmd) {
	late := time.AfterFunc(5*time.Minute, func() { cmd.Process.Kill() })
	defer late.Stop()
	cmd.Wait()
}

// interruptOnce sends SIGINT once a file holds something.
func interruptOnce(ts *testscript.TestScript, cmd *exec.Cmd, file string) {
	for deadline := time.Now().Add(5 * time.Minute); size(ts.MkAbs(file)) == 0; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			cmd.Process.Kill()
			ts.Fatalf("%s holds nothing after five minutes", file)
		}
	}
	ts.Check(cmd.Process.Signal(os.Interrupt))
}

// aside FOLDER FOLDERS RECORDS wants that many folders of records that were moved away, with
// that many records in all, and removes them.
func aside(ts *testscript.TestScript, _ bool, args []string) {
	dirs, err := filepath.Glob(filepath.Join(ts.MkAbs(args[0]), "runs.*"))
	ts.Check(err)
	n := 0
	for _, dir := range dirs {
		ts.Check(filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
			if err == nil && d.Name() == record.Calls {
				n++
			}
			return err
		}))
		ts.Check(os.RemoveAll(dir))
	}
	if want := args[1] + " " + args[2]; fmt.Sprint(len(dirs), " ", n) != want {
		ts.Fatalf("%d folders with %d records, want %s", len(dirs), n, want)
	}
}

type lockKey struct{}

// holdlock FOLDER locks a folder as an evaluation does, until releaselock.
func holdLock(ts *testscript.TestScript, _ bool, args []string) {
	unlock, err := record.Lock(record.Folder{Dir: ts.MkAbs(args[0])}, "mem eval")
	ts.Check(err)
	*ts.Value(lockKey{}).(*func() error) = unlock
}

// holdshard I N FOLDER locks a folder as a shard does, until releaselock.
func holdShard(ts *testscript.TestScript, _ bool, args []string) {
	i, err := strconv.Atoi(args[0])
	ts.Check(err)
	n, err := strconv.Atoi(args[1])
	ts.Check(err)
	unlock, err := record.LockShard(record.Folder{Dir: ts.MkAbs(args[2])}, "mem eval", i, n)
	ts.Check(err)
	*ts.Value(lockKey{}).(*func() error) = unlock
}

func releaseLock(ts *testscript.TestScript, _ bool, _ []string) {
	ts.Check((*ts.Value(lockKey{}).(*func() error))())
}

func lookPath(path, name string) (string, error) {
	for _, dir := range filepath.SplitList(path) {
		if p, err := exec.LookPath(filepath.Join(dir, name)); err == nil {
			return p, nil
		}
	}
	return "", fmt.Errorf("%s is not in %s", name, path)
}

func size(path string) int64 {
	info, err := os.Stat(path)
	if err != nil {
		return 0
	}
	return info.Size()
}

// records N FILE writes a corpus of N records, every tenth with the same word in it.
func records(ts *testscript.TestScript, _ bool, args []string) {
	n, err := strconv.Atoi(args[0])
	ts.Check(err)
	var b bytes.Buffer
	for i := range n {
		text := fmt.Sprintf("step %d of the build went well", i)
		if i%10 == 0 {
			text += ", port 6380"
		}
		fmt.Fprintf(&b, `{"role": "tool", "id": "r%d", "text": "%s"}`+"\n", i, text)
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), b.Bytes(), 0o666))
}

// sametree DIR1 DIR2 wants the same files with the same bytes, but for timing.json, which
// is also a part of a live experiment's page.
func sameTree(ts *testscript.TestScript, neg bool, args []string) {
	a, b := tree(ts, args[0]), tree(ts, args[1])
	if len(a) == 0 {
		ts.Fatalf("%s holds no file", args[0])
	}
	if diff := cmp.Diff(a, b); (diff == "") == neg {
		ts.Fatalf("trees are the same: %v, want %v\n%s", !neg, neg, diff)
	}
}

func tree(ts *testscript.TestScript, dir string) map[string]string {
	files := map[string]string{}
	root := ts.MkAbs(dir)
	ts.Check(filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || d.Name() == "timing.json" {
			return err
		}
		data, err := os.ReadFile(path)
		files[strings.TrimPrefix(path, root)] = timeless(answered(string(data)))
		return err
	}))
	return files
}

// answered leaves out of a journal the calls that brought no reply, and the digests over them:
// an interrupt may or may not catch one waiting, and a replay skips them.
func answered(text string) string {
	var kept strings.Builder
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, `{"turn":`) || !strings.Contains(line, `"reply":"","error":"`) {
			kept.WriteString(overLines.ReplaceAllString(line, ""))
		}
	}
	return kept.String()
}

var overLines = regexp.MustCompile(`,"(chain|journal_sha256)":"[0-9a-f]{64}"`)

// timeless is a file without the part of a page that tells of times.
func timeless(text string) string { return timingPart.ReplaceAllString(text, "") }

var timingPart = regexp.MustCompile(`(?s)<details id="timing">.*?</details>`)

// cut FILE N takes the last N bytes off a file.
func cut(ts *testscript.TestScript, _ bool, args []string) {
	n, err := strconv.ParseInt(args[1], 10, 64)
	ts.Check(err)
	path := ts.MkAbs(args[0])
	ts.Check(os.Truncate(path, size(path)-n))
}

// edit FILE REGEXP TEXT replaces all matches in a file.
func edit(ts *testscript.TestScript, _ bool, args []string) {
	pattern, err := regexp.Compile(args[1])
	ts.Check(err)
	old := ts.ReadFile(args[0])
	if !pattern.MatchString(old) {
		ts.Fatalf("%s does not match %s", args[0], pattern)
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(pattern.ReplaceAllString(old, args[2])), 0o666))
}

// holds DIR NAME… wants exactly these entries in a folder.
func holds(ts *testscript.TestScript, _ bool, args []string) {
	entries, err := os.ReadDir(ts.MkAbs(args[0]))
	ts.Check(err)
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	if diff := cmp.Diff(args[1:], names); diff != "" {
		ts.Fatalf("%s (-want +got):\n%s", args[0], diff)
	}
}

// TestCancelled: a context that is cancelled before anything begins is an interrupt, and
// leaves what is there as it was.
func TestCancelled(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "s.yaml"), "experiment: x\ncorpora: [{id: a, path: a.jsonl}]\nqueries: [{id: q, text: \"Q?\"}]\nmodels: [{id: m, policy: lexical}]\n")
	write(t, filepath.Join(dir, "a.jsonl"), `{"role": "tool", "text": "hello"}`+"\n")
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	var stdout, stderr bytes.Buffer
	out := filepath.Join(dir, "reports")
	code := execute(ctx, []string{"eval", filepath.Join(dir, "s.yaml"), "--out", out}, strings.NewReader(""), &stdout, &stderr)
	if code != 130 || !strings.HasPrefix(stderr.String(), "mem: interrupted\nmem: to go on: mem eval ") {
		t.Errorf("exit code %d, stderr %q, want 130 and that it was interrupted", code, &stderr)
	}
	if _, err := os.Stat(out); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the output folder: %v, want none", err)
	}
}

// TestCancelledBetweenExperiments: what was not begun is an interrupt too, though every
// run that was begun has ended well.
func TestCancelledBetweenExperiments(t *testing.T) {
	dir := t.TempDir()
	args := []string{"eval", "--out", filepath.Join(dir, "reports")}
	for _, name := range []string{"x", "y"} {
		spec := filepath.Join(dir, name+".yaml")
		write(t, spec, "experiment: "+name+"\ncorpora: [{id: a, path: a.jsonl}]\nqueries: [{id: q, text: \"Q?\"}]\nmodels: [{id: m, policy: lexical}]\n")
		args = append(args, spec)
	}
	write(t, filepath.Join(dir, "a.jsonl"), `{"role": "tool", "text": "hello"}`+"\n")
	ctx, cancel := context.WithCancel(context.Background())
	var stderr bytes.Buffer
	code := execute(ctx, args, strings.NewReader(""), onWrite(cancel), &stderr) // the first result cancels
	if code != 130 || !strings.Contains(stderr.String(), "mem: interrupted\n") {
		t.Errorf("exit code %d, stderr %q, want 130 and that it was interrupted", code, &stderr)
	}
	if _, err := os.Stat(filepath.Join(dir, "reports", "x", "summary.json")); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "reports", "y")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the second experiment's folder: %v, want none", err)
	}
}

type onWrite func()

func (f onWrite) Write(p []byte) (int, error) {
	f()
	return len(p), nil
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}
