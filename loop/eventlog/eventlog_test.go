package eventlog_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/poimen-memory/mem/gate"
	"github.com/poimen-memory/mem/loop"
	"github.com/poimen-memory/mem/loop/eventlog"
	"github.com/poimen-memory/mem/prompt"
)

type words struct{}

func (words) Count(s string) int { return len(strings.Fields(s)) }

func count(tokenizer string) func(string) int {
	if tokenizer != "words" {
		return nil
	}
	return words{}.Count
}

type replies []string

func (r replies) Complete(_ context.Context, q loop.Request) (loop.Completion, error) {
	return loop.Completion{Text: r[q.Turn-1]}, nil
}

func yes(memory string, exit bool) string {
	return gate.Decision{Update: true, HasCandidate: true, Candidate: memory, Exit: exit}.Reply()
}

// record makes a real log with every kind of turn in it.
func record(t testing.TB, enforce bool) []byte {
	t.Helper()
	b, err := prompt.New(prompt.Config{Counter: words{}, Budget: prompt.Budget{Memory: 9}})
	if err != nil {
		t.Fatal(err)
	}
	says := replies{
		gate.Decision{}.Reply(),
		yes("first <memory> \"quoted\" \\ \n tab\t naïve 東 \u2028 \x01 end", false),
		"no gates at all",
		yes("one two three four five six seven eight nine ten", false),
		yes("second", true),
		gate.Decision{Exit: true}.Reply(),
	}
	var log bytes.Buffer
	_, err = loop.Run(t.Context(), loop.Config{
		Model: says, Prompts: b, Sink: eventlog.Writer{W: &log}, Level: 1, UseExitGate: enforce, Tokenizer: "words",
	}, "Which port?", func(yield func(prompt.Chunk, error) bool) {
		for i := range says {
			if !yield(b.Chunk(prompt.Record{Role: "tool", Text: fmt.Sprint("line ", i)}), nil) {
				return
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	return log.Bytes()
}

func verify(t testing.TB, log []byte) eventlog.Report {
	t.Helper()
	r, err := eventlog.Verify(bytes.NewReader(log), count)
	if err != nil {
		t.Fatal(err)
	}
	if (r.Start == nil) != (len(log) == 0 || r.Bytes == 0) && r.State != eventlog.Corrupt {
		t.Errorf("start is %v with %d verified bytes", r.Start, r.Bytes)
	}
	r.Start, r.Used = nil, 0
	return r
}

// wholeUnits lists where the log's units end, by the rules of DESIGN and not by Verify.
func wholeUnits(log []byte) (ends []int) {
	at := 0
	lines := bytes.SplitAfter(log, []byte("\n"))
	for i, line := range lines[:len(lines)-1] {
		at += len(line)
		open := bytes.Contains(line, []byte(`"type":"gate"`)) && bytes.Contains(line, []byte(`"update":true`)) ||
			bytes.Contains(line, []byte(`"type":"evidence"`))
		if !open && i < len(lines) {
			ends = append(ends, at)
		}
	}
	return ends
}

func TestCutAnywhere(t *testing.T) {
	for _, enforce := range []bool{false, true} {
		log := record(t, enforce)
		ends := wholeUnits(log)
		if want := map[bool]int{false: 8, true: 7}[enforce]; len(ends) != want {
			t.Fatalf("the log has %d units, want %d:\n%s", len(ends), want, log)
		}
		for cut := range len(log) + 1 {
			r := verify(t, log[:cut])
			want := eventlog.Report{State: eventlog.Interrupted}
			for _, end := range ends {
				if end <= cut {
					want.Bytes = int64(end)
					want.Turns++
				}
			}
			want.Turns = max(0, want.Turns-1) // the opening is no turn
			if cut == len(log) {
				want.State = eventlog.Complete
				want.Turns-- // nor is the end
			}
			if diff := cmp.Diff(want, r); diff != "" {
				t.Fatalf("enforced %v, cut at byte %d of %d, after %q (-want +got):\n%s", enforce, cut, len(log), tail(log[:cut]), diff)
			}
			// No line has this byte anywhere.
			if r := verify(t, append(bytes.Clone(log[:cut]), 0)); r.State != eventlog.Corrupt {
				t.Fatalf("enforced %v, a byte 0 after %q: %+v", enforce, tail(log[:cut]), r)
			}
		}
	}
}

func tail(b []byte) []byte { return b[max(0, len(b)-60):] }

// TestFlipAnyByte changes each byte of a log in several ways. What Verify cannot see is
// listed here by field: facts that stand in the log once, with nothing to recompute them
// from (the query, a discarded chunk, a gate's word).
func TestFlipAnyByte(t *testing.T) {
	log := record(t, false)
	unseen := map[string]bool{}
	for i := range log {
		for _, mask := range []byte{0x01, 0x02, 0x20, 0x80} {
			changed := bytes.Clone(log)
			changed[i] ^= mask
			if r := verify(t, changed); r.State != eventlog.Corrupt {
				unseen[field(log, i)+" "+string(r.State)] = true
			}
		}
	}
	want := []string{
		// No text to hash: the question and the chunks are not in the log.
		"run_start query_sha complete",
		"gate chunk_sha complete", // of a turn that retained
		"budget_exceeded candidate_sha complete",
		"evidence bytes complete",
		// Numbers and words that nothing else repeats.
		"gate attempts complete",
		"budget_exceeded tokens complete",
		"run_start tokenizer complete", // also takes the counter away
	}
	slices.Sort(want)
	var got []string
	for f := range unseen {
		got = append(got, f)
	}
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("changes that Verify does not see (-want +got):\n%s", diff)
	}
}

// field names the event and the key that byte i belongs to.
func field(log []byte, i int) string {
	start := bytes.LastIndexByte(log[:i], '\n') + 1
	end := start + bytes.IndexByte(log[start:], '\n')
	typ := strings.Split(string(log[start:end]), `"`)[3]
	if i == end {
		return typ + " newline"
	}
	key := "type"
	for _, part := range strings.Split(string(log[start:i+1]), `,"`)[1:] {
		key, _, _ = strings.Cut(part, `"`)
	}
	return typ + " " + key
}

// edit is a lie in a log, told in its canonical form, that the named rule must catch.
func TestVerifyNamesTheRule(t *testing.T) {
	honest := string(record(t, false))
	for name, test := range map[string]struct {
		old, new string
		line     int
		rule     string
	}{
		"other level":         {`{"type":"gate","level":1,"turn":1`, `{"type":"gate","level":2,"turn":1`, 2, "level is 2, want 1"},
		"evidence level":      {`"evidence","level":0`, `"evidence","level":1`, 4, "level is 1, want 0"},
		"turn skipped":        {`"gate","level":1,"turn":1`, `"gate","level":1,"turn":2`, 2, "turn is 2, want 1"},
		"memory text":         {`first <memory>`, `First <memory>`, 5, "sha is not that of text"},
		"over the budget":     {`"memory_budget":9`, `"memory_budget":8`, 5, "a memory of 9 tokens, over the budget of 8"},
		"budget event":        {`"tokens":10,"budget":9`, `"tokens":10,"budget":8`, 8, "budget is 8, run_start says 9"},
		"not over":            {`"tokens":10,"budget":9`, `"tokens":9,"budget":9`, 8, "9 tokens are not over the budget of 9"},
		"miscounted":          {`"tokens":1,"text":"second"`, `"tokens":2,"text":"second"`, 11, "tokens is 2, which words does not count"},
		"attempts":            {`"attempts":1}`, `"attempts":4}`, 2, "attempts is 4, want 1 to 3"},
		"no attempt":          {`"attempts":1}`, `"attempts":0}`, 2, "attempts is 0, want 1 to 3"},
		"failed too early":    {`"attempts":3,"kinds":["missing_check",`, `"attempts":2,"kinds":[`, 6, "attempts is 2, want 3"},
		"kinds":               {`,"missing_check"]`, `]`, 6, "2 kinds for 3 attempts"},
		"unknown kind":        {`,"missing_check"]`, `,"missing_chess"]`, 6, `unknown kind "missing_chess"`},
		"seen":                {`"chunks_seen":6`, `"chunks_seen":5`, 13, "chunks_seen is 5, the log has 6 turns"},
		"used":                {`"chunks_used":2`, `"chunks_used":3`, 13, "chunks_used is 3, the log has 2 memories"},
		"final":               {`"final_memory_sha":"`, `"final_memory_sha":"0`, 13, "final_memory_sha is not that of the last memory"},
		"stopped":             {`"source_end"`, `"exit_gate"`, 13, `stopped_by is "exit_gate", want "source_end"`},
		"reads past the exit": {`"use_exit_gate":false`, `"use_exit_gate":true`, 12, "gate after the exit gate ended the run, want run_end"},
		"update unresolved":   {`"update":false`, `"update":true`, 3, "gate inside turn 1, whose update is not resolved"},
		"update undone":       {`"update":true`, `"update":false`, 4, "evidence is not right after its turn's gate"},
		"spelling":            {`"turn":1,`, `"turn": 1,`, 2, "not in the log's canonical form"},
		"unknown key":         {`"turn":1,`, `"turn":1,"extra":1,`, 2, "not in the log's canonical form"},
		"no object":           {`{"type":"gate"`, `["type":"gate"`, 2, "not a JSON object: invalid character"},
		"no number":           {`"turn":1,`, `"turn":"1",`, 2, "gate: json: cannot unmarshal string"},
		"unknown type":        {`"type":"gate"`, `"type":"gote"`, 2, `unknown event type "gote"`},
		"schema":              {`"schema":1`, `"schema":2`, 1, "schema is 2, this program reads 1"},
		"level of nothing":    {`"schema":1,"level":1`, `"schema":1,"level":0`, 1, "level is 0, want 1 or more"},
		"no memory":           {`"memory_budget":9`, `"memory_budget":0`, 1, "memory_budget is 0, want more than 0"},
		"query":               {`"query_sha":"`, `"query_sha":"0`, 1, "query_sha is not a SHA-256 in hex"},
		"chunk":               {`"chunk_sha":"`, `"chunk_sha":"0`, 2, "chunk_sha is not a SHA-256 in hex"},
		"candidate":           {`"candidate_sha":"`, `"candidate_sha":"0`, 8, "candidate_sha is not a SHA-256 in hex"},
		"nothing read":        {`"bytes":13`, `"bytes":0`, 4, "bytes is 0, want more than 0"},
		"not trimmed":         {`"text":"second"`, `"text":"second "`, 11, "text is blank or has white space around it"},
		"blank":               {`"text":"second"`, `"text":""`, 11, "text is blank or has white space around it"},
		"two openings":        {"\n", "\n" + honest[:strings.Index(honest, "\n")+1], 2, "a second run_start"},
	} {
		t.Run(name, func(t *testing.T) {
			if !strings.Contains(honest, test.old) {
				t.Fatalf("the log has no %s:\n%s", test.old, honest)
			}
			r := verify(t, []byte(strings.Replace(honest, test.old, test.new, 1)))
			if r.State != eventlog.Corrupt || r.Line != test.line || !strings.HasPrefix(r.Rule, test.rule) {
				t.Errorf("got %+v, want corrupt at line %d: %s", r, test.line, test.rule)
			}
		})
	}
}

// TestNoMemoryIsNull: the sha of no memory is null, not "".
func TestNoMemoryIsNull(t *testing.T) {
	lines := bytes.SplitAfter(record(t, false), []byte("\n"))
	end := `{"type":"run_end","level":1,"chunks_seen":1,"chunks_used":0,"final_memory_sha":%s,"stopped_by":"source_end"}` + "\n"
	for sha, want := range map[string]eventlog.State{"null": eventlog.Complete, `""`: eventlog.Corrupt} {
		log := slices.Concat(lines[0], lines[1], fmt.Appendf(nil, end, sha))
		if r := verify(t, log); r.State != want {
			t.Errorf("final_memory_sha %s: %+v, want %s", sha, r, want)
		}
	}
}

func TestDroppedDoubledAndSwappedLinesAreCorrupt(t *testing.T) {
	lines := bytes.SplitAfter(record(t, false), []byte("\n"))
	lines = lines[:len(lines)-1]
	join := func(parts ...[][]byte) []byte { return bytes.Join(slices.Concat(parts...), nil) }
	for i := range lines {
		if i < len(lines)-1 { // without its last line a log is interrupted
			if r := verify(t, join(lines[:i], lines[i+1:])); r.State != eventlog.Corrupt {
				t.Errorf("line %d dropped: %+v", i+1, r)
			}
			if r := verify(t, join(lines[:i], lines[i+1:i+2], lines[i:i+1], lines[i+2:])); r.State != eventlog.Corrupt {
				t.Errorf("lines %d and %d swapped: %+v", i+1, i+2, r)
			}
		}
		if r := verify(t, join(lines[:i+1], lines[i:])); r.State != eventlog.Corrupt {
			t.Errorf("line %d doubled: %+v", i+1, r)
		}
	}
}

func TestTornTailMustBeginALegalUnit(t *testing.T) {
	log := record(t, false)
	ends := wholeUnits(log)
	afterTurn1 := string(log[:ends[1]])
	for _, torn := range []string{
		"x", "{}", `{"type":"memory`, `{"type":"gate","level":2`, `{"type":"gate","level":1,"turn":3`,
		`{"type":"gate","level":1,"turn":2,"chunk_sha":"XY`, `{"type":"run_end","level":1,"chunks_seen":2`,
		`{"type":"gate","level":1,"turn":2,"chunk_sha":"` + strings.Repeat("0", 64) + `","update":maybe`,
		`{"type":"gate","level":1,"turn":2,"chunk_sha":0`,
		`{"type":"gate","level":1,"turn":2,"chunk_sha":"` + strings.Repeat("0", 64) + `","update":false,"exit":false,"attempts":4}`, // whole but for its newline
		`{"type":"run_end","level":1,"chunks_seen":1,"chunks_used":0,"final_memory_sha":null,"stopped_by":"source_end"}x`,
	} {
		if r := verify(t, []byte(afterTurn1+torn)); r.State != eventlog.Corrupt || r.Turns != 1 {
			t.Errorf("tail %s: %+v, want corrupt after one turn", torn, r)
		}
	}
	if r := verify(t, append(bytes.Clone(log), '\n')); r.State != eventlog.Corrupt {
		t.Errorf("a byte after run_end: %+v", r)
	}
}

// TestTornValues: how far each kind of value may be on its way. Those cut off stand for a
// memory's, whose line has them all.
func TestTornValues(t *testing.T) {
	log := record(t, false)
	head, _, _ := strings.Cut(string(log), `"tokens":`)
	for torn, want := range map[string]eventlog.State{
		`"tokens":`: eventlog.Interrupted, `"tokens":9`: eventlog.Interrupted, `"tokens":90`: eventlog.Interrupted,
		`"tokens":0`: eventlog.Interrupted, `"tokens":0,"te`: eventlog.Interrupted,
		`"tokens":,`: eventlog.Corrupt, `"tokens":09`: eventlog.Corrupt, `"tokens":-`: eventlog.Corrupt, `"tokens":"`: eventlog.Corrupt,
		`"tokens":9,"text":"`: eventlog.Interrupted, `"tokens":9,"text":"a `: eventlog.Interrupted,
		`"tokens":9,"text":x`: eventlog.Corrupt, "\"tokens\":9,\"text\":\"a\n": eventlog.Corrupt, "\"tokens\":9,\"text\":\"a\x1f": eventlog.Corrupt,
		`"tokens":9,"text":"\`: eventlog.Interrupted, `"tokens":9,"text":"\n`: eventlog.Interrupted, `"tokens":9,"text":"\n"`: eventlog.Interrupted,
		`"tokens":9,"text":"\x`: eventlog.Corrupt, `"tokens":9,"text":"\"`: eventlog.Interrupted, `"tokens":9,"text":"\\"x`: eventlog.Corrupt,
		`"tokens":9,"text":"\u`: eventlog.Interrupted, `"tokens":9,"text":"\u20`: eventlog.Interrupted, `"tokens":9,"text":"\u2028`: eventlog.Interrupted,
		`"tokens":9,"text":"\uX`: eventlog.Corrupt, `"tokens":9,"text":"\u202X`: eventlog.Corrupt, `"tokens":9,"text":"\u20289X`: eventlog.Interrupted,
		`"tokens":9,"text":"\u2028"x`: eventlog.Corrupt, `"tokens":9,"text":"a","`: eventlog.Corrupt,
		"\"tokens\":9,\"text\":\"\xe6": eventlog.Interrupted, "\"tokens\":9,\"text\":\"\xe6\x9d": eventlog.Interrupted, "\"tokens\":9,\"text\":\"\xe6\x9d\xb1": eventlog.Interrupted,
		"\"tokens\":9,\"text\":\"\xe6x": eventlog.Corrupt, "\"tokens\":9,\"text\":\"\x9d": eventlog.Corrupt, "\"tokens\":9,\"text\":\"\uFFFD": eventlog.Interrupted,
	} {
		if r := verify(t, []byte(head+torn)); r.State != want {
			t.Errorf("%q: %s, want %s", torn, r.State, want)
		}
	}
}

func TestVerifyCountsMemories(t *testing.T) {
	r, err := eventlog.Verify(bytes.NewReader(record(t, false)), count)
	if err != nil || r.Turns != 6 || r.Used != 2 {
		t.Errorf("%+v, %v, want 6 turns of which 2 wrote", r, err)
	}
}

func TestUnknownTokenizerIsTakenOnTrust(t *testing.T) {
	log := bytes.Replace(record(t, false), []byte(`"tokens":1,"text":"second"`), []byte(`"tokens":2,"text":"second"`), 1)
	r, err := eventlog.Verify(bytes.NewReader(log), nil)
	if err != nil || r.State != eventlog.Complete {
		t.Errorf("without a counter: %+v, %v", r, err)
	}
}

func TestEachUnitIsOneWrite(t *testing.T) {
	var w writes
	unit := []loop.Event{
		loop.Gate{Level: 1, Turn: 1, Update: true, Attempts: 1},
		loop.Evidence{Level: 0, Turn: 1, Bytes: 1},
		loop.Memory{Level: 1, Turn: 1, Text: "m"},
	}
	if err := (eventlog.Writer{W: &w}).Emit(unit); err != nil {
		t.Fatal(err)
	}
	if len(w) != 1 || strings.Count(w[0], "\n") != 3 {
		t.Errorf("writes are %q, want one of three lines", w)
	}
}

// TestEmitHandsOnErrors: a full disk, and an event that no line can hold.
func TestEmitHandsOnErrors(t *testing.T) {
	full := errors.New("disk full")
	if err := (eventlog.Writer{W: failing{full}}).Emit([]loop.Event{loop.Gate{}}); err != full {
		t.Errorf("error is %v, want the writer's", err)
	}
	var w writes
	if err := (eventlog.Writer{W: &w}).Emit([]loop.Event{loop.Gate{}, odd{F: func() {}}}); err == nil || len(w) > 0 {
		t.Errorf("an event that is no JSON: error %v, writes %q", err, w)
	}
}

type odd struct {
	loop.Gate
	F func()
}

type writes []string

func (w *writes) Write(p []byte) (int, error) {
	*w = append(*w, string(p))
	return len(p), nil
}

func TestReadErrorIsNotAVerdict(t *testing.T) {
	broken := errors.New("input/output error")
	if _, err := eventlog.Verify(failing{broken}, nil); !errors.Is(err, broken) {
		t.Errorf("error is %v, want the reader's", err)
	}
}

// TestALineHasAnEnd: a file without a newline is not read for ever.
func TestALineHasAnEnd(t *testing.T) {
	if testing.Short() {
		t.Skip("slow")
	}
	log := record(t, false)
	r, err := eventlog.Verify(io.MultiReader(bytes.NewReader(log[:bytes.IndexByte(log, '\n')+1]), endless{}), count)
	if err != nil || r.State != eventlog.Corrupt || r.Line != 2 || !strings.Contains(r.Rule, "the line is longer than 96 MiB") {
		t.Errorf("got %+v, error %v, want corrupt at line 2, which has no end", r, err)
	}
}

type endless struct{}

func (endless) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error)  { return 0, f.err }
func (f failing) Write([]byte) (int, error) { return 0, f.err }
