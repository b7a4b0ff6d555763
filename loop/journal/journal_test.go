package journal_test

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"

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
	rec := journal.Recorder{Header: header, Model: m, W: &b, Terse: terse}
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
	h, calls, err := journal.Read(strings.NewReader(log))
	if err != nil {
		t.Fatal(err)
	}
	if h.Query != "q" || h.Schema != journal.Schema {
		t.Errorf("header is %+v", h)
	}
	want := []journal.Call{{
		Turn: 2, Attempt: 1, Digest: header.Digest(request), System: "sys", User: request.User, MaxTokens: 2048,
		Reply: "ok <check>", Reasoning: "why", Finish: "stop", Usage: reply.Usage,
	}}
	if diff := cmp.Diff(want, calls); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
}

func TestTerseKeepsTheDigestInPlaceOfThePrompt(t *testing.T) {
	log, _, _ := record(t, true, func(loop.Request) (loop.Completion, error) { return loop.Completion{Text: "r"}, nil })
	_, calls, err := journal.Read(strings.NewReader(log))
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
	if _, calls, _ := journal.Read(strings.NewReader(log)); len(calls) != 1 || calls[0].Error != "connection refused" {
		t.Errorf("calls are %+v", calls)
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
		_, calls, err := journal.Read(strings.NewReader(log[:cut]))
		if err != nil || len(calls) != 0 {
			t.Fatalf("cut at byte %d: %d calls, %v", cut, len(calls), err)
		}
	}
}

func TestReadRefuses(t *testing.T) {
	for name, in := range map[string]string{
		"no whole header":      `{"schema":1`,
		"line 1: invalid":      "x\n",
		"line 1: schema is 99": "{\"schema\":99}\n",
		"line 2":               "{\"schema\":1}\nx\n",
	} {
		if _, _, err := journal.Read(strings.NewReader(in)); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%q: error is %v, want one about %q", in, err, name)
		}
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
