package check

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
	"reflect"

	"github.com/poimen-memory/mem/loop"
	"github.com/poimen-memory/mem/loop/eventlog"
)

// LogOf is what a run's log must be the log of. Seen, Used and StoppedBy are what the loop said
// when it returned.
type LogOf struct {
	Start      loop.RunStart
	Chunks     int // of the source
	Seen, Used int
	StoppedBy  loop.StoppedBy // empty: the loop did not end
	Foreign    int            // the first turn whose chunk_sha or bytes are not the source's; 0: none
}

// Log judges a run's event log: a run that ended has a complete one, any other has one
// that was interrupted between or inside whole turns, never a corrupt one. It is the log
// of that run and no other, and the run's outcome says the same.
func Log(run string, of LogOf, log eventlog.Report) Result {
	ended := of.StoppedBy != ""
	if r := state(run, ended, log); r.Status == Fail {
		return r
	}
	switch {
	case log.Start != nil && *log.Start != of.Start:
		return fail("log", run, "events.jsonl:1: run_start is %+v, want %+v", *log.Start, of.Start)
	case log.Turns != of.Seen || log.Used != of.Used:
		return fail("log", run, "the outcome has %d chunks seen and %d used, the log %d and %d", of.Seen, of.Used, log.Turns, log.Used)
	case ended && of.StoppedBy == loop.SourceEnd && log.Turns != of.Chunks:
		return fail("log", run, "the source ended after %d turns, it has %d chunks", log.Turns, of.Chunks)
	case of.Foreign > 0:
		return fail("log", run, "turn %d: chunk_sha or bytes is not that of the source's chunk", of.Foreign)
	}
	return pass("log", run, "%s, %d turns verified", log.State, log.Turns)
}

func state(run string, ended bool, log eventlog.Report) Result {
	switch {
	case log.State == eventlog.Corrupt:
		return fail("log", run, "events.jsonl:%d: %s", log.Line, log.Rule)
	case ended && log.State != eventlog.Complete:
		return fail("log", run, "the run ended, its log is %s after %d turns", log.State, log.Turns)
	case !ended && log.State == eventlog.Complete:
		return fail("log", run, "the run did not end, its log says that it did")
	}
	return pass("log", run, "%s, %d turns verified", log.State, log.Turns)
}

// Levels compares the logs of one script at two levels, fed the same chunks: nothing but
// the level fields may differ (M1.5 a10), each by as much as the runs' levels are apart.
func Levels(subject string, apart loop.Level, lower, upper io.Reader) Result {
	nextX, stopX := iter.Pull2(eventlog.Read(lower))
	defer stopX()
	nextY, stopY := iter.Pull2(eventlog.Read(upper))
	defer stopY()
	for n := 1; ; n++ {
		x, errX, more := nextX()
		y, errY, moreToo := nextY()
		switch {
		case !more && !moreToo:
			return levelsEnd(subject, n-1)
		case errX != nil || errY != nil:
			return fail("levels", subject, "line %d: %v", n, errors.Join(errX, errY))
		case !more || !moreToo:
			return fail("levels", subject, "line %d: the log of the %s level ends, the other goes on", n, ended(more))
		}
		if err := sameButLevel(x, y, apart); err != nil {
			return fail("levels", subject, "line %d: %v", n, err)
		}
	}
}

func levelsEnd(subject string, lines int) Result {
	if lines == 0 {
		return Skipped("levels", subject, "both logs are empty")
	}
	return pass("levels", subject, "%d events, the level fields alone differ", lines)
}

// ended names the log that ends first.
func ended(lowerGoesOn bool) string {
	if lowerGoesOn {
		return "upper"
	}
	return "lower"
}

func level(e loop.Event) loop.Level {
	return loop.Level(reflect.ValueOf(e).FieldByName("Level").Int())
}

func sameButLevel(x, y loop.Event, apart loop.Level) error {
	if got := level(y) - level(x); x.Type() == y.Type() && got != apart {
		return fmt.Errorf("%s: levels are %d apart, want %d", x.Type(), got, apart)
	}
	raised := reflect.New(reflect.TypeOf(x)).Elem()
	raised.Set(reflect.ValueOf(x))
	raised.FieldByName("Level").SetInt(int64(level(y)))
	want, err := eventlog.Encode(raised.Interface().(loop.Event))
	if err != nil {
		return err
	}
	got, err := eventlog.Encode(y)
	if err != nil {
		return err
	}
	if !bytes.Equal(want, got) {
		return fmt.Errorf("more than the level differs: %s", firstDifference(string(want), string(got)))
	}
	return nil
}
