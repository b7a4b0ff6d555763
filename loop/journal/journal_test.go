package journal_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/poimen-memory/mem/loop"
	"github.com/poimen-memory/mem/loop/journal"
)

type modelFunc func(loop.Request) (loop.Completion, error)

func (f modelFunc) Complete(_ context.Context, r loop.Request) (loop.Completion, error) { return f(r) }

var header = journal.Header{Query: "q", Level: 1, Trial: 1, Model: map[string]any{"id": "m"}}

var request = loop.Request{Turn: 2, Attempt: 1, System: "sys", User: "<b> & \u2028", MaxTokens: 2048}

func record(t *testing.T, terse bool, m modelFunc) (string, loop.Completion, error) {
	t.Helper()
	var b bytes.Buffer
	rec := journal.Recorder{Header: header, Model: m, W: &b}
	if terse {
		rec.Recomputable = func(loop.Request) bool { return true }
	}
	if err := rec.Start(); err != nil {
		t.Fatal(err)
	}
	c, err := rec.Complete(t.Context(), request)
	return b.String(), c, err
}

func TestRecordedCallReadsBack(t *testing.T) {
	reply := loop.Completion{
		Text: "ok <check>", Reasoning: "why", Finish: "stop",
		Usage: &loop.Usage{PromptTokens: 7, CompletionTokens: 3},
	}
	log, got, err := record(t, false, func(loop.Request) (loop.Completion, error) { return reply, nil })
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(reply, got); diff != "" {
		t.Errorf("the recorder changed the reply:\n%s", diff)
	}
	j, err := journal.Read(strings.NewReader(log))
	if err != nil {
		t.Fatal(err)
	}
	if h := j.Header; h.Query != "q" || h.Schema != 2 || !h.Chained() || j.End != nil || j.Bytes != int64(len(log)) {
		t.Errorf("journal is %+v", j)
	}
	want := []journal.Call{{
		Turn: 2, Attempt: 1, Digest: header.Digest(request), System: "sys", User: request.User, MaxTokens: 2048,
		Reply: "ok <check>", Reasoning: "why", Finish: "stop", Usage: reply.Usage,
	}}
	if diff := cmp.Diff(want, j.Calls); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
}

func TestTerseKeepsTheDigestInPlaceOfThePrompt(t *testing.T) {
	log, _, _ := record(t, true, func(loop.Request) (loop.Completion, error) { return loop.Completion{Text: "r"}, nil })
	j, err := journal.Read(strings.NewReader(log))
	calls := j.Calls
	if err != nil || len(calls) != 1 {
		t.Fatal(calls, err)
	}
	if calls[0].User != "" || calls[0].System != "" || calls[0].Digest != header.Digest(request) {
		t.Errorf("call is %+v", calls[0])
	}
}

func TestTransportErrorIsRecordedAndReturned(t *testing.T) {
	refused := errors.New("connection refused")
	log, _, err := record(t, false, func(loop.Request) (loop.Completion, error) { return loop.Completion{}, refused })
	if !errors.Is(err, refused) {
		t.Errorf("error is %v", err)
	}
	if j, _ := journal.Read(strings.NewReader(log)); len(j.Calls) != 1 || j.Calls[0].Error != "connection refused" {
		t.Errorf("calls are %+v", j.Calls)
	}
}

func TestCallThatCannotBeRecordedIsAnError(t *testing.T) {
	rec := journal.Recorder{
		Model: modelFunc(func(loop.Request) (loop.Completion, error) { return loop.Completion{Text: "paid for"}, nil }),
		W:     full{},
	}
	c, err := rec.Complete(t.Context(), request)
	if err == nil || c.Text != "" {
		t.Errorf("got %+v, %v; want the reply withheld", c, err)
	}
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("disk full") }

