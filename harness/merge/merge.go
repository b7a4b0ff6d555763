// Package merge gathers the records that several evaluations, or shards of one, left of an
// experiment.
//
// Of two records of one run, one may go on where the other was interrupted: the longer counts. It
// refuses records that cannot be of one execution, and then writes nothing.
package merge

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/poimen-memory/mem/harness/atomicfile"
	"github.com/poimen-memory/mem/harness/record"
	"github.com/poimen-memory/mem/internal/inputfile"
	"github.com/poimen-memory/mem/loop/eventlog"
	"github.com/poimen-memory/mem/loop/journal"
)

// Merged says what Records gathered.
type Merged struct {
	Runs       int // whose records the folder has now
	Copied     int // of them: from another folder
	Unfinished int // of them: not complete
}

// Contradiction is a run of which two folders have records that cannot be of one execution.
type Contradiction struct {
	Run  string
	Dirs [2]string // of the run
	Why  string
}

// Contradictions is the error of merging them. Nothing was written.
type Contradictions []Contradiction

func (e Contradictions) Error() string {
	const shown = 10
	var lines []string
	for _, c := range e[:min(len(e), shown)] {
		lines = append(lines, fmt.Sprintf("run %s: %s and %s: %s", c.Run, c.Dirs[0], c.Dirs[1], c.Why))
	}
	text := "records that contradict each other: keep those of one folder, and move the others away\n  " + strings.Join(lines, "\n  ")
	if more := len(e) - len(lines); more > 0 {
		text += fmt.Sprintf("\n  and %d more", more)
	}
	return text
}

// Records gathers the records of folders of one experiment in the folder to, which the process has
// locked and which may have some already. Of two records of a run, one of which goes on where
// the other was interrupted, it takes the longer; the error of others is a Contradictions, and
// then nothing is written. The folders are not changed.
func Records(to record.Folder, from []record.Folder) (m Merged, err error) {
	dirs, err := runDirs(slices.Insert(slices.Clone(from), 0, to))
	if err != nil {
		return m, err
	}
	chosen := map[string]string{}
	var wrong Contradictions
	for _, run := range slices.Sorted(maps.Keys(dirs)) {
		best, contradiction, err := choose(run, dirs[run])
		switch {
		case err != nil:
			return m, err
		case contradiction != nil:
			wrong = append(wrong, *contradiction)
		}
		chosen[run] = best
	}
	if wrong != nil {
		return m, wrong
	}
	return gather(to, from, chosen)
}

// runDirs are the folders that have a record of each run, in the order of the folders.
func runDirs(folders []record.Folder) (map[string][]string, error) {
	dirs := map[string][]string{}
	for _, f := range folders {
		if err := record.Confine(f); err != nil {
			return nil, err
		}
		runs, err := f.Recorded()
		if err != nil {
			return nil, err
		}
		for _, run := range runs {
			if dir := f.RunDir(run); !slices.Contains(dirs[run], dir) {
				dirs[run] = append(dirs[run], dir)
			}
		}
	}
	return dirs, nil
}

// gather copies what was chosen elsewhere, and unites what is not a run's.
func gather(to record.Folder, from []record.Folder, chosen map[string]string) (m Merged, err error) {
	for _, f := range from {
		looks, err := record.Looks(f)
		if err != nil {
			return m, err
		}
		expected, err := record.Expected(f)
		if err != nil {
			return m, err
		}
		if len(looks) > 0 || len(expected) > 0 {
			err = errors.Join(os.MkdirAll(to.RunDir(""), 0o777), record.Expect(to, expected), record.AddLooks(to, looks))
		}
		if err != nil {
			return m, err
		}
	}
	for _, run := range slices.Sorted(maps.Keys(chosen)) {
		m.Runs++
		if dir := chosen[run]; dir != to.RunDir(run) {
			m.Copied++
			if err := copyRun(to, run, dir); err != nil {
				return m, err
			}
		}
		if to.Outcome(run).State != record.Complete {
			m.Unfinished++
		}
	}
	return m, nil
}

// copyRun copies a run's own files, the journal last: a record without one is none.
func copyRun(to record.Folder, run, from string) error {
	dir := to.RunDir(run)
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	if err := atomicfile.Sweep(dir); err != nil { // of a process that was killed while it copied
		return err
	}
	entries, err := os.ReadDir(from)
	if err != nil {
		return err
	}
	slices.SortStableFunc(entries, func(a, b os.DirEntry) int { return number(a.Name() == record.Calls) - number(b.Name() == record.Calls) })
	h, err := journal.ReadHeader(filepath.Join(from, record.Calls))
	paid := err != nil || h.Live()
	for _, e := range entries {
		if !record.OwnFile(e.Name()) {
			continue
		}
		if err := copyFile(filepath.Join(from, e.Name()), filepath.Join(dir, e.Name()), paid); err != nil {
			return err
		}
	}
	if paid {
		return record.SyncDirs(to, dir)
	}
	return nil
}

