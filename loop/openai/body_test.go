package openai_test

import (
	"context"
	"math"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/poimen-memory/mem/loop"
	"github.com/poimen-memory/mem/loop/openai"
	"github.com/poimen-memory/mem/scripted/fakeserver"
)

// recorder keeps what a server was sent.
type recorder struct {
	mu   sync.Mutex
	sent []fakeserver.Request
}

func (r *recorder) reply(q fakeserver.Request) fakeserver.Reply {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.sent = append(r.sent, q)
	return fakeserver.Reply{Text: "ok"}
}

func TestBodyIsWhatTheConfigSays(t *testing.T) {
	for name, test := range map[string]struct {
		model   string
		params  openai.Params
		request loop.Request
		want    string
	}{
		"bare": {
			request: loop.Request{User: "u"},
			want:    `{"messages":[{"role":"user","content":"u"}],"model":"m","stream":false}`,
		},
		"zeros are sent": {
			params:  openai.Params{Temperature: ptr(0.0), TopP: ptr(0.0), Seed: ptr[int64](0)},
			request: loop.Request{User: "u", Attempt: 1},
			want:    `{"messages":[{"role":"user","content":"u"}],"model":"m","seed":0,"stream":false,"temperature":0,"top_p":0}`,
		},
		"all": {
			params: openai.Params{
				Temperature: ptr(0.7), TopP: ptr(0.95), Seed: ptr[int64](7), Stop: []string{"</next>", "<end>"},
				Extra: map[string]any{"top_k": 20, "chat_template_kwargs": map[string]any{"enable_thinking": false}},
			},
			request: loop.Request{System: "s & t", User: "<check>\u2028\"é", MaxTokens: 2048, Attempt: 1},
			want: `{"chat_template_kwargs":{"enable_thinking":false},"max_tokens":2048,` +
				`"messages":[{"role":"system","content":"s & t"},{"role":"user","content":"<check>\u2028\"é"}],` +
				`"model":"m","seed":7,"stop":["</next>","<end>"],"stream":false,"temperature":0.7,"top_k":20,"top_p":0.95}`,
		},
		"log probabilities": {
			params:  openai.Params{LogProbs: true},
			request: loop.Request{User: "u"},
			want:    `{"logprobs":true,"messages":[{"role":"user","content":"u"}],"model":"m","stream":false,"top_logprobs":5}`,
		},
		"more log probabilities": {
			params:  openai.Params{LogProbs: true, Extra: map[string]any{"top_logprobs": 20}},
			request: loop.Request{User: "u"},
			want:    `{"logprobs":true,"messages":[{"role":"user","content":"u"}],"model":"m","stream":false,"top_logprobs":20}`,
		},
		"a parse retry has another seed": {
			params:  openai.Params{Temperature: ptr(0.0), Seed: ptr[int64](7)},
			request: loop.Request{User: "u", Attempt: 3},
			want:    `{"messages":[{"role":"user","content":"u"}],"model":"m","seed":9,"stream":false,"temperature":0}`,
		},
		"the first of them too": {
			params:  openai.Params{Seed: ptr[int64](-1)},
			request: loop.Request{User: "u", Attempt: 2},
			want:    `{"messages":[{"role":"user","content":"u"}],"model":"m","seed":0,"stream":false}`,
		},
		"no seed, none invented": {
			request: loop.Request{User: "u", Attempt: 3},
			want:    `{"messages":[{"role":"user","content":"u"}],"model":"m","stream":false}`,
		},
		"a stream that was asked for": {
			params:  openai.Params{Extra: map[string]any{"stream": true, "stream_options": map[string]any{"include_usage": true}}},
			request: loop.Request{User: "u"},
			want:    `{"messages":[{"role":"user","content":"u"}],"model":"m","stream":true,"stream_options":{"include_usage":true}}`,
		},
		"empty user": {
			request: loop.Request{},
			want:    `{"messages":[{"role":"user","content":""}],"model":"m","stream":false}`,
		},
		"no veto by name": {
			model:   "gpt-5-mini",
			params:  openai.Params{Temperature: ptr(0.3), MaxTokensField: "max_completion_tokens"},
			request: loop.Request{User: "u", MaxTokens: 5},
			want:    `{"max_completion_tokens":5,"messages":[{"role":"user","content":"u"}],"model":"gpt-5-mini","stream":false,"temperature":0.3}`,
		},
		"nor by a list": {
			model:   "text-davinci-003",
			request: loop.Request{User: "u"},
			want:    `{"messages":[{"role":"user","content":"u"}],"model":"text-davinci-003","stream":false}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			var r recorder
			s := serve(t, fakeserver.Config{Reply: r.reply})
			c := client(t, s.BaseURL(), openai.Config{Model: test.model, Params: test.params})
			if _, err := c.Complete(t.Context(), test.request); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, string(r.sent[0].Body)); diff != "" {
				t.Errorf("body (-want +got):\n%s", diff)
			}
			if got := r.sent[0].Header.Get("Authorization"); got != "Bearer "+key {
				t.Errorf("Authorization is %q", got)
			}
		})
	}
}

func TestRetrySendsTheSameBytes(t *testing.T) {
	var r recorder
	plan := func(q fakeserver.Request) fakeserver.Fault {
		return fakeserver.Script(fakeserver.Reset(), fakeserver.TooMany("0"))(q)
	}
	s := serve(t, fakeserver.Config{Reply: r.reply, Plan: plan})
	complete(t, client(t, s.BaseURL(), openai.Config{Params: openai.Params{Seed: ptr[int64](3)}}))
	if len(r.sent) != 3 || string(r.sent[0].Body) != string(r.sent[2].Body) || string(r.sent[0].Body) != string(r.sent[1].Body) {
		t.Errorf("sent %d bodies, want three alike", len(r.sent))
	}
}

func TestNoKeyNoHeader(t *testing.T) {
	var r recorder
	s := serve(t, fakeserver.Config{Reply: r.reply})
	c, err := openai.New(openai.Config{BaseURL: s.BaseURL() + "/", Model: "m"})
	if err != nil {
		t.Fatal(err)
	}
	complete(t, c)
	if _, ok := r.sent[0].Header["Authorization"]; ok {
		t.Error("an Authorization header was sent")
	}
}

func TestInvalidUTF8IsNotSent(t *testing.T) {
	s := serve(t, fakeserver.Config{})
	_, err := client(t, s.BaseURL(), openai.Config{}).Complete(context.Background(), loop.Request{User: "a\xffb"})
	if err == nil || !strings.Contains(err.Error(), "user message: is not valid UTF-8") || s.Requests() != 0 {
		t.Errorf("error is %v after %d requests", err, s.Requests())
	}
}

// TestSamplingNamesWhatIsSent: what is sent with every request of every model says nothing,
// and would part new records from old ones.
func TestSamplingNamesWhatIsSent(t *testing.T) {
	c := client(t, "http://localhost/v1", openai.Config{Params: openai.Params{Temperature: ptr(0.0), Seed: ptr[int64](7)}})
	want := map[string]any{"model": "m", "temperature": 0.0, "seed": int64(7)}
	if diff := cmp.Diff(want, c.Sampling()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestConfigIsRefused(t *testing.T) {
	for name, test := range map[string]struct {
		cfg  openai.Config
		want string
	}{
		"user info":      {openai.Config{BaseURL: "https://joe:" + key + "@h/v1"}, "base_url: holds user info"},
		"broken":         {openai.Config{BaseURL: "https://joe:" + key + "@h:port/v1"}, "base_url: is not an http or https URL"},
		"scheme":         {openai.Config{BaseURL: "ftp://h/v1"}, "base_url: is not an http or https URL"},
		"no host":        {openai.Config{BaseURL: "localhost:8000/v1"}, "base_url: is not an http or https URL"},
		"query":          {openai.Config{BaseURL: "https://h/v1?key=" + key}, "base_url: https://h/v1 is followed by a query"},
		"no model":       {openai.Config{Model: "-"}, "model: is empty"},
		"key's newline":  {openai.Config{APIKey: openai.NewKey(key + "\n")}, "api key: byte 24"},
		"negative":       {openai.Config{Timeout: -1}, "timeout: is negative"},
		"no patience":    {openai.Config{Retry: openai.Retry{GiveUpAfter: -1}}, "retry.give_up_after: is negative"},
		"floor":          {openai.Config{Limits: openai.Limits{MinConnections: 9}}, "min_connections: is 9; want at most max_connections, 8"},
		"tokens field":   {openai.Config{Params: openai.Params{MaxTokensField: "n_predict"}}, `max_tokens_field: is "n_predict"`},
		"reserved":       {openai.Config{Params: openai.Params{Extra: map[string]any{"messages": true}}}, "extra.messages: is not an extra field"},
		"not JSON":       {openai.Config{Params: openai.Params{Extra: map[string]any{"x": func() {}}}}, "extra.x: json: unsupported type"},
		"no number":      {openai.Config{Params: openai.Params{Temperature: ptr(math.NaN())}}, "NaN"},
		"all at once, 1": {openai.Config{BaseURL: "ftp://h", Model: "-"}, "base_url"},
		"all at once, 2": {openai.Config{BaseURL: "ftp://h", Model: "-"}, "model"},
	} {
		t.Run(name, func(t *testing.T) {
			if test.cfg.BaseURL == "" {
				test.cfg.BaseURL = "http://localhost/v1"
			}
			test.cfg.Model = strings.TrimSuffix("m"+test.cfg.Model, "m-")
			_, err := openai.New(test.cfg)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error is %v, want %s", err, test.want)
			}
			if strings.Contains(err.Error(), key) {
				t.Errorf("error shows the key: %v", err)
			}
		})
	}
}

func TestWarnings(t *testing.T) {
	for base, want := range map[string]int{
		"http://models.example/v1":     1,
		"http://192.168.1.4:8000/v1":   1,
		"http://localhost.example/v1":  1,
		"https://models.example/v1":    0,
		"http://localhost:8000/v1":     0,
		"http://127.0.0.9:8000/v1":     0,
		"http://[::1]:8000/v1":         0,
		"http://vllm.localhost/v1":     0,
		"http://joe:secret@example/v1": 0, // refused anyway
	} {
		if got := (openai.Config{BaseURL: base, Model: "m"}).Warnings(); len(got) != want {
			t.Errorf("%s: warnings are %q, want %d", base, got, want)
		}
	}
}