func TestTornLastLineIsDropped(t *testing.T) {
	log, _, _ := record(t, false, func(loop.Request) (loop.Completion, error) { return loop.Completion{Text: "r"}, nil })
	header := strings.Index(log, "\n") + 1
	for cut := header; cut < len(log); cut++ {
		j, err := journal.Read(strings.NewReader(log[:cut]))
		if err != nil || len(j.Calls) != 0 || j.Bytes != int64(header) {
			t.Fatalf("cut at byte %d: %d calls in %d bytes, %v", cut, len(j.Calls), j.Bytes, err)
		}
	}
}

// unchained is a journal of schema 1 that says the same, from line n on.
func unchained(log string, n int) string {
	lines := strings.SplitAfter(log, "\n")
	for i := n; i < len(lines)-1; i++ {
		body, _, _ := strings.Cut(lines[i], `,"chain"`)
		lines[i] = body + "}\n"
	}
	if n == 0 {
		lines[0] = strings.Replace(lines[0], `"schema":2`, `"schema":1`, 1)
	}
	return strings.Join(lines, "")
}

// TestReadRefuses what no Recorder wrote, and names the rule.
func TestReadRefuses(t *testing.T) {
	good, _, _ := record(t, false, func(loop.Request) (loop.Completion, error) {
		return loop.Completion{Text: "reply", Finish: "stop", Usage: &loop.Usage{PromptTokens: 7}}, nil
	})
	head, call, _ := strings.Cut(good, "\n")
	changed := func(old, now string) string {
		if !strings.Contains(good, old) {
			t.Fatalf("no %s in %s", old, good)
		}
		return strings.Replace(good, old, now, 1)
	}
	for name, test := range map[string]struct{ in, says string }{
		"torn header":    {good[:9], "no whole header"},
		"notes":          {"x\n", "journal:1: is not as it was written: invalid character 'x'"},
		"other schema":   {`{"schema":99,"x":1}` + "\n", "journal:1: schema is 99, this program reads 1 to 2"},
		"schema 0":       {changed(`"schema":2`, `"schema":0`), "journal:1: schema is 0, this program reads 1 to 2"},
		"system alone":   {good[:strings.Index(good, `"user":`)] + good[strings.Index(good, `"max_tokens":`):], "journal:2: its digest is of another request"},
		"prompt alone":   {changed(`"system":"sys","user"`, `"user"`), "journal:2: its digest is of another request"},
		"no schema":      {"{}\n", "journal:1: is not as it was written: at byte 1 found"},
		"header's key":   {changed(`"query"`, `"querx"`), `journal:1: is not as it was written: at byte 35 found`},
		"header's value": {changed(`"id":"m"`, `"id":"n"`), "journal:1: its chain is another: "},
		"no JSON":        {head + "\nx\n" + call, "journal:2: is not as it was written: invalid character"},
		"turn":           {changed(`"turn":2`, `"turn":3`), "journal:2: its digest is of another request"},
		"attempt":        {changed(`"attempt":1`, `"attempt":2`), "journal:2: its digest is of another request"},
		"digest":         {changed(`"digest":"`, `"digest":"0`), "journal:2: its digest is of another request"},
		"prompt":         {changed(`<b>`, `<c>`), "journal:2: its digest is of another request"},
		"system message": {changed(`"sys"`, `"syt"`), "journal:2: its digest is of another request"},
		"limit":          {changed(`2048`, `2049`), "journal:2: its digest is of another request"},
		"reply's key":    {changed(`"reply"`, `"rezly"`), "journal:2: is not as it was written: at byte "},
		"key's case":     {changed(`"reply"`, `"Reply"`), "journal:2: is not as it was written: at byte "},
		"finish's key":   {changed(`"finish_reason"`, `"finish_reasom"`), "journal:2: is not as it was written: at byte "},
		"usage's key":    {changed(`"prompt_tokens"`, `"prompt_tokenz"`), "journal:2: is not as it was written: at byte "},
		"more":           {changed(`},"chain"`, `},"error":"","chain"`), "journal:2: is not as it was written: at byte "},
		"two values":     {good[:len(good)-1] + " {}\n", "journal:2: is not as it was written: "},
		"answered twice": {good + call, "journal:3: turn 2, attempt 1 is answered again"},
		"no chain":       {unchained(good, 1), "journal:2: is not as it was written: it does not end with its chain"},
		"chain":          {changed(`"chain":"`, `"chain":"0`), "journal:1: is not as it was written: at byte "},
		"reply":          {changed(`"reply":"reply"`, `"reply":"rePly"`), "journal:2: its chain is another: "},
		"usage":          {changed(`"prompt_tokens":7`, `"prompt_tokens":8`), "journal:2: its chain is another: "},
		"finish":         {changed(`"stop"`, `"stoq"`), "journal:2: its chain is another: "},
		"another header": {changed(`"query":"q"`, `"query":"r"`), "journal:1: its chain is another: "},
		"tail of notes":  {good + "notes", "journal:3: is not as it was written: the last line has no newline and is not the beginning of a line"},
		"tail of a list": {good + "[", "journal:3: is not as it was written: "},
		"tail and more":  {good + "{}x", "journal:3: is not as it was written: "},
		"schema 1 of 2":  {changed(`"schema":2`, `"schema":1`), "journal:1: is not as it was written: at byte "},
		"fields of 2":    {unchained(changed(`"corpus":"",`, `"corpus":"","records":3,`), 0), "journal:1: is not as it was written: schema 1 has no session_sha"},
	} {
		if _, err := journal.Read(strings.NewReader(test.in)); err == nil || !strings.HasPrefix(err.Error(), test.says) {
			t.Errorf("%s: error is %v, want %s", name, err, test.says)
		}
	}
}

