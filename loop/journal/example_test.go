package journal_test

import (
	"bytes"
	"context"
	"fmt"

	"github.com/poimen-memory/mem/loop"
	"github.com/poimen-memory/mem/loop/journal"
)

// notUseful is a model that finds nothing of use in any chunk.
type notUseful struct{}

func (notUseful) Complete(context.Context, loop.Request) (loop.Completion, error) {
	return loop.Completion{Text: "<check>no</check><next>continue</next>"}, nil
}

// A call is recorded, and then answered from the recording without the model.
func ExampleReplay() {
	var recording bytes.Buffer
	rec := &journal.Recorder{Header: journal.Header{Query: "Which port?"}, Model: notUseful{}, W: &recording}
	if err := rec.Start(); err != nil {
		fmt.Println(err)
		return
	}
	request := loop.Request{Turn: 1, Attempt: 1, User: "the prompt", MaxTokens: 2048}
	if _, err := rec.Complete(context.Background(), request); err != nil {
		fmt.Println(err)
		return
	}
	j, err := journal.Read(&recording)
	if err != nil {
		fmt.Println(err)
		return
	}
	replay := journal.NewReplay(j.Header, j.Calls)
	reply, err := replay.Complete(context.Background(), request)
	fmt.Println(reply.Text, err)
	request.User = "another prompt"
	fmt.Println(replay.Has(request))
	// Output:
	// <check>no</check><next>continue</next> <nil>
	// false
}
