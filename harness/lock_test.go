package harness_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/poimen-memory/mem/harness"
	"github.com/poimen-memory/mem/harness/record"
)

// TestLockTakesAllFoldersOrNone: where the second is held, the first is free again.
func TestLockTakesAllFoldersOrNone(t *testing.T) {
	var all []harness.Experiment
	for _, name := range []string{"first", "second"} {
		dir := filepath.Join(t.TempDir(), name)
		all = append(all, harness.Experiment{Folder: record.Folder{Dir: dir}})
	}
	c := harness.LockConfig{Command: "test", Create: true}
	unlock, err := harness.Lock(c, all[1:])
	if err != nil {
		t.Fatal(err)
	}
	_, err = harness.Lock(c, all)
	if held, ok := errors.AsType[*record.Held](err); !ok || held.Dir != all[1].Folder.Dir {
		t.Fatalf("error %v, want that %s is held", err, all[1].Folder.Dir)
	}
	first, err := harness.Lock(c, all[:1])
	if err != nil {
		t.Errorf("the first folder is still locked: %v", err)
	}
	for _, err := range append(unlock(), first()...) {
		t.Error(err)
	}
}

// TestLockWithoutCreateMakesNothing: what does not exist needs no lock.
func TestLockWithoutCreateMakesNothing(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "none")
	unlock, err := harness.Lock(harness.LockConfig{}, []harness.Experiment{{Folder: record.Folder{Dir: dir}}})
	if err != nil || len(unlock()) > 0 {
		t.Fatal(err)
	}
	if _, err := os.Stat(dir); err == nil {
		t.Errorf("%s was made", dir)
	}
}
