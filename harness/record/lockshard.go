package record

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/gofrs/flock"
)

// shardMark follows the name of a lock, or of its message, in those of a shard.
const shardMark = "-shard-"

// shardLock is the file that shard i of n locks beside the folder's own.
func shardLock(i, n int) string { return fmt.Sprintf("%s%s%d-of-%d", lockFile, shardMark, i, n) }

// LockShard takes the folder for shard i of n, processes that write into it together: the
// folder's lock shared, and the shard's own alone. The error is that of Lock, also where shards
// of another number are at work, for they divide the runs in another way.
func LockShard(f Folder, command string, i, n int) (unlock func() error, err error) {
	if err := Confine(f); err != nil {
		return nil, err
	}
	folder, err := tryShared(f)
	if err != nil {
		return nil, err
	}
	own, err := try(f, shardLock(i, n), (*flock.Flock).TryLock)
	if err != nil {
		return nil, errors.Join(err, releaseShared(f, folder))
	}
	unlock = func() error {
		os.Remove(f.Path(holderOf(shardLock(i, n))))
		os.Remove(own.Path())
		return errors.Join(own.Unlock(), releaseShared(f, folder))
	}
	// After its own lock: of two that begin together, one sees the other.
	err = errors.Join(checkShards(f, n), leaveHolder(f, holderOf(shardLock(i, n)), command))
	if err != nil {
		return nil, errors.Join(err, unlock())
	}
	return unlock, nil
}

// tryShared shares the folder's lock. It waits for a moment: the last of earlier shards takes the
// lock alone to remove it.
func tryShared(f Folder) (lock *flock.Flock, err error) {
	for range 20 {
		lock, err = try(f, lockFile, (*flock.Flock).TryRLock)
		if _, held := errors.AsType[*Held](err); !held {
			break
		}
		time.Sleep(20 * time.Millisecond)
	}
	return lock, err
}

// releaseShared lets go of the folder's lock, and removes it if no other process shares it.
func releaseShared(f Folder, lock *flock.Flock) error {
	if alone, err := lock.TryLock(); err == nil && alone && current(lock) {
		os.Remove(lock.Path())
	}
	err := lock.Unlock()
	os.Remove(f.Dir) // if nothing was written there
	return err
}

// checkShards is an error if shards of another number hold the folder. What killed ones left is
// removed.
func checkShards(f Folder, n int) error {
	entries, err := os.ReadDir(f.Dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		var i, of int
		_, foreign := fmt.Sscanf(strings.TrimPrefix(e.Name(), lockFile+shardMark), "%d-of-%d", &i, &of)
		if foreign != nil || e.Name() != shardLock(i, of) || of == n {
			continue
		}
		lock, err := try(f, e.Name(), (*flock.Flock).TryLock)
		if held, ok := errors.AsType[*Held](err); ok {
			held.Shards = of
		}
		if err != nil {
			return err
		}
		os.Remove(f.Path(holderOf(e.Name())))
		os.Remove(lock.Path())
		if err := lock.Unlock(); err != nil {
			return err
		}
	}
	return nil
}

// Alone does what only one of several shards may do at a time to one of the folder's own files.
// Where nothing can be locked, --no-lock has said so.
func Alone(f Folder, name string, do func() error) error {
	wait := func(lock *flock.Flock) (bool, error) { return true, lock.Lock() }
	lock, err := try(f, lockFile+"-"+name, wait)
	if _, unlockable := errors.AsType[*Unlockable](err); unlockable {
		return do()
	}
	if err != nil {
		return err
	}
	err = do()
	os.Remove(lock.Path())
	return errors.Join(err, lock.Unlock())
}
