package journal_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/poimen-memory/mem/loop"
	"github.com/poimen-memory/mem/loop/journal"
)

var complete = journal.End{State: "complete", LogSHA256: strings.Repeat("ab", 32)}

// ended is a small journal with every kind of line: whole and terse calls, an error, bytes
// that are not UTF-8, usage, the answer and the end. Its replies end in suffix.
func ended(t testing.TB, suffix string) []byte {
	t.Helper()
	var b bytes.Buffer
	h := header
	h.SessionSHA, h.Records, h.Chunking = strings.Repeat("cd", 32), 12, map[string]int{"tokens": 9}
	n := 0
	rec := journal.Recorder{Header: h, W: &b, Recomputable: func(r loop.Request) bool { return r.Turn == 2 }, Model: modelFunc(func(loop.Request) (loop.Completion, error) {
		switch n++; n {
		case 1:
			return loop.Completion{}, errors.New("refused")
		case 2:
			return loop.Completion{Text: "a\xff", Reasoning: "why", Finish: "stop", Usage: &loop.Usage{PromptTokens: 7}}, nil
		}
		return loop.Completion{Text: fmt.Sprint("r", n, suffix)}, nil
	})}
	err := rec.Start()
	for _, r := range []loop.Request{asked(1, 1), asked(1, 1), asked(1, 2), asked(2, 1), asked(loop.AnswerTurn, 1)} {
		rec.Complete(t.Context(), r)
	}
	if err := errors.Join(err, rec.End(complete)); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func read(t *testing.T, log []byte) journal.Journal {
	t.Helper()
	j, err := journal.Read(bytes.NewReader(log))
	if err != nil {
		t.Fatal(err)
	}
	return j
}

// TestEveryChangedByteIsRefused, wherever it is and whatever it becomes.
func TestEveryChangedByteIsRefused(t *testing.T) {
	log := ended(t, "")
	if j := read(t, log); len(j.Calls) != 5 || j.End == nil {
		t.Fatalf("the journal is %+v", j)
	}
	for i, was := range log {
		values := []byte{0, '\n', '"', '}', '{', ' ', '0', 'a', '1', 0xff}
		for bit := range 8 {
			values = append(values, was^1<<bit)
		}
		for _, now := range values {
			if now == was {
				continue
			}
			changed := bytes.Clone(log)
			changed[i] = now
			if _, err := journal.Read(bytes.NewReader(changed)); err == nil {
				t.Errorf("byte %d, %q as %q after %q, is not found", i, was, now, log[max(0, i-30):i])
			}
		}
	}
}

// TestLinesKeepTheirPlaces: one that is removed, repeated, moved, or brought from another
// journal of the same run is found. Without its last lines a journal is interrupted.
func TestLinesKeepTheirPlaces(t *testing.T) {
	lines, others := bytes.SplitAfter(ended(t, ""), []byte("\n")), bytes.SplitAfter(ended(t, " again"), []byte("\n"))
	lines, others = lines[:len(lines)-1], others[:len(others)-1]
	if !bytes.Equal(lines[0], others[0]) || !bytes.Equal(lines[1], others[1]) || len(lines) != 7 {
		t.Fatal("the journals do not begin alike")
	}
	refused := func(name string, i int, parts ...[][]byte) {
		t.Helper()
		if _, err := journal.Read(bytes.NewReader(bytes.Join(slices.Concat(parts...), nil))); err == nil {
			t.Errorf("line %d %s: it is not found", i+1, name)
		}
	}
	for i := range lines {
		last := i == len(lines)-1
		if !last {
			refused("removed", i, lines[:i], lines[i+1:])
			refused("and the next swapped", i, lines[:i], lines[i+1:i+2], lines[i:i+1], lines[i+2:])
		}
		refused("repeated", i, lines[:i+1], lines[i:])
		if !bytes.Equal(lines[i], others[i]) {
			if !last {
				refused("of another journal", i, lines[:i], others[i:i+1], lines[i+1:])
			}
			if i > 3 { // line 4 is where they part: before it, this is the other journal
				refused("and all after it of another journal", i, lines[:i], others[i:])
			}
			refused("of another journal put between", i, lines[:i+1], others[i:i+1], lines[i+1:])
		}
		for j := range i {
			refused(fmt.Sprint("moved to ", j+1), i, lines[:j], lines[i:i+1], lines[j:i], lines[i+1:])
		}
		j := read(t, bytes.Join(lines[:i+1], nil))
		if (j.End != nil) != last || len(j.Calls) != min(i, 5) {
			t.Errorf("cut after line %d: %+v", i+1, j)
		}
	}
}

// TestEndHoldsTheDigests, of the log as given and of the journal before it.
func TestEndHoldsTheDigests(t *testing.T) {
	log := ended(t, "")
	j := read(t, log)
	sum := sha256.Sum256(log[:j.Bytes])
	want := journal.End{State: "complete", LogSHA256: complete.LogSHA256, JournalSHA256: hex.EncodeToString(sum[:])}
	if diff := cmp.Diff(&want, j.End); diff != "" {
		t.Errorf("end (-want +got):\n%s", diff)
	}
	last := string(log[j.Bytes:])
	if !strings.HasPrefix(last, `{"end":{"state":"complete","reason":"","log_sha256":"abab`) {
		t.Errorf("the last line is %s", last)
	}
}

// TestAJournalCutAnywhereIsInterrupted, also with the zeros that a power failure leaves.
func TestAJournalCutAnywhereIsInterrupted(t *testing.T) {
	log := ended(t, "")
	whole := read(t, log)
	head := bytes.IndexByte(log, '\n') + 1
	for cut := head; cut < len(log); cut++ {
		for _, tail := range []string{"", "\x00\x00\x00"} {
			j, err := journal.Read(bytes.NewReader(append(bytes.Clone(log[:cut]), tail...)))
			if log[cut] == '\n' && tail != "" {
				if err == nil {
					t.Fatalf("cut at byte %d: zeros after a whole line pass", cut)
				}
				continue
			}
			calls := bytes.Count(log[head:cut], []byte("\n"))
			want := bytes.LastIndexByte(log[:cut], '\n') + 1
			if err != nil || j.End != nil || j.Bytes != int64(want) || cmp.Diff(whole.Calls[:calls], j.Calls, cmpopts.EquateEmpty()) != "" {
				t.Fatalf("cut at byte %d with %q: %v, %d calls in %d bytes, want %d in %d", cut, tail, err, len(j.Calls), j.Bytes, calls, want)
			}
		}
	}
}

// TestContinueAfterACutAnywhere: whole lines stay, a torn one and the end are cut off, and the
// chain goes on. Nothing changes before the first write, and the same end is not written again.
func TestContinueAfterACutAnywhere(t *testing.T) {
	for _, schema := range []int{1, 2} {
		whole := ended(t, "")
		if schema == 1 {
			whole = []byte(unchained(strings.Replace(string(whole), `"session_sha":"`+strings.Repeat("cd", 32)+`","records":12,"chunking":{"tokens":9},`, "", 1), 0))
			whole = whole[:bytes.Index(whole, []byte(`{"end"`))]
		}
		path := filepath.Join(t.TempDir(), "calls.jsonl")
		for cut := 0; cut <= len(whole); cut += schema {
			if err := os.WriteFile(path, whole[:cut], 0o666); err != nil {
				t.Fatal(err)
			}
			f, before, err := journal.Continue(path)
			if err != nil {
				t.Fatalf("schema %d, cut at byte %d: %v", schema, cut, err)
			}
			if now, err := os.ReadFile(path); err != nil || !bytes.Equal(now, whole[:cut]) {
				t.Fatalf("schema %d, cut at byte %d: changed before it is written to (%v)", schema, cut, err)
			}
			rec := before.Recorder(f)
			rec.Model = modelFunc(func(loop.Request) (loop.Completion, error) { return loop.Completion{Text: "new"}, nil })
			if before.Header.Schema == 0 {
				rec.Header = header
				err = rec.Start()
			}
			r := asked(loop.AnswerTurn, 9)
			if _, asking := rec.Complete(t.Context(), r); err != nil || asking != nil {
				t.Fatal(err, asking)
			}
			if err := errors.Join(rec.End(complete), f.Close()); err != nil {
				t.Fatal(err)
			}
			after, err := journal.ReadFile(path)
			if err != nil {
				t.Fatalf("schema %d, cut at byte %d: %v", schema, cut, err)
			}
			n := len(before.Calls)
			if len(after.Calls) != n+1 || after.Calls[n].Reply != "new" || cmp.Diff(before.Calls, after.Calls[:n], cmpopts.EquateEmpty()) != "" {
				t.Fatalf("schema %d, cut at byte %d: calls after are %+v", schema, cut, after.Calls)
			}
			if begun := before.Header.Schema != 0; begun && (after.Header.Schema != schema || (after.End != nil) != (schema == 2)) {
				t.Fatalf("schema %d, cut at byte %d: header %+v, end %+v", schema, cut, after.Header, after.End)
			}
		}
	}
}

func TestTheSameEndIsNotWrittenAgain(t *testing.T) {
	log := ended(t, "")
	for _, e := range []journal.End{complete, {State: "incomplete", Reason: "refused", LogSHA256: "x"}} {
		path := filepath.Join(t.TempDir(), "calls.jsonl")
		if err := os.WriteFile(path, log, 0o666); err != nil {
			t.Fatal(err)
		}
		f, j, err := journal.Continue(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(j.Recorder(f).End(e), f.Close()); err != nil {
			t.Fatal(err)
		}
		after, err := journal.ReadFile(path)
		if err != nil || after.End == nil || after.End.State != e.State || cmp.Diff(j.Calls, after.Calls) != "" {
			t.Errorf("%s: %v, %+v", e.State, err, after)
		}
		if now, err := os.ReadFile(path); err != nil || bytes.Equal(now, log) != (e == complete) {
			t.Errorf("%s: the bytes are the same: %v (%v)", e.State, bytes.Equal(now, log), err)
		}
	}
}

// TestJournalOfSchema1 as an earlier version wrote it: read, replayed and continued without
// a chain.
func TestJournalOfSchema1(t *testing.T) {
	j, err := journal.ReadFile("testdata/schema1.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	if j.Header.Schema != 1 || j.Header.Chained() || len(j.Calls) == 0 || j.End != nil {
		t.Errorf("journal is %+v", j)
	}
	for _, c := range j.Calls {
		r := loop.Request{Turn: c.Turn, Attempt: c.Attempt, System: c.System, User: c.User, MaxTokens: c.MaxTokens}
		if got, err := journal.NewReplay(j.Header, j.Calls).Complete(t.Context(), r); err != nil || got.Text != c.Reply {
			t.Errorf("turn %d: %+v, %v", c.Turn, got, err)
		}
	}
	log, err := os.ReadFile("testdata/schema1.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := journal.Read(strings.NewReader(string(log) + string(log))); err == nil {
		t.Error("a journal after another is read")
	}
	lines := strings.SplitAfter(string(log), "\n")
	if _, err := journal.Read(strings.NewReader(lines[0] + lines[2] + lines[1])); err == nil || !strings.Contains(err.Error(), "or after a later one") {
		t.Errorf("swapped calls: error is %v", err)
	}
}

// TestSyncComesBeforeTheReply, after each line; its error is as that of a full disk.
func TestSyncComesBeforeTheReply(t *testing.T) {
	var b bytes.Buffer
	var synced []int
	full := error(nil)
	calls := 0
	rec := journal.Recorder{Header: header, W: &b, Sync: func() error { synced = append(synced, b.Len()); return full }, Model: modelFunc(func(loop.Request) (loop.Completion, error) {
		calls++
		return loop.Completion{Text: "r"}, nil
	})}
	if err := rec.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := rec.Complete(t.Context(), asked(1, 1)); err != nil || len(synced) != 2 || synced[1] != b.Len() {
		t.Errorf("error %v, synced at %v of %d bytes", err, synced, b.Len())
	}
	full = errors.New("disk full")
	for range 2 { // the second is not asked: its reply would be lost, too
		if c, err := rec.Complete(t.Context(), asked(2, 1)); !errors.Is(err, full) || c.Text != "" {
			t.Errorf("reply %+v, error %v", c, err)
		}
	}
	size := b.Len()
	if err := rec.End(complete); !errors.Is(err, full) || b.Len() != size || calls != 2 {
		t.Errorf("error %v, %d bytes after %d, %d calls", err, b.Len(), size, calls)
	}
}

// TestRecordCopiesACall to another journal, byte for byte.
func TestRecordCopiesACall(t *testing.T) {
	log := ended(t, "")
	j := read(t, log)
	var b bytes.Buffer
	rec := journal.Recorder{Header: j.Header, W: &b}
	err := rec.Start()
	for _, c := range j.Calls {
		err = errors.Join(err, rec.Record(c))
	}
	if err = errors.Join(err, rec.End(complete)); err != nil || !bytes.Equal(b.Bytes(), log) {
		t.Errorf("%v, the copy is\n%s", err, &b)
	}
}

// TestTurnsGroupCalls, with the calls that brought no reply, and the answer at the end.
func TestTurnsGroupCalls(t *testing.T) {
	r, err := journal.NewReader(bytes.NewReader(ended(t, "")))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for calls, err := range r.Turns() {
		if err != nil {
			t.Fatal(err)
		}
		turn := fmt.Sprintf("turn %d:", calls[0].Turn)
		for _, c := range calls {
			turn += fmt.Sprintf(" %d%s", c.Attempt, c.Error)
		}
		got = append(got, turn)
	}
	if diff := cmp.Diff([]string{"turn 1: 1refused 1 2", "turn 2: 1", "turn 0: 1"}, got); diff != "" || r.End == nil {
		t.Errorf("end %v, turns (-want +got):\n%s", r.End, diff)
	}
	broken := bytes.Replace(ended(t, ""), []byte(`"r5"`), []byte(`"r6"`), 1)
	r, err = journal.NewReader(bytes.NewReader(broken))
	if err != nil {
		t.Fatal(err)
	}
	turns, wrong := 0, 0
	for _, err := range r.Turns() {
		if turns++; err != nil {
			wrong++
		}
	}
	if turns != 3 || wrong != 1 { // turn 2 may lack calls
		t.Errorf("%d turns and errors, %d errors", turns, wrong)
	}
	for range r.Turns() {
		break // a caller may stop
	}
}

// TestReaderHoldsOneCall: what a long journal takes does not grow with it.
func TestReaderHoldsOneCall(t *testing.T) {
	in, out := io.Pipe()
	const turns = 5_000
	reply := loop.Completion{Text: strings.Repeat("x", 4000)}
	go func() {
		rec := journal.Recorder{Header: header, W: out, Model: modelFunc(func(loop.Request) (loop.Completion, error) { return reply, nil })}
		err := rec.Start()
		for n := 1; n <= turns && err == nil; n++ {
			_, err = rec.Complete(t.Context(), asked(n, 1))
		}
		out.CloseWithError(errors.Join(err, rec.End(complete)))
	}()
	r, err := journal.NewReader(in)
	if err != nil {
		t.Fatal(err)
	}
	read, early := 0, uint64(0)
	for calls, err := range r.Turns() {
		if err != nil || len(calls) != 1 {
			t.Fatalf("after %d turns: %d calls, %v", read, len(calls), err)
		}
		if read++; read == turns/10 {
			early = inUse()
		}
	}
	if late := inUse(); read != turns || r.End == nil || late > early+1<<20 {
		t.Errorf("%d turns: %d bytes in use after a tenth of them, %d at the end", read, early, late)
	}
}

func inUse() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// TestALineWithoutEndIsCorrupt before it fills the memory.
func TestALineWithoutEndIsCorrupt(t *testing.T) {
	if testing.Short() {
		t.Skip("reads 160 MiB")
	}
	_, err := journal.Read(io.MultiReader(strings.NewReader(`{"schema":2,"query":"`), endless{}))
	if err == nil || err.Error() != "journal:1: the line is longer than 160 MiB, and no run writes one" {
		t.Errorf("error is %v", err)
	}
}

type endless struct{}

func (endless) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = 'x'
	}
	return len(b), nil
}
