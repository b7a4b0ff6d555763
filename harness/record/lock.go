package record

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/gofrs/flock"

	"github.com/poimen-memory/mem/harness/atomicfile"
	"github.com/poimen-memory/mem/internal/inputfile"
)

// The files of a lock. The kernel's advisory lock on the first one alone decides; the second
// is a message for whoever comes second.
const (
	lockFile   = ".lock"
	holderFile = ".lock-holder"
)

// Holder is who holds a folder.
type Holder struct {
	Command string    `json:"command"`
	PID     int       `json:"pid"`
	Host    string    `json:"host"`
	Since   time.Time `json:"since"`
}

// Held is the error of locking a folder that another process holds.
type Held struct {
	Dir    string
	By     *Holder // nil: not known
	Shards int     // shards of this number hold it, and another number was asked for; 0: not so
}

func (e *Held) Error() string {
	who := "another process"
	if e.By != nil {
		who = fmt.Sprintf("%.40q, process %d on host %.80q since %s", e.By.Command, e.By.PID, e.By.Host, e.By.Since.UTC().Format(time.DateTime+" UTC"))
	}
	if e.Shards > 0 {
		return fmt.Sprintf("%s is in use by shards of %d, %s: shards of another number divide the runs in another way: want --shard I/%d, or another --out", e.Dir, e.Shards, who, e.Shards)
	}
	return fmt.Sprintf("%s is in use by %s: wait until it has ended, or write elsewhere with --out", e.Dir, who)
}

// Unlockable is the error of a folder whose file system has no locks.
type Unlockable struct {
	Dir string
	Err error
}

func (e *Unlockable) Error() string {
	return fmt.Sprintf("%s cannot be locked: %v: if nothing else writes there, use --no-lock", e.Dir, e.Err)
}

func (e *Unlockable) Unwrap() error { return e.Err }

// Lock takes the folder for one process that writes into it, without waiting. The error is a
// *Held, an *Unlockable, or that of a folder that cannot be written. What a killed process
// left is taken over. Readers need no lock: files are replaced whole.
func Lock(f Folder, command string) (unlock func() error, err error) {
	return lock(f, command, (*flock.Flock).TryLock)
}

func lock(f Folder, command string, how func(*flock.Flock) (bool, error)) (unlock func() error, err error) {
	if err := Confine(f); err != nil {
		return nil, err
	}
	lock, err := try(f, lockFile, how)
	if err != nil {
		return nil, err
	}
	unlock = func() error { return release(f, lock) }
	if err := leaveHolder(f, holderFile, command); err != nil {
		return nil, errors.Join(err, unlock())
	}
	return unlock, nil
}

// try locks a file of the folder.
func try(f Folder, name string, how func(*flock.Flock) (bool, error)) (*flock.Flock, error) {
	file := flock.New(f.Path(name), flock.SetPermissions(0o666))
	for {
		got, err := how(file)
		_, path := errors.AsType[*fs.PathError](err)
		switch {
		case path:
			return nil, err
		case err != nil:
			os.Remove(file.Path())
			return nil, &Unlockable{f.Dir, err}
		case !got:
			return nil, &Held{Dir: f.Dir, By: readHolder(f, name)}
		case current(file):
			return file, nil
		}
		file.Unlock() // of a file that its holder removed meanwhile
	}
}

// current reports whether the locked file is still the one that others would lock.
func current(lock *flock.Flock) bool {
	locked, err := lock.Stat()
	named, missing := os.Stat(lock.Path())
	return err == nil && missing == nil && os.SameFile(locked, named)
}

// leaveHolder leaves the message.
func leaveHolder(f Folder, name, command string) error {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	h := Holder{Command: command, PID: os.Getpid(), Host: host, Since: time.Now().UTC().Truncate(time.Second)}
	return atomicfile.Write(f.Path(name), func(w io.Writer) error { return json.NewEncoder(w).Encode(h) })
}

// release removes the files of the lock while it is held, so that no other lock's are removed.
// Where a system does not remove an open file, it is removed after that; another process that
// has opened it then keeps it.
func release(f Folder, lock *flock.Flock) error {
	os.Remove(f.Path(holderFile)) // a message that stays is ignored
	err := os.Remove(lock.Path())
	if unlocked := lock.Unlock(); unlocked != nil {
		return unlocked
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		os.Remove(lock.Path())
	}
	if info, err := os.Lstat(f.Dir); err == nil && info.IsDir() { // not a link that names it
		os.Remove(f.Dir) // if nothing was written there
	}
	return nil
}

// readHolder reads the message of who locked a file of the folder, nil if there is none. Who
// holds the folder may be shards: the message is that of one of them.
func readHolder(f Folder, lock string) *Holder {
	paths := []string{f.Path(holderOf(lock))}
	if lock == lockFile {
		entries, _ := os.ReadDir(f.Dir) // a message that cannot be read is none
		for _, e := range entries {
			if strings.HasPrefix(e.Name(), holderFile+shardMark) {
				paths = append(paths, f.Path(e.Name()))
			}
		}
	}
	for _, path := range paths {
		var h Holder
		if data, err := inputfile.Read(path, inputfile.MaxSpec); err == nil && json.Unmarshal(data, &h) == nil {
			return &h
		}
	}
	return nil
}

// holderOf is the file of the message that belongs to a lock.
func holderOf(lock string) string { return holderFile + strings.TrimPrefix(lock, lockFile) }
