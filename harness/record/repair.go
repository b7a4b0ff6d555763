package record

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/poimen-memory/mem/harness/atomicfile"
	"github.com/poimen-memory/mem/loop/eventlog"
)

// cutMark is what follows the name of a file that a part was cut off from, in the name of the
// file that holds the part: calls.jsonl.cut-1.
const cutMark = ".cut-"

// Cut is a part that was cut off a file.
type Cut struct {
	Path string // of the file
	Kept int64  // bytes
	Rest string // the file that holds the part, beside it
}

// Repair cuts a corrupt record back to what Verify found good, and keeps what it cut beside
// it: resuming goes on from there. A record that is not corrupt is left as it is. The process
// must hold the lock of the record's folder.
func Repair(dir string, count eventlog.CountTokens) (cuts []Cut, err error) {
	v, err := Verify(dir, count)
	if err != nil || v.State != eventlog.Corrupt {
		return nil, err
	}
	n, err := freeCut(dir)
	if err != nil {
		return nil, err
	}
	// The log first: a log that ends before its journal is written again from the journal.
	for _, file := range []struct {
		name string
		kept int64
	}{{Events, v.log}, {Calls, v.calls}} {
		cut, err := cutFile(filepath.Join(dir, file.name), file.kept, n)
		if err != nil {
			return cuts, err
		}
		if cut.Rest != "" {
			cuts = append(cuts, cut)
		}
	}
	return cuts, syncDir(dir)
}

// freeCut is the first number for which a run's folder has no part that was cut off.
func freeCut(dir string) (int, error) {
	entries, err := os.ReadDir(dir)
	n := 0
	for _, e := range entries {
		_, number, _ := strings.Cut(e.Name(), cutMark)
		var had int
		if _, err := fmt.Sscanf(number, "%d", &had); err == nil {
			n = max(n, had)
		}
	}
	return n + 1, err
}

// cutFile moves what follows the first kept bytes of a file to a file of its own. A file that
// does not exist, or has no more, is left.
func cutFile(path string, kept int64, n int) (c Cut, err error) {
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return Cut{}, nil
	}
	if err != nil {
		return Cut{}, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	info, err := file.Stat()
	if err != nil || info.Size() <= kept {
		return Cut{}, err
	}
	c = Cut{Path: path, Kept: kept, Rest: fmt.Sprintf("%s%s%d", path, cutMark, n)}
	err = atomicfile.Write(c.Rest, func(w io.Writer) error {
		_, err := io.Copy(w, io.NewSectionReader(file, kept, info.Size()-kept))
		return err
	})
	if err != nil {
		return Cut{}, err
	}
	return c, errors.Join(file.Truncate(kept), file.Sync())
}

// FolderOf is the folder whose lock guards the record in dir: the experiment's, of which the
// run is below runs or a folder that Aside made; dir itself if it is in none.
func FolderOf(dir string) Folder {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return Folder{Dir: dir}
	}
	for at := abs; at != filepath.Dir(at); at = filepath.Dir(at) {
		if base := filepath.Base(at); base == "runs" || strings.HasPrefix(base, "runs.") {
			return Folder{Dir: filepath.Dir(at)}
		}
	}
	return Folder{Dir: dir}
}
