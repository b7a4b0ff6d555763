package loop_test

import (
	"context"
	"fmt"
	"io"
	"testing"

	"github.com/poimen-memory/mem/gate"
	"github.com/poimen-memory/mem/loop"
	"github.com/poimen-memory/mem/loop/eventlog"
	"github.com/poimen-memory/mem/prompt"
	"github.com/poimen-memory/mem/prompt/token"
)

// BenchmarkRun is a turn at 5,000-token chunks with the event log on: retaining, and with
// a new memory of some 1,000 tokens to count each time.
func BenchmarkRun(b *testing.B) {
	count, err := token.New("o200k_base")
	if err != nil {
		b.Fatal(err)
	}
	prompts, err := prompt.New(prompt.Config{Counter: count})
	if err != nil {
		b.Fatal(err)
	}
	chunk := fiveThousand(prompts)
	memory := ""
	for i := range 160 {
		memory += fmt.Sprintf("Fact %d: port %d. ", i, 6000+i)
	}
	for name, reply := range map[string]string{
		"retain": no("continue"),
		"update": gate.Decision{Update: true, HasCandidate: true, Candidate: memory}.Reply(),
	} {
		b.Run(name, func(b *testing.B) {
			model := modelFunc(func(context.Context, loop.Request) (loop.Completion, error) {
				return loop.Completion{Text: reply}, nil
			})
			cfg := loop.Config{Model: model, Prompts: prompts, Sink: eventlog.Writer{W: io.Discard}, Level: 1}
			b.ReportAllocs()
			b.SetBytes(int64(len(chunk.Sent)))
			source := func(yield func(prompt.Chunk, error) bool) {
				for b.Loop() {
					if !yield(chunk, nil) {
						return
					}
				}
			}
			if _, err := loop.Run(b.Context(), cfg, "Which port?", source); err != nil {
				b.Fatal(err)
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "turns/s")
		})
	}
}

func fiveThousand(prompts *prompt.Builder) prompt.Chunk {
	text := ""
	var chunk prompt.Chunk
	for i := 0; chunk.Tokens < 4850; i++ {
		text += fmt.Sprintf("2026-03-02T09:%02d:%02dZ ferryd: offer %d to courier %d took %d ms\n", i/60%60, i%60, i, i%7, i*i%997)
		if i%4 == 0 {
			chunk = prompts.Chunk(prompt.Record{Role: "tool", Text: text})
		}
	}
	return chunk
}