// TestReadRefusesForgedBytes: where a reply's bytes stand beside it, only the two together
// are what was said.
func TestReadRefusesForgedBytes(t *testing.T) {
	good, _, _ := record(t, false, func(loop.Request) (loop.Completion, error) {
		return loop.Completion{Text: "a\xff", Reasoning: "b\xff"}, nil
	})
	for name, edited := range map[string]string{
		"reply":     strings.Replace(good, `"reply":"a`, `"reply":"b`, 1),
		"reasoning": strings.Replace(good, `"reasoning":"b`, `"reasoning":"a`, 1),
		"bytes":     strings.Replace(good, `"reply_bytes":"Yf8="`, `"reply_bytes":"Yv8="`, 1),
		"no need":   strings.NewReplacer("a\uFFFD", "b", "Yf8=", "Yg==").Replace(good), // b is UTF-8
	} {
		_, err := journal.Read(strings.NewReader(edited))
		if want := "journal:2: its reply or reasoning is another text than its bytes are"; err == nil || err.Error() != want {
			t.Errorf("%s: error is %v, want %s", name, err, want)
		}
	}
}

// TestReadRefusesTurnsThatAreNone, whose digest a terse journal does not tell from a right one.
func TestReadRefusesTurnsThatAreNone(t *testing.T) {
	good, _, _ := record(t, true, func(loop.Request) (loop.Completion, error) { return loop.Completion{Text: "r"}, nil })
	for old, now := range map[string]string{`"turn":2`: `"turn":-1`, `"attempt":1`: `"attempt":0`} {
		_, err := journal.Read(strings.NewReader(strings.Replace(good, old, now, 1)))
		if err == nil || !strings.HasPrefix(err.Error(), "journal:2: invalid turn ") {
			t.Errorf("%s: error is %v", now, err)
		}
	}
}

