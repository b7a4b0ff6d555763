package eventlog_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/poimen-memory/mem/loop"
	"github.com/poimen-memory/mem/loop/eventlog"
)

// lineOf says a turn in one line, and checks that its parts agree.
func lineOf(t *testing.T, turn eventlog.Turn) string {
	t.Helper()
	said := fmt.Sprintf("%d:", turn.Number)
	for _, word := range []struct {
		holds bool
		name  string
	}{
		{turn.Parsed, "parsed"}, {turn.Update, "update"}, {turn.Exit, "exit"}, {turn.Written, "written"},
		{turn.Evidence != nil, "evidence"}, {turn.OverBudget != nil, "over"}, {turn.Failed != nil, "failed"},
	} {
		if word.holds {
			said += " " + word.name
		}
	}
	if turn.Memory != nil {
		word, _, _ := strings.Cut(turn.Memory.Text, " ")
		said += " M=" + word
	}
	if turn.Parsed != (len(turn.ChunkSHA) == 64) {
		t.Errorf("turn %d: parsed is %v, the chunk's sha is %q", turn.Number, turn.Parsed, turn.ChunkSHA)
	}
	return fmt.Sprintf("%s attempts=%d events=%d", said, turn.Attempts, len(turn.Events))
}

func TestTurnsFoldEveryKindOfTurn(t *testing.T) {
	r := eventlog.NewReader(bytes.NewReader(record(t, false)))
	var got []string
	var events []loop.Event
	for turn, err := range r.Turns() {
		if err != nil {
			t.Fatal(err)
		}
		if r.Start == nil || r.Start.Tokenizer != "words" || r.End != nil {
			t.Fatalf("at turn %d: start %+v, end %+v", turn.Number, r.Start, r.End)
		}
		got = append(got, lineOf(t, turn))
		events = append(events, turn.Events...)
	}
	want := []string{
		"1: parsed attempts=1 events=1",
		"2: parsed update written evidence M=first attempts=1 events=3",
		"3: failed M=first attempts=3 events=1",
		"4: parsed update over M=first attempts=1 events=2",
		"5: parsed update exit written evidence M=second attempts=1 events=3",
		"6: parsed exit M=second attempts=1 events=1",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("turns (-want +got):\n%s", diff)
	}
	if r.End == nil || r.End.ChunksSeen != 6 || r.End.ChunksUsed != 2 {
		t.Errorf("the end is %+v", r.End)
	}
	i := 0
	for e, err := range eventlog.Read(bytes.NewReader(record(t, false))) {
		if err != nil {
			t.Fatal(err)
		}
		if e.Type() == "run_start" || e.Type() == "run_end" {
			continue
		}
		if diff := cmp.Diff(e, events[i]); diff != "" {
			t.Errorf("event %d (-log +turns):\n%s", i, diff)
		}
		i++
	}
}

// TestTurnsOfACutLog: the whole turns, no error, and the bytes that Verify finds whole.
func TestTurnsOfACutLog(t *testing.T) {
	log := record(t, false)
	for cut := range len(log) + 1 {
		r, turns := eventlog.NewReader(bytes.NewReader(log[:cut])), 0
		for _, err := range r.Turns() {
			if err != nil {
				t.Fatalf("cut at byte %d: %v", cut, err)
			}
			turns++
		}
		want := verify(t, log[:cut])
		if turns != want.Turns || r.Bytes != want.Bytes || (r.End != nil) != (want.State == eventlog.Complete) {
			t.Fatalf("cut at byte %d: %d turns, %d bytes, end %+v, want %+v", cut, turns, r.Bytes, r.End, want)
		}
	}
}

// TestTurnsRefuseWhatIsNotInOrder: the turns before it are given.
func TestTurnsRefuseWhatIsNotInOrder(t *testing.T) {
	honest := string(record(t, false))
	for name, test := range map[string]struct {
		old, new    string
		turns, line int
	}{
		"turn skipped":     {`"gate","level":1,"turn":2`, `"gate","level":1,"turn":3`, 1, 3},
		"no evidence":      {`"type":"evidence","level":0,"turn":2,`, `"type":"evidance","level":0,"turn":2,`, 1, 4},
		"unresolved":       {`"update":false`, `"update":true`, 0, 3},
		"after the end":    {`"source_end"}` + "\n", `"source_end"}` + "\n\n", 6, 14},
		"a tail after it":  {`"source_end"}` + "\n", `"source_end"}` + "\nx", 6, 14},
		"a second opening": {"\n", "\n" + honest[:strings.Index(honest, "\n")+1], 0, 2},
		"no opening":       {honest[:strings.Index(honest, "\n")+1], "", 0, 1},
	} {
		turns := 0
		var err error
		for _, err = range eventlog.Turns(strings.NewReader(strings.Replace(honest, test.old, test.new, 1))) {
			if err == nil {
				turns++
			}
		}
		wrong, ok := errors.AsType[*eventlog.LineError](err)
		if !ok || wrong.Line != test.line || turns != test.turns || !strings.HasPrefix(err.Error(), fmt.Sprintf("line %d: ", test.line)) {
			t.Errorf("%s: %d turns, then %v; want %d, then line %d", name, turns, err, test.turns, test.line)
		}
	}
	broken := errors.New("input/output error")
	for _, err := range eventlog.Turns(failing{broken}) {
		if err != broken {
			t.Errorf("error is %v, want the reader's", err)
		}
	}
	for range eventlog.Turns(strings.NewReader(honest)) {
		break // a caller may stop
	}
}

const (
	startSHA = "b94d27b9934d3e08a52e52d7da7dabfac484efe37a5380ee9088f7ace2efcde9" // of "hello world"
	chunkSHA = "2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae"
	nextSHA  = "fcde2b2edba56bf408601fb721fe9b5c338d10ee429ea04fae5511b68fbf8fb9" // of "bar"
)

