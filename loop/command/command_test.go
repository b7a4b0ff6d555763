package command_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/poimen-memory/mem/loop"
	"github.com/poimen-memory/mem/loop/command"
	"github.com/poimen-memory/mem/loop/openai"
)

// TestMain is the program of the tests too: with a mode as argument it answers.
func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == "answer" {
		answer(os.Args[2])
		return
	}
	os.Setenv("GORACE", "atexit_sleep_ms=0") // else each process sleeps for a second under the race detector
	os.Exit(m.Run())
}

// answer answers each request in a mode. A reply names the process and how many it has answered.
func answer(mode string) {
	in := bufio.NewReader(os.Stdin)
	for n := 1; ; n++ {
		line, err := in.ReadString('\n')
		if err != nil {
			os.WriteFile("ended", []byte(fmt.Sprint(n)), 0o666)
			return
		}
		var asked struct {
			Model    string
			Messages []struct{ Role, Content string }
			Seed     int64
		}
		if json.Unmarshal([]byte(line), &asked) != nil {
			os.Exit(9)
		}
		reply := fmt.Sprintf(`{"content": "%d of %d", "usage": {"prompt_tokens": 3, "completion_tokens": 2}}`, n, os.Getpid())
		switch mode {
		case "echo":
			said, _ := json.Marshal(asked.Messages[len(asked.Messages)-1].Content + " by " + asked.Model)
			reply = `{"content": ` + string(said) + `, "reasoning": "hm", "finish_reason": "length"}`
		case "openai":
			reply = `{"choices": [{"message": {"role": "assistant", "content": "whole"}}]}`
		case "refuse":
			reply = `{"error": "no such thing"}`
		case "busy":
			if _, err := os.Stat("asked"); err != nil {
				os.WriteFile("asked", nil, 0o666)
				reply = `{"error": "later", "retry": true}`
			}
		case "text":
			reply = `{"text": "yes"}`
		case "long":
			reply = `{"content": "` + strings.Repeat("x", 4000) + `"}`
		case "die":
			fmt.Fprintln(os.Stderr, "no model in here")
			os.Exit(3)
		case "tired":
			if n > 1 {
				os.Exit(5)
			}
			if _, err := os.Stat("asked"); err == nil {
				os.Exit(6)
			}
			os.WriteFile("asked", nil, 0o666)
		case "half":
			fmt.Print(`{"content": "ye`)
			return
		case "hang":
			os.WriteFile("hangs", nil, 0o666)
			time.Sleep(time.Hour)
		}
		fmt.Println(reply)
		if mode == "once" {
			return
		}
	}
}

