package harness

import (
	"errors"
	"io/fs"
	"path/filepath"

	"github.com/poimen-memory/mem/harness/record"
	"github.com/poimen-memory/mem/harness/shard"
)

// LockConfig says how the folders of experiments are locked.
type LockConfig struct {
	Command string // that locks
	Create  bool   // make folders that do not exist; else these need no lock
	NoLock  bool   // only make them
	Shard   shard.Shard
}

// Lock takes the folders of all experiments for one process, or none. Unlock's errors are about
// a folder each.
func Lock(c LockConfig, all []Experiment) (unlock func() []error, err error) {
	var locks []func() error
	unlock = func() (errs []error) {
		for _, release := range locks {
			if err := release(); err != nil {
				errs = append(errs, err)
			}
		}
		return errs
	}
	for _, x := range all {
		release, err := c.lock(x.Folder)
		if err != nil {
			return nil, errors.Join(append([]error{err}, unlock()...)...)
		}
		locks = append(locks, release)
	}
	return unlock, nil
}

// lock takes a folder. One that vanished in between is made again: the process that held it
// removes it if nothing was written.
func (c LockConfig) lock(folder record.Folder) (unlock func() error, err error) {
	none := func() error { return nil }
	if err := record.ConfineTo(filepath.Dir(folder.Dir), folder); err != nil {
		return nil, err
	}
	for {
		if c.Create {
			if err := folder.Make(); err != nil {
				return nil, err
			}
		}
		if c.NoLock {
			return none, record.Confine(folder)
		}
		unlock, err := c.take(folder)
		if !errors.Is(err, fs.ErrNotExist) {
			return unlock, err
		}
		if !c.Create {
			return none, nil
		}
	}
}

func (c LockConfig) take(folder record.Folder) (unlock func() error, err error) {
	if c.Shard.Given() {
		return record.LockShard(folder, c.Command, c.Shard.Index, c.Shard.Of)
	}
	return record.Lock(folder, c.Command)
}
