package openai_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/poimen-memory/mem/loop/openai"
	"github.com/poimen-memory/mem/scripted/fakeserver"
)

func TestModels(t *testing.T) {
	s := serve(t, fakeserver.Config{Model: "served", Key: key})
	got, err := client(t, s.BaseURL()+"/", openai.Config{Model: "asked"}).Models(t.Context())
	if diff := cmp.Diff([]string{"served"}, got); diff != "" || err != nil {
		t.Errorf("%v, (-want +got):\n%s", err, diff)
	}
	if s.Requests() != 0 {
		t.Errorf("%d completions were asked for", s.Requests())
	}
}

// TestModelsErrors: one attempt, typed, and without the key whatever the server repeats.
func TestModelsErrors(t *testing.T) {
	for name, test := range map[string]struct {
		answer func(*http.Request) *http.Response
		says   string
	}{
		"no list":   {func(*http.Request) *http.Response { return respond(404, `{"detail":"Not Found"}`) }, "models.example/v1/models: status 404: Not Found"},
		"refused":   {func(r *http.Request) *http.Response { return respond(401, r.Header.Get("Authorization")) }, "status 401: Bearer [hidden key]"},
		"malformed": {func(*http.Request) *http.Response { return respond(200, "<html>") }, "is no list of models"},
		"redirect": {func(*http.Request) *http.Response {
			return respond(307, "", "Location", "https://elsewhere.example/v1/models")
		}, "where the key is not sent"},
	} {
		n := 0
		c := offline(t, openai.Config{}, func(r *http.Request) *http.Response {
			n++
			resp := test.answer(r)
			resp.Request = r
			return resp
		})
		_, err := c.Models(t.Context())
		if err == nil || !strings.Contains(err.Error(), test.says) || strings.Contains(err.Error(), key) || n != 1 {
			t.Errorf("%s: after %d requests: %v", name, n, err)
		}
	}
}
