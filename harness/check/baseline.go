package check

import (
	"errors"
	"io/fs"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/poimen-memory/mem/internal/inputfile"
)

// Baseline holds an experiment's counts against those of a committed file: any other count
// is a change that a person must accept. update is the command that makes the file agree.
func Baseline(experiment, file, counts, update string) Result {
	want, err := inputfile.Read(file, inputfile.MaxSummary)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fail("baseline", experiment, "%s is missing; to make it: %s", file, update)
	case err != nil:
		return Unreadable("baseline", experiment, err)
	case string(want) == counts:
		return pass("baseline", experiment, "every count is that of %s", file)
	}
	r := fail("baseline", experiment, "counts differ from %s; if that is meant: %s", file, update)
	r.Diff = string(diff.Diff(file, []byte(Visible(string(want))), "now", []byte(Visible(counts))))
	return r
}
