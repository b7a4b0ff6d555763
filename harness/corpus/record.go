package corpus

import (
	"errors"
	"fmt"
	"iter"

	"github.com/poimen-memory/mem/harness/spec/yamlpos"
	"github.com/poimen-memory/mem/prompt"
)

// record is an entry of a session with where it stands in its file.
type record struct {
	prompt.Record
	id    string
	at    yamlpos.Pos
	idAt  yamlpos.Pos
	spans []span // evidence in the text
	hard  []span // what looks like evidence of the query and is none

	number  int    // of one that is made, from 1: it has no line
	filling bool   // comes again and again by design
	skipped string // not "": no record, but something that is passed over, and what it is
}

// source reads a session's records from the start, as often as it is called. The error
// is a yamlpos.Errors for a record that is refused, after which reading goes on; any
// other error is the last thing that comes.
type source func() iter.Seq2[*record, error]

// maxFaults is how many complaints about one file are shown.
const maxFaults = 20

// faults collects the complaints about one file.
type faults struct {
	list yamlpos.Errors
	more int          // complaints that are not in the list
	next *yamlpos.Pos // of the first of them
}

// add takes complaints and hands back an error that is of another kind.
func (f *faults) add(err error) error {
	var es yamlpos.Errors
	if !errors.As(err, &es) {
		return err
	}
	for _, e := range es {
		if len(f.list) < maxFaults {
			f.list = append(f.list, e)
			continue
		}
		if f.more++; f.next == nil {
			f.next = &e.Pos
		}
	}
	return nil
}

// err is nil when there was nothing to complain about.
func (f *faults) err() error {
	if f.more > 0 {
		f.list = append(f.list, &yamlpos.Error{Pos: *f.next, Msg: fmt.Sprintf("and %d more errors from here on", f.more)})
	}
	return f.list.Err()
}