// TestReadErrorsAreNotACorruptJournal: of the reader, a missing file and one that was killed
// at once.
func TestReadErrorsAreNotACorruptJournal(t *testing.T) {
	good, _, err := record(t, false, func(loop.Request) (loop.Completion, error) { return loop.Completion{Text: "r"}, nil })
	if err != nil {
		t.Fatal(err)
	}
	broken := errors.New("input/output error")
	for _, before := range []string{"", good} {
		if _, err := journal.Read(io.MultiReader(strings.NewReader(before), iotest.ErrReader(broken))); err != broken {
			t.Errorf("after %d bytes: error is %v, want the reader's", len(before), err)
		}
	}
	path := filepath.Join(t.TempDir(), "calls.jsonl")
	_, header := journal.ReadHeader(path)
	_, file := journal.ReadFile(path)
	if !errors.Is(header, fs.ErrNotExist) || !errors.Is(file, fs.ErrNotExist) {
		t.Errorf("a missing file: %v; %v", header, file)
	}
	if err := os.WriteFile(path, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	_, header = journal.ReadHeader(path)
	_, file = journal.ReadFile(path)
	for _, err := range []error{header, file} {
		if err == nil || err.Error() != path+": no whole header" {
			t.Errorf("an empty file: %v", err)
		}
	}
}

// TestCorruptNamesTheFile, and no call would succeed.
func TestCorruptNamesTheFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "calls.jsonl")
	if err := os.WriteFile(path, []byte("notes\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	_, header := journal.ReadHeader(path)
	_, file := journal.ReadFile(path)
	_, _, goOn := journal.Continue(path)
	for _, err := range []error{header, file, goOn} {
		var corrupt *journal.Corrupt
		if !errors.As(err, &corrupt) || !corrupt.Misconfigured() || !strings.HasPrefix(err.Error(), path+":1: ") {
			t.Errorf("error is %v, want one at %s:1", err, path)
		}
	}
}

// TestExactBytesReadBack: a text that is not UTF-8 is the same after a journal, as are the
// digits of a seed that no float64 holds.
func TestExactBytesReadBack(t *testing.T) {
	const seed = int64(1)<<62 + 1
	header := journal.Header{Query: "q", Level: 1, Trial: 1, Model: journal.LiveModel("m", map[string]any{"seed": seed, "top_p": 0.1})}
	var b bytes.Buffer
	want := loop.Completion{Text: "a\xffb\xc3", Reasoning: "\xf0\x9f because \uFFFD"}
	rec := journal.Recorder{Header: header, W: &b, Model: modelFunc(func(loop.Request) (loop.Completion, error) { return want, nil })}
	if err := rec.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := rec.Complete(t.Context(), request); err != nil {
		t.Fatal(err)
	}
	if !utf8.Valid(b.Bytes()) {
		t.Errorf("the journal is no UTF-8: %q", &b)
	}
	if !strings.Contains(b.String(), `"reply":"a�b�"`) {
		t.Errorf("the reply cannot be read in the journal: %q", &b)
	}
	j, err := journal.Read(&b)
	if err != nil {
		t.Fatal(err)
	}
	if diff := j.Header.Difference(header, true); diff != "" {
		t.Errorf("the header differs from itself: %s", diff)
	}
	got, err := journal.NewReplay(j.Header, j.Calls).Complete(t.Context(), request)
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v, replayed (-want +got):\n%s", err, diff)
	}
}

func TestDigestTellsRequestsApart(t *testing.T) {
	base := request
	for name, r := range map[string]loop.Request{
		"turn":    {Turn: 3, Attempt: 1, System: "sys", User: base.User, MaxTokens: 2048},
		"attempt": {Turn: 2, Attempt: 2, System: "sys", User: base.User, MaxTokens: 2048},
		"border":  {Turn: 2, Attempt: 1, System: "sys" + base.User[:1], User: base.User[1:], MaxTokens: 2048},
		"space":   {Turn: 2, Attempt: 1, System: "sys", User: base.User + " ", MaxTokens: 2048},
		"limit":   {Turn: 2, Attempt: 1, System: "sys", User: base.User, MaxTokens: 2047},
	} {
		if header.Digest(r) == header.Digest(base) {
			t.Errorf("a request that differs in its %s has the same digest", name)
		}
	}
	trial, model := header, header
	trial.Trial = 2
	model.Model = journal.LiveModel("m", map[string]any{"temperature": 0})
	for name, h := range map[string]journal.Header{"trial": trial, "model": model} {
		if h.Digest(base) == header.Digest(base) {
			t.Errorf("a run that differs in its %s has the same digest", name)
		}
	}
}
