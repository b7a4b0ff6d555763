package loop_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/poimen-memory/mem/gate"
	"github.com/poimen-memory/mem/loop"
	"github.com/poimen-memory/mem/loop/eventlog"
	"github.com/poimen-memory/mem/prompt"
)

// TestARunGoesOnFromAStartState: two runs, the second from where the first ended, send what
// one run over all chunks sends, and their events differ in the opening and the end only.
func TestARunGoesOnFromAStartState(t *testing.T) {
	replies := [][]string{{no("continue")}, {yes("first", "continue")}, {garbled}, {no("continue")}, {yes("second", "end")}}
	whole := run(t, loop.Config{}, 5, replies)
	for split := range 6 {
		head := run(t, loop.Config{}, split, replies)
		start := loop.Config{StartTurn: split}
		if head.Memory != nil {
			start.StartMemory = head.Memory.Raw
		}
		s, l, b := &script{replies: replies}, &log{}, builder(t)
		start.Model, start.Sink, start.Prompts, start.Tokenizer, start.Level = s, l, b, "words", 1
		out, err := loop.Run(t.Context(), start, "Which port?", func(yield func(prompt.Chunk, error) bool) {
			n := 0
			for c, err := range chunks(b, 5) {
				if n++; n > split && !yield(c, err) {
					return
				}
			}
		})
		if err != nil || out.ChunksSeen != 5-split || out.ChunksUsed != whole.ChunksUsed-head.ChunksUsed || cmp.Diff(whole.Memory, out.Memory) != "" {
			t.Errorf("from turn %d: %+v, %v", split, out, err)
		}
		if diff := cmp.Diff(whole.sent, append(head.sent, s.sent...)); diff != "" {
			t.Errorf("from turn %d: requests (-one run +two):\n%s", split, diff)
		}
		turns := append(head.log.units[1:split+1:split+1], l.units[1:len(l.units)-1]...)
		if diff := cmp.Diff(whole.log.units[1:6], turns); diff != "" {
			t.Errorf("from turn %d: turns (-one run +two):\n%s", split, diff)
		}
		report, err := eventlog.Verify(strings.NewReader(l.text.String()), nil)
		if err != nil || report.State != eventlog.Complete || report.Start.StartTurn != split || (report.Start.StartMemorySHA == "") != (head.Memory == nil) {
			t.Errorf("from turn %d: %+v of %+v, %v", split, report, report.Start, err)
		}
		if zero := !strings.Contains(l.text.String(), `"start_`); zero != (split == 0) {
			t.Errorf("from turn %d: the opening is %s", split, strings.SplitAfter(l.text.String(), "\n")[0])
		}
	}
}

func TestAConfigThatCannotRunIsAnError(t *testing.T) {
	b := builder(t)
	good := loop.Config{Model: &script{replies: each(no("continue"))}, Sink: &log{}, Prompts: b, Level: 1}
	for want, change := range map[string]func(*loop.Config){
		"loop: Model is nil, want a model to ask":              func(c *loop.Config) { c.Model = nil },
		"loop: Prompts is nil, want a builder of prompts":      func(c *loop.Config) { c.Prompts = nil },
		"loop: Sink is nil, want a sink for events":            func(c *loop.Config) { c.Sink = nil },
		"loop: StartTurn is -1, want 0 or more":                func(c *loop.Config) { c.StartTurn = -1 },
		"loop: Level is -1, want 1 or more":                    func(c *loop.Config) { c.Level = -1 },
		`loop: StartMemory is "a\xff", want valid UTF-8`:       func(c *loop.Config) { c.StartMemory = "a\xff" },
		`loop: StartMemory is " ", want a text without white `: func(c *loop.Config) { c.StartMemory = " " },
	} {
		cfg := good
		change(&cfg)
		_, err := loop.Run(t.Context(), cfg, "q", chunks(b, 1))
		if _, ok := errors.AsType[*loop.ConfigError](err); !ok || !strings.HasPrefix(err.Error(), want) || !loop.IsMisconfigured(err) {
			t.Errorf("error is %v, want %s", err, want)
		}
	}
	if _, err := loop.Run(t.Context(), good, "q", nil); err == nil || err.Error() != "loop: chunks is nil, want a sequence of chunks" {
		t.Errorf("no chunks: error is %v", err)
	}
	good.StartMemory = strings.Repeat("word ", 1024) + "word"
	_, err := loop.Run(t.Context(), good, "q", chunks(b, 1))
	if over, ok := errors.AsType[*prompt.OverBudget](err); !ok || over.Component != "memory" {
		t.Errorf("a start memory over the budget: error is %v", err)
	}
}