// continuing is a log of two turns after turn 40, which goes on with a memory.
func continuing(t *testing.T) []byte {
	t.Helper()
	var log bytes.Buffer
	final := nextSHA
	for _, unit := range [][]loop.Event{
		{loop.RunStart{Schema: 1, Level: 1, QuerySHA: chunkSHA, MemoryBudget: 9, Tokenizer: "words", StartTurn: 40, StartMemorySHA: startSHA}},
		{loop.Gate{Level: 1, Turn: 41, ChunkSHA: chunkSHA, Attempts: 1}},
		{
			loop.Gate{Level: 1, Turn: 42, ChunkSHA: chunkSHA, Update: true, Attempts: 1},
			loop.Evidence{Level: 0, Turn: 42, SHA: chunkSHA, Bytes: 3},
			loop.Memory{Level: 1, Turn: 42, SHA: nextSHA, Parents: []string{chunkSHA, startSHA}, Tokens: 1, Text: "bar"},
		},
		{loop.RunEnd{Level: 1, ChunksSeen: 2, ChunksUsed: 1, FinalMemorySHA: &final, StoppedBy: loop.SourceEnd}},
	} {
		if err := (eventlog.Writer{W: &log}).Emit(unit); err != nil {
			t.Fatal(err)
		}
	}
	return log.Bytes()
}

// TestALogThatContinues: turns are numbered on, the first memory's parents include the start
// memory, and the counts are of this log.
func TestALogThatContinues(t *testing.T) {
	log := continuing(t)
	if r := verify(t, log); r.State != eventlog.Complete || r.Turns != 2 {
		t.Fatalf("%+v, want complete with 2 turns", r)
	}
	var got []string
	for turn, err := range eventlog.Turns(bytes.NewReader(log)) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, lineOf(t, turn))
	}
	if diff := cmp.Diff([]string{"41: parsed attempts=1 events=1", "42: parsed update written evidence M=bar attempts=1 events=3"}, got); diff != "" {
		t.Errorf("turns (-want +got):\n%s", diff)
	}
	for cut := range log {
		if r := verify(t, log[:cut]); r.State != eventlog.Interrupted {
			t.Fatalf("cut at byte %d, after %q: %+v", cut, tail(log[:cut]), r)
		}
	}
	for name, test := range map[string]struct{ old, new, rule string }{
		"turn":            {`"turn":41`, `"turn":1`, "turn is 1, want 41"},
		"parent":          {`,"` + startSHA + `"]`, `]`, "parents are"},
		"other memory":    {`"start_memory_sha":"b9`, `"start_memory_sha":"c9`, "parents are"},
		"no sha":          {`"start_memory_sha":"b9`, `"start_memory_sha":"B9`, "start_memory_sha is not a SHA-256 in hex"},
		"before a start":  {`"start_turn":40`, `"start_turn":-1`, "start_turn is -1, want 0 or more"},
		"zero is written": {`"start_turn":40`, `"start_turn":0`, "not in the log's canonical form"},
		"seen before":     {`"chunks_seen":2`, `"chunks_seen":42`, "chunks_seen is 42, the log has 2 turns"},
	} {
		if r := verify(t, bytes.Replace(log, []byte(test.old), []byte(test.new), 1)); r.State != eventlog.Corrupt || !strings.HasPrefix(r.Rule, test.rule) {
			t.Errorf("%s: %+v, want corrupt: %s", name, r, test.rule)
		}
	}
}

// TestTheStartMemoryIsTheFinalOneIfNoneIsWritten: of a log that ends at once, too.
func TestTheStartMemoryIsTheFinalOneIfNoneIsWritten(t *testing.T) {
	head, _, _ := bytes.Cut(continuing(t), []byte("\n"))
	for final, want := range map[string]eventlog.State{`"` + startSHA + `"`: eventlog.Complete, `"` + nextSHA + `"`: eventlog.Corrupt, "null": eventlog.Corrupt} {
		end := fmt.Sprintf("\n"+`{"type":"run_end","level":1,"chunks_seen":0,"chunks_used":0,"final_memory_sha":%s,"stopped_by":"source_end"}`+"\n", final)
		if r := verify(t, append(bytes.Clone(head), end...)); r.State != want {
			t.Errorf("final memory %s: %+v, want %s", final, r, want)
		}
	}
}

// TestTurnsHoldOneTurn: what a long log takes does not grow with it.
func TestTurnsHoldOneTurn(t *testing.T) {
	log, write := io.Pipe()
	const turns = 5_000
	text := strings.Repeat("x", 4000)
	go func() {
		w := eventlog.Writer{W: write}
		err := w.Emit([]loop.Event{loop.RunStart{Schema: 1, Level: 1, QuerySHA: chunkSHA, MemoryBudget: 9, Tokenizer: "words"}})
		for n := 1; n <= turns && err == nil; n++ {
			err = w.Emit([]loop.Event{
				loop.Gate{Level: 1, Turn: n, ChunkSHA: chunkSHA, Update: true, Attempts: 1}, loop.Evidence{Turn: n, SHA: chunkSHA, Bytes: 1},
				loop.Memory{Level: 1, Turn: n, Text: text},
			})
		}
		write.CloseWithError(err)
	}()
	read := 0
	var early uint64
	for turn, err := range eventlog.Turns(log) {
		if err != nil || !turn.Written {
			t.Fatalf("turn %d: %v", turn.Number, err)
		}
		if read++; read == turns/10 {
			early = inUse()
		}
	}
	if late := inUse(); read != turns || late > early+1<<20 {
		t.Errorf("%d turns: %d bytes in use after a tenth of them, %d at the end", read, early, late)
	}
}

func inUse() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
