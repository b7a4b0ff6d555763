package harness

import (
	"io"
	"time"

	"github.com/poimen-memory/mem/harness/record"
	"github.com/poimen-memory/mem/internal/printable"
)

// ListPaid writes which folders hold live records that an evaluation since then with Fresh puts
// aside, and counts the records.
func ListPaid(w io.Writer, all []Experiment, since time.Time) (records int, err error) {
	for _, x := range all {
		dirs, err := x.Paid()
		if err != nil {
			return 0, err
		}
		if len(dirs) > 0 {
			printable.Fprintf(w, "%s: live records to move to %s: %d\n", x.Folder.Dir, record.AsideDir(x.Folder, since), len(dirs))
		}
		records += len(dirs)
	}
	return records, nil
}

// ListGrown writes which sessions have grown since their records, and what Extend keeps of them.
func ListGrown(w io.Writer, all []Experiment) error {
	for _, x := range all {
		grown, err := x.Grown()
		if err != nil {
			return err
		}
		for _, g := range grown {
			how := "to ask"
			if g.Replayed {
				how = "to replay"
			}
			printable.Fprintf(w, "%s: %s: the session has grown: %d turns kept, %d %s\n", x.Spec.Experiment.Value, g.Run, g.Kept, g.Again, how)
		}
	}
	return nil
}
