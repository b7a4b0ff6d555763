package openai_test

import (
	"errors"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/poimen-memory/mem/loop"
	"github.com/poimen-memory/mem/loop/openai"
	"github.com/poimen-memory/mem/scripted/fakeserver"
)

// charges keeps what a client was charged.
type charges struct {
	mu   sync.Mutex
	list []openai.Cost
}

func (c *charges) add(cost openai.Cost) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.list = append(c.list, cost)
}

// words counts as no server of these tests does.
func words(text string) int { return len(strings.Fields(text)) }

var question = loop.Request{Turn: 1, Attempt: 1, System: "one two", User: "three four five", MaxTokens: 100}

// TestUsageIsNotBelieved where it cannot be one; it is noted, and the cost is as we count.
func TestUsageIsNotBelieved(t *testing.T) {
	for usage, why := range map[string]string{
		`{"prompt_tokens":-5,"completion_tokens":2}`:                  "usage.prompt_tokens: found -5, want a whole number from 1 to 100000000",
		`{"prompt_tokens":7,"completion_tokens":-2}`:                  "usage.completion_tokens: found -2, want a whole number from 1",
		`{"prompt_tokens":7.5,"completion_tokens":2}`:                 "usage.prompt_tokens: found 7.5",
		`{"prompt_tokens":"7","completion_tokens":2}`:                 `usage.prompt_tokens: found "7"`,
		`{"prompt_tokens":1e308,"completion_tokens":2}`:               "usage.prompt_tokens: found 1e308",
		`{"prompt_tokens":1e999,"completion_tokens":2}`:               "usage.prompt_tokens: found 1e999",
		`{"prompt_tokens":9223372036854775808,"completion_tokens":2}`: "usage.prompt_tokens: found 9223372036854775808",
		`{"prompt_tokens":7,"completion_tokens":9223372036854775807}`: "usage.completion_tokens: found 9223372036854775807",
		`{"prompt_tokens":0,"completion_tokens":0,"total_tokens":0}`:  "usage.prompt_tokens: found 0",
		`{"prompt_tokens":7,"completion_tokens":0}`:                   "usage.completion_tokens: found 0",
		`{"prompt_tokens":7}`:                                         "usage.completion_tokens: found nothing",
		`{"prompt_tokens":null,"completion_tokens":2}`:                "usage.prompt_tokens: found null",
		`{"prompt_tokens":[7],"completion_tokens":2}`:                 "usage.prompt_tokens: found [7]",
		`{}`:     "usage.prompt_tokens: found nothing",
		`"many"`: `usage: found "many", want an object`,
		`[7,2]`:  "usage: found [7,2], want an object",
		`null`:   "",
	} {
		s := serve(t, fakeserver.Config{Reply: func(fakeserver.Request) fakeserver.Reply { return fakeserver.Reply{Text: "six seven", RawUsage: usage} }})
		var charged charges
		c := client(t, s.BaseURL(), openai.Config{Count: words, Charge: charged.add})
		got, err := c.Complete(t.Context(), question)
		if err != nil || got.Text != "six seven" || got.Usage != nil {
			t.Errorf("%s: %+v, %v; want the reply without usage", usage, got, err)
		}
		if diff := cmp.Diff([]openai.Cost{{Sent: true, Prompt: 5, Completion: 2}}, charged.list); diff != "" {
			t.Errorf("%s: charged (-want +got):\n%s", usage, diff)
		}
		stats := c.Stats()
		if stats.PromptTokens != 0 || stats.CompletionTokens != 0 || stats.Unmetered != 1 || (stats.BadUsage == 1) != (why != "") || !strings.HasPrefix(stats.BadUsageWhy, why) {
			t.Errorf("%s: %+v, want %q", usage, stats, why)
		}
	}
}

// TestCostIsNotDefeated by a server that counts far less than there is: one token for all.
func TestCostIsNotDefeated(t *testing.T) {
	long := strings.Repeat("word ", 1000)
	s := serve(t, fakeserver.Config{Reply: func(fakeserver.Request) fakeserver.Reply {
		return fakeserver.Reply{Text: long, RawUsage: `{"prompt_tokens":1,"completion_tokens":1}`}
	}})
	var charged charges
	r := question
	r.User = long
	if _, err := client(t, s.BaseURL(), openai.Config{Count: words, Charge: charged.add}).Complete(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]openai.Cost{{Sent: true, Prompt: 1002, Completion: 1000}}, charged.list); diff != "" {
		t.Errorf("charged (-want +got):\n%s", diff)
	}
}

