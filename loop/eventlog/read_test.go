package eventlog_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/poimen-memory/mem/loop"
	"github.com/poimen-memory/mem/loop/eventlog"
)

// TestReadGivesWholeLines of a log cut at every byte, and writes back what it read.
func TestReadGivesWholeLines(t *testing.T) {
	log := string(record(t, false))
	for cut := range len(log) + 1 {
		whole := log[:strings.LastIndexByte(log[:cut], '\n')+1]
		var again strings.Builder
		for e, err := range eventlog.Read(strings.NewReader(log[:cut])) {
			if err != nil {
				t.Fatalf("cut at byte %d: %v", cut, err)
			}
			if err := (eventlog.Writer{W: &again}).Emit([]loop.Event{e}); err != nil {
				t.Fatal(err)
			}
		}
		if again.String() != whole {
			t.Fatalf("cut at byte %d: read %d bytes of events, want %d", cut, again.Len(), len(whole))
		}
	}
}

// TestReadStopsAtTheFirstError: a line that is no event, or a reader that fails.
func TestReadStopsAtTheFirstError(t *testing.T) {
	lines := strings.SplitAfter(string(record(t, false)), "\n")
	seen, failed := 0, 0
	for _, err := range eventlog.Read(strings.NewReader(lines[0] + "{}\n" + lines[1])) {
		if seen++; err != nil {
			failed++
		}
	}
	if seen != 2 || failed != 1 {
		t.Errorf("%d events of which %d are errors, want 2 and 1", seen, failed)
	}
	broken := errors.New("input/output error")
	for _, err := range eventlog.Read(failing{broken}) {
		if !errors.Is(err, broken) {
			t.Errorf("error is %v, want the reader's", err)
		}
	}
}