func client(t *testing.T, mode string, edit ...func(*openai.Config)) (*openai.Client, *command.Transport, string) {
	t.Helper()
	dir := t.TempDir()
	program, err := filepath.Abs(os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	transport, err := command.New(command.Config{Program: program, Args: []string{"answer", mode}, Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(transport.Close)
	cfg := openai.Config{
		BaseURL: "http://localhost/v1", Address: "command test", Model: "m", Transport: transport,
		Retry: openai.Retry{MaxTries: 2, Initial: time.Millisecond},
	}
	for _, e := range edit {
		e(&cfg)
	}
	c, err := openai.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return c, transport, dir
}

func ask(c *openai.Client) (loop.Completion, error) {
	return c.Complete(context.Background(), loop.Request{User: "a\nb <next>", Turn: 1, Attempt: 1, MaxTokens: 5})
}

func TestReplies(t *testing.T) {
	for _, test := range []struct{ mode, want, finish, reasoning, wrong string }{
		{mode: "echo", want: "a\nb <next> by m", finish: "length", reasoning: "hm"},
		{mode: "openai", want: "whole"},
		{mode: "busy", want: "of"},
		{mode: "refuse", wrong: "no such thing"},
		{mode: "text", wrong: `found a reply with text, want content, as in {"content": "…"}`},
		{mode: "die", wrong: "model m at command test: status 400: the program ended without a reply (exit status 3): no model in here"},
		{mode: "half", wrong: "the program ended within a reply, after 15 bytes of a line"},
	} {
		t.Run(test.mode, func(t *testing.T) {
			c, _, _ := client(t, test.mode)
			got, err := ask(c)
			switch {
			case test.wrong != "":
				if err == nil || !strings.Contains(err.Error(), test.wrong) {
					t.Fatalf("got %v, want %s", err, test.wrong)
				}
			case err != nil:
				t.Fatal(err)
			case !strings.Contains(got.Text, test.want) || got.Finish != test.finish || got.Reasoning != test.reasoning:
				t.Fatalf("got %+v", got)
			}
		})
	}
}

// TestProcesses: one process answers call after call, one that ends after a reply is no failure,
// calls at a time have processes of their own, and none is left.
func TestProcesses(t *testing.T) {
	texts := func(t *testing.T, c *openai.Client, n int) (list []string) {
		for range n {
			got, err := ask(c)
			if err != nil {
				t.Fatal(err)
			}
			if got.Usage == nil || got.Usage.PromptTokens != 3 {
				t.Fatalf("usage: %+v", got.Usage)
			}
			list = append(list, got.Text)
		}
		return list
	}
	t.Run("again", func(t *testing.T) {
		c, transport, dir := client(t, "")
		got := texts(t, c, 3)
		pid := strings.TrimPrefix(got[0], "1 of ")
		if got[1] != "2 of "+pid || got[2] != "3 of "+pid {
			t.Fatalf("got %q", got)
		}
		transport.Close()
		if said, err := os.ReadFile(filepath.Join(dir, "ended")); err != nil || string(said) != "4" {
			t.Fatalf("the program's input did not end: %q, %v", said, err)
		}
	})
	t.Run("once", func(t *testing.T) {
		c, _, _ := client(t, "once")
		for _, text := range texts(t, c, 3) {
			if !strings.HasPrefix(text, "1 of ") {
				t.Fatalf("got %q", text)
			}
		}
		if s := c.Stats(); s.Failed() != 0 || s.Retries != 0 {
			t.Fatalf("failed: %+v", s)
		}
	})
	t.Run("parallel", func(t *testing.T) {
		c, _, _ := client(t, "")
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				for range 20 {
					if _, err := ask(c); err != nil {
						t.Error(err)
					}
				}
			})
		}
		wg.Wait()
	})
}

// TestEnded: a program that has answered may do so again, and is asked again.
func TestEnded(t *testing.T) {
	c, _, dir := client(t, "tired")
	if _, err := ask(c); err != nil {
		t.Fatal(err)
	}
	_, err := ask(c)
	if err == nil || !strings.Contains(err.Error(), "after 2 attempts") || !strings.Contains(err.Error(), "exit status 6") {
		t.Fatalf("got %v", err)
	}
	if err := os.Remove(filepath.Join(dir, "asked")); err != nil {
		t.Fatal(err)
	}
	if _, err := ask(c); err != nil {
		t.Fatal(err)
	}
}

// TestTimeout: a program that does not answer is killed, and its call fails.
func TestTimeout(t *testing.T) {
	c, _, dir := client(t, "hang", func(cfg *openai.Config) { cfg.Timeout, cfg.Retry.MaxTries = 300*time.Millisecond, 1 })
	_, err := ask(c)
	if err == nil || !strings.Contains(err.Error(), "no whole reply within 300ms") {
		t.Fatalf("got %v", err)
	}
	if _, err := os.Stat(filepath.Join(dir, "hangs")); err != nil {
		t.Fatal("the program was not asked")
	}
}

// TestLong: the rest of a line that is too long is nobody's reply.
func TestLong(t *testing.T) {
	dir := t.TempDir()
	transport, err := command.New(command.Config{Program: os.Args[0], Args: []string{"answer", "long"}, Dir: dir, MaxReply: 100})
	if err != nil {
		t.Fatal(err)
	}
	c, err := openai.New(openai.Config{BaseURL: "http://localhost/v1", Model: "m", Transport: transport, MaxResponseBytes: 100})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if _, err := ask(c); err == nil || !strings.Contains(err.Error(), "is over 100 bytes") {
			t.Fatalf("got %v", err)
		}
	}
}

func TestNew(t *testing.T) {
	_, err := command.New(command.Config{Program: "no-such-program"})
	if err == nil || !strings.Contains(err.Error(), `the program "no-such-program" cannot be started: executable file not found in $PATH`) {
		t.Fatalf("got %v", err)
	}
}