// TestTheZeroLevelIsOne: level 0 is the evidence, and a log of level 0 would not verify.
func TestTheZeroLevelIsOne(t *testing.T) {
	b, log := builder(t), &log{}
	if _, err := loop.Run(t.Context(), loop.Config{Model: &script{replies: each(no("end"))}, Prompts: b, Sink: log}, "q", chunks(b, 1)); err != nil {
		t.Fatal(err)
	}
	if r, err := eventlog.Verify(strings.NewReader(log.text.String()), nil); err != nil || r.State != eventlog.Complete || r.Start.Level != 1 {
		t.Errorf("%+v, %v\n%s", r, err, log.text.String())
	}
}

type kinded struct{ holds bool }

func (kinded) Error() string         { return "kinded" }
func (k kinded) Misconfigured() bool { return k.holds }
func (k kinded) ContextLength() bool { return k.holds }
func (k kinded) NotSent() bool       { return k.holds }

func TestErrorKinds(t *testing.T) {
	for name, is := range map[string]func(error) bool{"misconfigured": loop.IsMisconfigured, "context length": loop.IsContextLength, "not sent": loop.IsNotSent} {
		if !is(fmt.Errorf("model m: %w", kinded{true})) || is(kinded{false}) || is(errors.New("refused")) || is(nil) {
			t.Errorf("%s: the kind is not what the method says", name)
		}
	}
}

// TestAnUnboundedStreamStaysFlat: a service reads for ever. What it holds after 20,000 turns
// is what it held after a tenth of them.
func TestAnUnboundedStreamStaysFlat(t *testing.T) {
	turns := 20_000
	if testing.Short() {
		turns = 2_000
	}
	b := builder(t)
	model := modelFunc(func(_ context.Context, r loop.Request) (loop.Completion, error) {
		switch r.Turn % 3 {
		case 0:
			return loop.Completion{Text: yes(fmt.Sprint("memory of turn ", r.Turn, strings.Repeat(" word", 800)), "continue")}, nil
		case 1:
			return loop.Completion{Text: garbled}, nil
		}
		return loop.Completion{Text: no("continue")}, nil
	})
	early := uint64(0)
	out, err := loop.Run(t.Context(), loop.Config{Model: model, Prompts: b, Sink: sinkFunc(func([]loop.Event) error { return nil }), Level: 1}, "q",
		func(yield func(prompt.Chunk, error) bool) {
			for n := range turns {
				if n == turns/10 {
					early = inUse()
				}
				if !yield(b.Chunk(prompt.Record{Role: "tool", Text: fmt.Sprint("line ", n)}), nil) {
					return
				}
			}
		})
	if late := inUse(); err != nil || out.ChunksSeen != turns || late > early+1<<20 {
		t.Errorf("%d turns, %v: %d bytes in use after a tenth of them, %d at the end", out.ChunksSeen, err, early, late)
	}
}

func inUse() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// TestTheIgnoredCandidateIsNotAdopted: the seed's mutant, on its own. A no keeps the memory
// that there is, byte for byte, whatever stands in its update.
func TestTheIgnoredCandidateIsNotAdopted(t *testing.T) {
	if d, err := gate.Parse(no("continue")); err != nil || d.Update || d.Candidate != ignored {
		t.Fatalf("no() is read as %+v, %v: it carries no candidate to ignore", d, err)
	}
	r := run(t, loop.Config{}, 3, [][]string{{no("continue")}, {yes("kept", "continue")}, {no("continue")}})
	if got := strings.Join(r.memories(t), "|"); got != " No previous memory | No previous memory | kept " || r.Memory.Raw != "kept" {
		t.Errorf("sent memories are %q, the last is %q", got, r.Memory.Raw)
	}
}
