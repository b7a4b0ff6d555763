package openai_test

import (
	"context"
	"fmt"
	"time"

	"github.com/poimen-memory/mem/loop"
	"github.com/poimen-memory/mem/loop/openai"
	"github.com/poimen-memory/mem/scripted/fakeserver"
)

// A client asks a server that fails once. The failure may pass, so the call is tried again.
func ExampleClient() {
	server := fakeserver.Start(fakeserver.Config{
		Model: "grumem-3b",
		Reply: func(fakeserver.Request) fakeserver.Reply {
			return fakeserver.Reply{Text: "<check>no</check><next>continue</next>"}
		},
		Plan: fakeserver.Script(fakeserver.Answer(503)),
	})
	defer server.Close()
	client, err := openai.New(openai.Config{
		BaseURL: server.BaseURL(),
		Model:   "grumem-3b",
		Retry:   openai.Retry{Initial: time.Millisecond},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	reply, err := client.Complete(context.Background(), loop.Request{Turn: 1, Attempt: 1, User: "the prompt", MaxTokens: 64})
	fmt.Println(reply.Text, err, server.Requests())
	// Output: <check>no</check><next>continue</next> <nil> 2
}
