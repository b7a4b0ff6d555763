package record

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/poimen-memory/mem/internal/inputfile"
	"github.com/poimen-memory/mem/loop/journal"
)

// Escape is a symbolic link that leads out of a folder of records. Nothing is read or written
// through it: whoever made the folder, such as an archive from elsewhere, chose its target.
type Escape struct{ Link, Target, Dir string }

func (e *Escape) Error() string {
	return fmt.Sprintf("%s is a symbolic link to %s, out of %s: want the file or folder itself in its place", e.Link, e.Target, e.Dir)
}

// Misconfigured is true: no call would succeed.
func (e *Escape) Misconfigured() bool { return true }

// Confine is an error if a symbolic link below the folder leads out of it, an *Escape. A folder
// that does not exist has none.
func Confine(f Folder) error {
	return walkBelow(f.Dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type()&fs.ModeSymlink != 0 {
			return confined(f.Dir, path)
		}
		return nil // what cannot be read is reported by its reader
	})
}

// ConfineTo is an error if a folder below dir is a link out of it.
func ConfineTo(dir string, f Folder) error { return confined(dir, f.Dir) }

// confinedRun is an error if a run's name or a link leads out of the folder.
func confinedRun(f Folder, run string) error {
	if !filepath.IsLocal(filepath.FromSlash(run)) {
		return fmt.Errorf("run %q: want the name of a folder below %s", run, f.RunDir(""))
	}
	for _, path := range []string{f.CallsPath(run), f.EventsPath(run)} {
		if err := confined(f.Dir, path); err != nil {
			return err
		}
	}
	return nil
}

// confinedRecord is an error if a link leads out of the folder that the record in dir is of.
func confinedRecord(dir string) error {
	root := dir
	if f := FolderOf(dir); f.Dir != dir {
		up, err := relative(dir, f.Dir)
		if err != nil {
			return err
		}
		root = filepath.Join(dir, up) // as dir is written
	}
	for _, name := range []string{Events, Calls} {
		if err := confined(root, filepath.Join(dir, name)); err != nil {
			return err
		}
	}
	return nil
}

// confined is an error if a link on the way from dir to path leads out of dir.
func confined(dir, path string) error {
	below, err := relative(dir, path)
	if err != nil || !filepath.IsLocal(below) {
		return fmt.Errorf("%s: want a path below %s", path, dir)
	}
	at := dir
	for _, name := range strings.Split(below, string(filepath.Separator)) {
		at = filepath.Join(at, name)
		info, err := os.Lstat(at)
		if err != nil {
			return nil // nothing is there, or its reader reports it
		}
		if info.Mode()&fs.ModeSymlink != 0 && !leadsWithin(dir, at) {
			target, _ := os.Readlink(at)
			return &Escape{at, target, dir}
		}
	}
	return nil
}

// relative is filepath.Rel for paths of which each may be relative to the working directory.
func relative(dir, path string) (string, error) {
	from, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	to, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	return filepath.Rel(from, to)
}

// leadsWithin reports whether a link leads to something in dir. One that leads nowhere would
// have a file made there.
func leadsWithin(dir, link string) bool {
	base, err := resolved(dir)
	target, broken := resolved(link)
	if err != nil || broken != nil {
		return false
	}
	below, err := filepath.Rel(base, target)
	return err == nil && filepath.IsLocal(below)
}

// resolved is the absolute path without links.
func resolved(path string) (string, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(abs)
}

// ReadFile reads one of a folder's own files.
func ReadFile(f Folder, name string, max int64) ([]byte, error) {
	if err := confined(f.Dir, f.Path(name)); err != nil {
		return nil, err
	}
	return inputfile.Read(f.Path(name), max)
}

// ReadCalls reads a run's journal.
func ReadCalls(f Folder, run string) (journal.Journal, error) {
	if err := confinedRun(f, run); err != nil {
		return journal.Journal{}, err
	}
	return journal.ReadFile(f.CallsPath(run))
}