func TestBelievedUsageIsTheCost(t *testing.T) {
	s := serve(t, fakeserver.Config{Reply: func(fakeserver.Request) fakeserver.Reply {
		return fakeserver.Reply{Text: "six", RawUsage: `{"prompt_tokens":40,"completion_tokens":2e1}`}
	}})
	var charged charges
	got, err := client(t, s.BaseURL(), openai.Config{Count: words, Charge: charged.add}).Complete(t.Context(), question)
	if want := (&loop.Usage{PromptTokens: 40, CompletionTokens: 20}); err != nil || !cmp.Equal(want, got.Usage) {
		t.Errorf("usage is %+v, %v", got.Usage, err)
	}
	if diff := cmp.Diff([]openai.Cost{{Sent: true, Prompt: 40, Completion: 20}}, charged.list); diff != "" {
		t.Errorf("charged (-want +got):\n%s", diff)
	}
}

// TestFailuresThatMayCost: each request that the server may have served, whatever came back.
func TestFailuresThatMayCost(t *testing.T) {
	page := "<html>" + strings.Repeat("x", 54) + "</html>" // 67 bytes: 23 tokens as a guess
	for _, test := range []struct {
		fault fakeserver.Fault
		want  openai.Cost
	}{
		{fakeserver.Status(500, fakeserver.VLLM), openai.Cost{}},
		{fakeserver.TooMany("0"), openai.Cost{}},
		{fakeserver.Status(400, fakeserver.VLLM), openai.Cost{}},
		{fakeserver.Raw(200, "text/html", page), openai.Cost{Sent: true, Prompt: 5, Completion: 23}},
		{fakeserver.Raw(200, "text/html", strings.Repeat(page, 9)), openai.Cost{Sent: true, Prompt: 5, Completion: 100}}, // MaxTokens
		{fakeserver.Raw(200, "application/json", `{"choices":[{"message":{"content":"six seven"},"finish_reason":"error"}],"usage":{"prompt_tokens":8,"completion_tokens":3}}`), openai.Cost{Sent: true, Prompt: 8, Completion: 3}},
		{fakeserver.Reset(), openai.Cost{Sent: true, Prompt: 5}},
	} {
		s := serve(t, fakeserver.Config{Plan: func(fakeserver.Request) fakeserver.Fault { return test.fault }})
		var charged charges
		c := client(t, s.BaseURL(), openai.Config{Count: words, Charge: charged.add, Retry: impatient(2)})
		if _, err := c.Complete(t.Context(), question); err == nil {
			t.Fatalf("%s: no error", test.fault.Name)
		}
		if len(charged.list) != s.Requests() {
			t.Errorf("%s: told %d times of %d requests", test.fault.Name, len(charged.list), s.Requests())
		}
		for _, got := range charged.list {
			if got != test.want {
				t.Errorf("%s: charged %+v, want %+v", test.fault.Name, got, test.want)
			}
		}
	}
	var charged charges
	c := client(t, "http://127.0.0.1:1/v1", openai.Config{Charge: charged.add, Retry: impatient(1)})
	if _, err := c.Complete(t.Context(), question); err == nil || len(charged.list) != 1 || charged.list[0].Sent {
		t.Errorf("no server: %v, charged %+v", err, charged.list)
	}
}

// TestAdmitIsAskedBeforeEachRequest, those that are tried again too.
func TestAdmitIsAskedBeforeEachRequest(t *testing.T) {
	enough := errors.New("enough")
	admitted, sent := 0, 0
	c := offline(t, openai.Config{Retry: impatient(10), Admit: func() error {
		if admitted++; admitted > 2 {
			return enough
		}
		return nil
	}}, func(*http.Request) *http.Response { sent++; return respond(500, "") })
	if _, err := c.Complete(t.Context(), question); !errors.Is(err, enough) || sent != 2 {
		t.Errorf("%v after %d requests, want 2", err, sent)
	}
}
