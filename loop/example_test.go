package loop_test

import (
	"bytes"
	"context"
	"fmt"
	"strings"

	"github.com/poimen-memory/mem/loop"
	"github.com/poimen-memory/mem/loop/eventlog"
	"github.com/poimen-memory/mem/prompt"
)

// finder is a model that writes down what it reads about ports.
type finder struct{}

func (finder) Complete(_ context.Context, r loop.Request) (loop.Completion, error) {
	if strings.Contains(r.User, "listening on 6380") {
		return loop.Completion{Text: "<check>yes</check><update>Redis listens on 6380.</update><next>end</next>"}, nil
	}
	return loop.Completion{Text: "<check>no</check><next>continue</next>"}, nil
}

// A session of two records, one a chunk, goes through the loop; its log is read back
// turn by turn.
func ExampleRun() {
	prompts, err := prompt.New(prompt.Config{Counter: words{}})
	if err != nil {
		fmt.Println(err)
		return
	}
	session := func(yield func(prompt.Chunk, error) bool) {
		for _, text := range []string{"build passed", "redis: listening on 6380"} {
			if !yield(prompts.Chunk(prompt.Record{Role: "tool", Text: text}), nil) {
				return
			}
		}
	}
	var log bytes.Buffer
	cfg := loop.Config{Model: finder{}, Prompts: prompts, Sink: eventlog.Writer{W: &log}, Level: 1, Tokenizer: "words"}
	out, err := loop.Run(context.Background(), cfg, "Which port does Redis listen on?", session)
	if err != nil {
		fmt.Println(err)
		return
	}
	for turn, err := range eventlog.Turns(&log) {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("turn %d: update %v, exit %v, %d events\n", turn.Number, turn.Update, turn.Exit, len(turn.Events))
	}
	fmt.Printf("%d of %d chunks used: %s\n", out.ChunksUsed, out.ChunksSeen, out.Memory.Raw)
	// Output:
	// turn 1: update false, exit false, 1 events
	// turn 2: update true, exit true, 3 events
	// 1 of 2 chunks used: Redis listens on 6380.
}