// copyFile copies a file whole or not at all, and on to the disk if it was paid for: a copy of
// other runs is made again.
func copyFile(from, to string, paid bool) error {
	in, err := inputfile.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	fill := func(w io.Writer) error {
		_, err := io.Copy(w, in)
		return err
	}
	if paid {
		return atomicfile.Write(to, fill)
	}
	return atomicfile.WriteUnsynced(to, fill)
}

// choose is the folder whose record of a run holds those of all others.
func choose(run string, dirs []string) (best string, wrong *Contradiction, err error) {
	best = dirs[0]
	for _, dir := range dirs[1:] {
		better, why, err := longer(best, dir)
		if err != nil {
			return "", nil, err
		}
		if why != "" {
			return best, &Contradiction{run, [2]string{best, dir}, why}, nil
		}
		best = better
	}
	return best, nil, nil
}

// longer is that of two records that holds the other, the first one if they are the same; or why
// neither does.
func longer(a, b string) (better, why string, err error) {
	if same, err := sameRecord(a, b); same || err != nil {
		return a, "", err
	}
	x, err := readParts(a)
	if err != nil {
		return "", "", err
	}
	y, err := readParts(b)
	if err != nil {
		return "", "", err
	}
	if slices.Compare(y.rank(), x.rank()) > 0 {
		x, y = y, x
	}
	return x.dir, x.holds(y), nil
}

// sameRecord compares the bytes of two records.
func sameRecord(a, b string) (bool, error) {
	for _, name := range []string{record.Calls, record.Events} {
		x, err := record.FileSHA(filepath.Join(a, name))
		if err != nil {
			return false, err
		}
		y, err := record.FileSHA(filepath.Join(b, name))
		if x != y || err != nil {
			return false, err
		}
	}
	return true, nil
}

// parts is what of a record can go on: its whole lines of calls, and its whole turns.
type parts struct {
	dir        string
	calls, log []byte
	end        *journal.End // of a journal that agrees with its log; nil: interrupted
	damage     string       // why the record is not as it was written
}

func readParts(dir string) (p parts, err error) {
	p.dir = dir
	calls, err := readIfAny(filepath.Join(dir, record.Calls))
	if err != nil {
		return p, err
	}
	log, err := readIfAny(filepath.Join(dir, record.Events))
	if err != nil {
		return p, err
	}
	j, err := journal.Read(bytes.NewReader(calls))
	if err != nil && !errors.Is(err, journal.ErrNoHeader) {
		p.damage = err.Error()
	}
	p.calls = calls[:j.Bytes]
	report, err := eventlog.Verify(bytes.NewReader(log), nil)
	if err != nil {
		return p, err
	}
	if report.State == eventlog.Corrupt {
		p.damage = fmt.Sprintf("event log:%d: %s", report.Line, report.Rule)
	}
	p.log = log[:report.Bytes]
	sum, err := record.FileSHA(filepath.Join(dir, record.Events))
	if j.End != nil && j.End.LogSHA256 == sum {
		p.end = j.End
	}
	return p, err
}

func readIfAny(path string) ([]byte, error) {
	f, err := inputfile.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(f)
}

func (p parts) complete() bool { return p.end != nil && record.State(p.end.State) == record.Complete }

// rank orders records by their calls, then a complete one before one that says how it ended and
// others, then by what the log has.
func (p parts) rank() []int {
	return []int{len(p.calls), number(p.complete()), number(p.end != nil), len(p.log)}
}

// holds says why p is not the record that y began, if it is not. What y has begun to write when
// it was killed is not compared: it would be asked again.
func (p parts) holds(y parts) (why string) {
	switch {
	case p.damage != "":
		return p.dir + " is damaged: " + p.damage
	case y.damage != "":
		return y.dir + " is damaged: " + y.damage
	case !bytes.HasPrefix(p.calls, y.calls):
		return fmt.Sprintf("%s differs from line %d on", record.Calls, 1+differentLine(p.calls, y.calls))
	case !bytes.HasPrefix(p.log, y.log) && !bytes.HasPrefix(y.log, p.log):
		return fmt.Sprintf("%s differs from line %d on", record.Events, 1+differentLine(p.log, y.log))
	case y.complete() && len(p.calls) > len(y.calls):
		return y.dir + " is complete, and the other goes on after it"
	case y.complete() && p.complete():
		return record.Calls + " ends differently"
	}
	return ""
}

// differentLine is how many lines are the same before the first byte that is not.
func differentLine(a, b []byte) int {
	at := 0
	for at < len(a) && at < len(b) && a[at] == b[at] {
		at++
	}
	return bytes.Count(a[:at], []byte("\n"))
}

func number(b bool) int {
	if b {
		return 1
	}
	return 0
}
