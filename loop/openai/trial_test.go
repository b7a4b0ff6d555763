package openai_test

import (
	"strings"
	"testing"

	"github.com/poimen-memory/mem/loop"
	"github.com/poimen-memory/mem/loop/openai"
	"github.com/poimen-memory/mem/scripted/fakeserver"
)

// TestTrialsHaveSeedsOfTheirOwn: what is sent, and what Sampling says, agree.
func TestTrialsHaveSeedsOfTheirOwn(t *testing.T) {
	var sent recorder
	server := fakeserver.Start(fakeserver.Config{Reply: sent.reply})
	defer server.Close()
	client, err := openai.New(openai.Config{BaseURL: server.BaseURL(), Model: "m", Params: openai.Params{Seed: ptr[int64](7)}})
	if err != nil {
		t.Fatal(err)
	}
	for i, test := range []struct {
		trial, attempt int
		want           string
	}{{1, 1, `"seed":7`}, {2, 1, `"seed":1007`}, {2, 3, `"seed":1009`}} {
		trial := client.Trial(test.trial)
		if _, err := trial.Complete(t.Context(), loop.Request{User: "u", Attempt: test.attempt}); err != nil {
			t.Fatal(err)
		}
		if body := string(sent.sent[i].Body); !strings.Contains(body, test.want+",") {
			t.Errorf("trial %d, attempt %d sends %s, want %s", test.trial, test.attempt, body, test.want)
		}
	}
	if seed := client.Trial(2).Sampling()["seed"]; seed != int64(1007) {
		t.Errorf("Sampling says seed %v, want 1007", seed)
	}
	if client.Stats().Calls != 3 {
		t.Errorf("the client counts %d calls, want those of its trials", client.Stats().Calls)
	}
	bare, err := openai.New(openai.Config{BaseURL: server.BaseURL(), Model: "m"})
	if err != nil {
		t.Fatal(err)
	}
	if seed, ok := bare.Trial(2).Sampling()["seed"]; ok {
		t.Errorf("a model without a seed gets %v", seed)
	}
}
