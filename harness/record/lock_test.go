package record

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/gofrs/flock"
)

func TestLockHasOneHolder(t *testing.T) {
	f := Folder{Dir: t.TempDir()}
	unlock, err := Lock(f, "mem eval")
	if err != nil {
		t.Fatal(err)
	}
	_, err = Lock(f, "mem judge")
	held, ok := errors.AsType[*Held](err)
	if !ok || held.By == nil || held.By.PID != os.Getpid() {
		t.Fatalf("the second is told %v", err)
	}
	host, _ := os.Hostname()
	for _, want := range []string{`"mem eval"`, "process ", host, " UTC", "--out"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q does not say %s", err, want)
		}
	}
	if err := unlock(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(f.Dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a folder in which nothing was written is left behind: %v", err)
	}
	if err := f.Make(); err != nil {
		t.Fatal(err)
	}
	if unlock, err = Lock(f, "mem judge"); err != nil {
		t.Fatal(err)
	}
	unlock()
}

// TestLockHeldBySomeoneWhoSaysNothing: a message that cannot be read is none, and what a
// message says is quoted.
func TestLockHeldBySomeoneWhoSaysNothing(t *testing.T) {
	f := Folder{Dir: t.TempDir()}
	unlock, err := Lock(f, "mem eval")
	if err != nil {
		t.Fatal(err)
	}
	defer unlock()
	for message, want := range map[string]string{
		"{": "in use by another process",
		`{"command":"x\u001b[31m","host":"h\n::error::","pid":1,"since":"2026-01-02T03:04:05Z"}`: `"x\x1b[31m", process 1 on host "h\n::error::" since 2026-01-02 03:04:05 UTC`,
	} {
		if err := os.WriteFile(f.Path(holderFile), []byte(message), 0o666); err != nil {
			t.Fatal(err)
		}
		if _, err := Lock(f, "mem eval"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", message, err, want)
		}
	}
}

// TestKilledHolderIsSucceeded: the files that a killed process leaves hold nothing.
func TestKilledHolderIsSucceeded(t *testing.T) {
	const dirIs = "MEM_TEST_LOCK"
	if dir := os.Getenv(dirIs); dir != "" {
		if _, err := Lock(Folder{Dir: dir}, "mem eval"); err != nil {
			t.Fatal(err)
		}
		os.Stdout.WriteString("locked\n")
		io.Copy(io.Discard, os.Stdin) // until it is killed
		return
	}
	f := Folder{Dir: t.TempDir()}
	cmd := exec.Command(os.Args[0], "-test.run=^TestKilledHolderIsSucceeded$")
	cmd.Env = append(os.Environ(), dirIs+"="+f.Dir)
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer stdin.Close()
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(out, make([]byte, len("locked\n"))); err != nil {
		t.Fatal(err)
	}
	if _, err := Lock(f, "mem eval"); err == nil {
		t.Error("two processes hold the folder")
	} else if held, ok := errors.AsType[*Held](err); !ok || held.By == nil || held.By.PID != cmd.Process.Pid {
		t.Errorf("the second is told %v", err)
	}
	cmd.Process.Kill()
	cmd.Wait()
	if _, err := os.Stat(f.Path(holderFile)); err != nil {
		t.Errorf("the killed process left no message: %v", err)
	}
	unlock, err := Lock(f, "mem eval")
	if err != nil {
		t.Fatal(err)
	}
	unlock()
}

// TestLockIsRemovedUnderItsHolder: many lock and unlock, which removes the file each time, and
// never two at once.
func TestLockIsRemovedUnderItsHolder(t *testing.T) {
	f := Folder{Dir: t.TempDir()}
	if err := os.WriteFile(f.Path("stays"), nil, 0o666); err != nil {
		t.Fatal(err)
	}
	var inside sync.Mutex
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			for taken := 0; taken < 50; {
				unlock, err := Lock(f, "mem eval")
				if _, held := errors.AsType[*Held](err); held {
					continue
				}
				if err != nil {
					t.Error(err)
					return
				}
				taken++
				if !inside.TryLock() {
					t.Error("two hold the folder")
				} else {
					inside.Unlock()
				}
				unlock()
			}
		})
	}
	group.Wait()
}

func TestUnlockableFolder(t *testing.T) {
	f := Folder{Dir: t.TempDir()}
	_, err := lock(f, "mem eval", func(*flock.Flock) (bool, error) { return false, syscall.ENOLCK })
	if _, ok := errors.AsType[*Unlockable](err); !ok || !strings.Contains(err.Error(), "--no-lock") {
		t.Errorf("%v", err)
	}
	if _, err := Lock(Folder{Dir: f.Path("none")}, "mem eval"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a folder that does not exist: %v", err)
	}
}

// TestShardsShareAFolder: shards of one number come and go without being refused, and leave
// nothing; one of another number, and whoever wants the folder alone, is.
func TestShardsShareAFolder(t *testing.T) {
	f := Folder{Dir: t.TempDir()}
	const n = 6
	other := f.Path("other")
	if err := os.WriteFile(other, nil, 0o666); err != nil { // else the folder goes with the last lock
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for i := 1; i <= n; i++ {
		wg.Go(func() {
			for range 40 {
				unlock, err := LockShard(f, "mem eval", i, n)
				if err != nil {
					t.Errorf("shard %d: %v", i, err)
					return
				}
				if _, err := Lock(f, "mem judge"); !isHeld(err, 0) {
					t.Errorf("judge beside shard %d: %v", i, err)
				}
				if err := unlock(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if entries, err := os.ReadDir(f.Dir); err != nil || len(entries) != 1 {
		t.Errorf("left: %v, %v", entries, err)
	}
	held, err := LockShard(f, "mem eval", 3, n)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := LockShard(f, "mem eval", 1, n+1); !isHeld(err, n) {
		t.Errorf("1/%d beside 3/%d: %v", n+1, n, err)
	}
	if _, err := LockShard(f, "mem eval", 3, n); !isHeld(err, 0) {
		t.Errorf("3/%d twice: %v", n, err)
	}
	if err := errors.Join(held(), os.Remove(other)); err != nil {
		t.Fatal(err)
	}
	// What killed shards left does not count.
	for _, name := range []string{shardLock(2, n), holderOf(shardLock(2, n))} {
		if err := os.WriteFile(f.Path(name), nil, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	unlock, err := LockShard(f, "mem eval", 1, n+1)
	if err != nil {
		t.Fatal(err)
	}
	if err := unlock(); err != nil {
		t.Fatal(err)
	}
	if entries, err := os.ReadDir(f.Dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("left: %v, %v", entries, err)
	}
}

func isHeld(err error, shards int) bool {
	held, ok := errors.AsType[*Held](err)
	return ok && held.Shards == shards
}
