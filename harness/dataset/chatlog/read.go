package chatlog

import (
	"fmt"
	"iter"

	"github.com/poimen-memory/mem/harness/corpus"
	"github.com/poimen-memory/mem/harness/jsonpos"
)

// entries reads the entries of one session in their order. It may remember earlier ones.
type entries interface {
	read(e *entry, v jsonpos.Value)
}

// ender is an entries that has something to say after the last one.
type ender interface {
	end(e *entry)
}

// stateless is the entries of a format whose entries do not depend on each other.
func stateless(read func(*entry, jsonpos.Value)) func() entries {
	return func() entries { return each(read) }
}

type each func(*entry, jsonpos.Value)

func (f each) read(e *entry, v jsonpos.Value) { f(e, v) }

// logRecords are the records of a file whose elements are entries of one session. The id of an
// entry is L and its line, or m and its number in a list.
func logRecords(file jsonpos.File, begin func() entries) corpus.Records {
	return func() iter.Seq2[*corpus.Record, error] {
		return func(yield func(*corpus.Record, error) bool) {
			log := begin()
			last := &entry{Parser: &jsonpos.Parser{}}
			for it, err := range file.Items() {
				if err == nil {
					last, err = readEntry(log, file, it)
				}
				if err != nil && !yield(nil, err) || err == nil && !yieldAll(last.records, yield) {
					return
				}
			}
			if log, ok := log.(ender); ok {
				last.records = nil
				log.end(last)
				yieldAll(last.records, yield)
			}
		}
	}
}

func yieldAll(records []*corpus.Record, yield func(*corpus.Record, error) bool) bool {
	for _, r := range records {
		if !yield(r, nil) {
			return false
		}
	}
	return true
}

// readEntry reads an entry. The error is a diag.Errors of all that is wrong with it.
func readEntry(log entries, file jsonpos.File, it jsonpos.Item) (*entry, error) {
	e := &entry{Parser: &jsonpos.Parser{Places: jsonpos.NewPlaces(it.Raw, it.At)}, at: it.At, id: fmt.Sprintf("m%d", it.Number)}
	if file.Lines {
		e.id = fmt.Sprintf("L%d", it.At.Line)
	}
	if it.Torn {
		e.skip("torn line")
		return e, nil
	}
	v, wrong := jsonpos.Parse(it.Raw, "the entry is cut short")
	if wrong != nil {
		e.Bad = append(e.Bad, *wrong)
	} else {
		log.read(e, v)
	}
	switch {
	case len(e.Bad) == 0:
		return e, nil
	case file.Lines:
		return e, jsonpos.LineErrors(file.Path, it.At.Line, it.Raw, e.Bad...)
	}
	return e, it.Errors(e.Bad)
}
