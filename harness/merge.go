package harness

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/poimen-memory/mem/harness/diag"
	"github.com/poimen-memory/mem/harness/merge"
	"github.com/poimen-memory/mem/harness/record"
	"github.com/poimen-memory/mem/harness/timing"
	"github.com/poimen-memory/mem/internal/printable"
)

// MergeConfig says what Merge gathers, and where.
type MergeConfig struct {
	Out    string   // folder of the experiments' folders; it may have some records already
	Dirs   []string // folders as Out, that evaluations or their shards left
	NoLock bool
}

// Merge gathers the records of all experiments, and lists them on w. Its error is a
// *diag.Incomplete if a file cannot be read or written, or Out is in use; nothing is written for
// an experiment whose records contradict each other.
func Merge(w io.Writer, c MergeConfig) error {
	folders, err := experimentFolders(c.Dirs)
	if err != nil {
		return err
	}
	var contradictions error
	for _, name := range slices.Sorted(maps.Keys(folders)) {
		m, err := mergeOne(c, record.Folder{Dir: filepath.Join(c.Out, name)}, folders[name])
		if wrong, ok := errors.AsType[merge.Contradictions](err); ok {
			contradictions = errors.Join(contradictions, fmt.Errorf("experiment %s: %w", name, wrong))
			continue
		}
		if err != nil {
			return &diag.Incomplete{Err: err}
		}
		line := fmt.Sprintf("%s: %s from %s, %d copied", name, diag.Count(m.Runs, "run"), diag.Count(len(folders[name]), "folder"), m.Copied)
		if m.Unfinished > 0 {
			line += fmt.Sprintf(", %d not complete", m.Unfinished)
		}
		if _, err := printable.Fprintf(w, "%s\n", line); err != nil {
			return err
		}
	}
	return contradictions
}

func mergeOne(c MergeConfig, to record.Folder, from []record.Folder) (m merge.Merged, err error) {
	unlock, err := LockConfig{Command: "mem merge", Create: true, NoLock: c.NoLock}.lock(to)
	if err != nil {
		return m, err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	if m, err = merge.Records(to, from); err != nil {
		return m, err
	}
	return m, timing.Merge(to, from)
}

// experimentFolders are those below the folders, by experiment, in the order of the folders.
func experimentFolders(dirs []string) (map[string][]record.Folder, error) {
	folders := map[string][]record.Folder{}
	for _, dir := range dirs {
		entries, err := os.ReadDir(dir)
		if err != nil {
			return nil, fmt.Errorf("%s: %v: want a folder that mem eval --out wrote", dir, diag.Reason(err))
		}
		for _, e := range entries {
			f := record.Folder{Dir: filepath.Join(dir, e.Name())}
			if e.Name() == filepath.Base(f.RunDir("")) {
				return nil, fmt.Errorf("%s is the folder of one experiment: want the one above it, as mem eval --out has it", dir)
			}
			if info, err := os.Stat(f.RunDir("")); err == nil && info.IsDir() {
				folders[e.Name()] = append(folders[e.Name()], f)
			}
		}
	}
	if len(folders) == 0 {
		return nil, errors.New("no experiment: want folders that mem eval --out wrote, with EXPERIMENT/runs below them")
	}
	return folders, nil
}
