package openai_test

import (
	"context"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/poimen-memory/mem/loop/openai"
	"github.com/poimen-memory/mem/scripted/fakeserver"
)

// fail asks once of a server that always fails so, and returns how often it was asked.
func fail(t *testing.T, cfg openai.Config, f fakeserver.Fault) (requests int, err error) {
	t.Helper()
	s := serve(t, fakeserver.Config{Plan: func(fakeserver.Request) fakeserver.Fault { return f }})
	_, err = client(t, s.BaseURL(), cfg).Complete(context.Background(), ask)
	if err == nil {
		t.Fatalf("%s: no error", f.Name)
	}
	return s.Requests(), err
}

func TestServersMessageIsKept(t *testing.T) {
	long := strings.Repeat("é", 400)
	for name, test := range map[string]struct{ body, want string }{
		"OpenAI":        {`{"error":{"message":"no such thing","type":"invalid_request_error","param":null,"code":"bad_thing"}}`, "status 400 (bad_thing): no such thing"},
		"vLLM":          {`{"error":{"message":"no such thing","type":"BadRequestError","param":null,"code":400}}`, "status 400: no such thing"},
		"old vLLM":      {`{"object":"error","message":"no such thing","type":"BadRequestError","param":null,"code":400}`, "status 400: no such thing"},
		"llama.cpp":     {`{"error":{"code":400,"message":"no such thing","type":"invalid_request_error"}}`, "status 400: no such thing"},
		"Ollama":        {`{"error":"no such thing"}`, "status 400: no such thing"},
		"TGI":           {`{"error":"no such thing","error_type":"validation"}`, "status 400: no such thing"},
		"FastAPI":       {`{"detail":"no such thing"}`, "status 400: no such thing"},
		"FastAPI list":  {`{"detail":[{"type":"missing","loc":["body","messages",0],"msg":"Field required"},{"loc":["body"],"msg":"no"}]}`, "status 400 (missing): body.messages.0: Field required; body: no"},
		"Mistral":       {`{"object":"error","message":{"detail":[{"loc":["body","top_p"],"msg":"too big"}]},"type":"invalid"}`, "status 400 (invalid): body.top_p: too big"},
		"message list":  {`{"error":{"message":["one","two"]}}`, "status 400: one; two"},
		"Gemini":        {`[{"error":{"code":400,"message":"no such thing","status":"INVALID_ARGUMENT"}}]`, "status 400: no such thing"},
		"OpenRouter":    {`{"error":{"message":"Provider returned error","code":400,"metadata":{"raw":"no such thing"}}}`, "Provider returned error: no such thing"},
		"plain":         {"no such\n\tthing\x1b[31m", "status 400: no such thing [31m"},
		"page":          {"<html>Bad Request</html>", "status 400: <html>Bad Request</html>"},
		"other JSON":    {`{"ok":false}`, `status 400: {"ok":false}`},
		"nothing":       {"", "status 400: Bad Request"},
		"not UTF-8":     {"\xff\xfe", "status 400: \uFFFD"},
		"long":          {long, long[:500] + "…"},
		"echoes key":    {`{"error":"bad key: ` + key + `"}`, "bad key: [hidden key]"},
		"key at border": {strings.Repeat("x", 490) + key, strings.Repeat("x", 490) + "[hidden ke…"},
	} {
		n, err := fail(t, openai.Config{}, fakeserver.Raw(400, "application/json", test.body))
		e := as[*openai.StatusError](t, err)
		if !strings.HasSuffix(err.Error(), test.want) {
			t.Errorf("%s: error is %q, want …%q", name, err, test.want)
		}
		if want := "model m at http://127.0.0.1:"; !strings.HasPrefix(err.Error(), want) || !strings.HasSuffix(e.URL, "/v1/chat/completions") {
			t.Errorf("%s: error is %q, want %q", name, err, want)
		}
		if n != 1 || e.Status != 400 {
			t.Errorf("%s: status %d after %d requests, want 400 after one", name, e.Status, n)
		}
	}
}

func TestWhatIsTriedAgain(t *testing.T) {
	const tries = 3
	page := "<html></html>"
	for _, test := range []struct {
		fault    fakeserver.Fault
		requests int
		want     string
	}{
		{fakeserver.Status(400, fakeserver.VLLM), 1, "status 400: fault: Bad Request"},
		{fakeserver.Status(401, fakeserver.VLLM), 1, "status 401"},
		{fakeserver.Status(403, fakeserver.LlamaCpp), 1, "status 403"},
		{fakeserver.Status(404, fakeserver.OldVLLM), 1, "status 404"},
		{fakeserver.Status(422, fakeserver.VLLM), 1, "status 422"},
		{fakeserver.Status(408, fakeserver.VLLM), tries, "status 408"},
		{fakeserver.Status(409, fakeserver.VLLM), tries, "status 409"},
		{fakeserver.Status(425, fakeserver.VLLM), tries, "status 425"},
		{fakeserver.Raw(529, "application/json", `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`), tries, "status 529 (overloaded_error): Overloaded"},
		{fakeserver.TooMany(""), tries, "status 429"},
		{fakeserver.Status(500, fakeserver.VLLM), tries, "status 500"},
		{fakeserver.Status(503, fakeserver.LlamaCpp), tries, "status 503"},
		{fakeserver.Raw(502, "text/html", page), tries, "status 502: " + page},
		{fakeserver.Raw(204, "", ""), 1, "the reply (status 204) is empty"},
		{fakeserver.Raw(429, "application/json", `{"error":{"message":"pay first","code":"insufficient_quota"}}`), 1, "pay first"},
		{fakeserver.ErrorIn200(), tries, "status 200 (500): engine died"},
		{fakeserver.Raw(200, "application/json", `{"error":{"message":"bad","code":400}}`), 1, "status 200 (400): bad"},
		{fakeserver.Raw(200, "application/json", `{"error":"busy"}`), tries, "status 200: busy"},
		{fakeserver.Raw(200, "application/json", `{"detail":"busy"}`), tries, "status 200: busy"},
		{fakeserver.Raw(200, "application/json", `{"object":"error","message":"busy"}`), tries, "status 200: busy"},
		{fakeserver.Raw(200, "application/json", `{"choices":[{"message":{"content":"a"},"finish_reason":"error"}]}`), tries, "finish_reason error"},
		{fakeserver.NoChoices(), 1, "has no choices"},
		{fakeserver.Raw(200, "application/json", `{"choices":null}`), 1, "has no choices"},
		{fakeserver.Raw(200, "application/json", `{"choices":[{"message":{"content":"a"},"finish_reason":"stop","error":{"code":1}}]}`), tries, `finish_reason stop: {"code":1}`},
		{fakeserver.Raw(200, "application/json", `{"choices":[{"message":{"content":"a"}}],"error":{"message":"busy","code":503}}`), tries, "status 200 (503): busy"},
		{fakeserver.Raw(201, "application/json", `{"choices":[{"message":{"content":"a"}}],"error":"bad"}`), tries, "status 201: bad"},
		{fakeserver.Raw(200, "application/json", `{"choices":[{"message":{"content":""},"finish_reason":"abort"}]}`), tries, "given up by the server"},
		{fakeserver.Raw(200, "application/json", `{"choices":[{"message":{"content":5}}]}`), 1, "message.content is 5, want a text"},
		{fakeserver.Raw(200, "application/json", `{"choices":[null]}`), 1, "choices[0] is null, want an object"},
		{fakeserver.Raw(200, "application/json", `{"choices":{}}`), 1, "has no choices"},
		{fakeserver.Raw(200, "application/json", `{"choices":[{"message":{"content":"a"}}]} tail`), 1, "no chat completion"},
		{fakeserver.Raw(200, "text/event-stream", "data: {}\n\n"), 1, "(text/event-stream) has no choices"},
		{fakeserver.Malformed(), 1, "no chat completion: unexpected end of JSON input"},
		{fakeserver.WrongType(), 1, "(text/html) is no chat completion"},
		{fakeserver.Truncated(), tries, "unexpected EOF"},
		{fakeserver.Dropped(), tries, "unexpected EOF"},
		{fakeserver.Reset(), tries, "EOF"},
		{fakeserver.Garbage("220 smtp " + key + "\r\n"), tries, "malformed HTTP"},
		{fakeserver.Huge(1 << 20), 1, "is over 65536 bytes"},
	} {
		cfg := openai.Config{Retry: impatient(tries), MaxResponseBytes: 1 << 16}
		n, err := fail(t, cfg, test.fault)
		if n != test.requests || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %d requests, error %q; want %d, %q", test.fault.Name, n, err, test.requests, test.want)
		}
		if again := strings.HasPrefix(err.Error(), "after 3 attempts: "); again != (n > 1) {
			t.Errorf("%s: error after %d requests is %q", test.fault.Name, n, err)
		}
	}
}

func TestSlowRepliesTimeOut(t *testing.T) {
	for _, f := range []fakeserver.Fault{fakeserver.Silence(), fakeserver.Drip(10 * time.Millisecond)} {
		n, err := fail(t, openai.Config{Timeout: 50 * time.Millisecond, Retry: impatient(2)}, f)
		as[*openai.TransportError](t, err)
		if n != 2 || !strings.HasSuffix(err.Error(), "no whole reply within 50ms") {
			t.Errorf("%s: %d requests, error %q", f.Name, n, err)
		}
	}
}

func TestErrorsAreTyped(t *testing.T) {
	_, err := fail(t, openai.Config{}, fakeserver.Truncated())
	if e := as[*openai.TransportError](t, err); e.Err != io.ErrUnexpectedEOF || e.Model != "m" {
		t.Errorf("%#v", e)
	}
	_, err = fail(t, openai.Config{}, fakeserver.Malformed())
	as[*openai.ReplyError](t, err)
}

func TestRefusedConnectionIsTriedAgain(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	base := "http://" + l.Addr().String() + "/v1"
	l.Close()
	c := client(t, base, openai.Config{})
	_, err = c.Complete(context.Background(), ask)
	if as[*openai.TransportError](t, err); !strings.Contains(err.Error(), "connection refused") || c.Stats().Attempts != 3 {
		t.Errorf("error is %v after %d attempts", err, c.Stats().Attempts)
	}
}

// unreachable is a network that fails with an error.
type unreachable struct{ error }

func (u unreachable) RoundTrip(*http.Request) (*http.Response, error) { return nil, u.error }

func TestUnknownHostIsFinal(t *testing.T) {
	for name, test := range map[string]struct {
		err      net.DNSError
		attempts int
	}{
		"unknown": {net.DNSError{Err: "no such host", IsNotFound: true}, 1},
		"no DNS":  {net.DNSError{Err: "server misbehaving", IsTemporary: true}, 3},
	} {
		c := client(t, "http://models.example/v1", openai.Config{Transport: unreachable{&test.err}})
		_, err := c.Complete(context.Background(), ask)
		if as[*openai.TransportError](t, err); c.Stats().Attempts != test.attempts {
			t.Errorf("%s: %d attempts, want %d", name, c.Stats().Attempts, test.attempts)
		}
	}
}

func TestCertificatesAreVerified(t *testing.T) {
	s := httptest.NewUnstartedServer(http.NotFoundHandler())
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.StartTLS()
	defer s.Close()
	c := client(t, s.URL+"/v1", openai.Config{})
	_, err := c.Complete(context.Background(), ask)
	if err == nil || !strings.Contains(err.Error(), "certificate") || c.Stats().Attempts != 1 {
		t.Errorf("error is %v after %d attempts, want the certificate's at once", err, c.Stats().Attempts)
	}
}

func TestPlainServerUnderHTTPSIsFinal(t *testing.T) {
	s := serve(t, fakeserver.Config{})
	c := client(t, strings.Replace(s.BaseURL(), "http:", "https:", 1), openai.Config{})
	if _, err := c.Complete(context.Background(), ask); err == nil || c.Stats().Attempts != 1 {
		t.Errorf("error is %v after %d attempts", err, c.Stats().Attempts)
	}
}

func TestRedirects(t *testing.T) {
	other := serve(t, fakeserver.Config{})
	home := serve(t, fakeserver.Config{Key: key, Plan: func(r fakeserver.Request) fakeserver.Fault {
		switch {
		case strings.Contains(string(r.Body), "away"):
			return fakeserver.Redirect(http.StatusTemporaryRedirect, other.BaseURL()+"/chat/completions?x="+key)
		case strings.Contains(string(r.Body), "moved"):
			return fakeserver.Redirect(http.StatusFound, "/v1/chat/completions")
		case strings.Contains(string(r.Body), "round"), r.N == 1:
			return fakeserver.Redirect(http.StatusPermanentRedirect, "/v1/chat/completions")
		}
		return fakeserver.Fault{}
	}})
	c := client(t, home.BaseURL(), openai.Config{})
	if got := complete(t, c); got.Text != "ok" || home.Requests() != 2 {
		t.Errorf("got %+v after %d requests, want the reply after one redirect", got, home.Requests())
	}
	for _, test := range []struct {
		say      string
		status   int
		requests int
	}{{"away", 307, 1}, {"moved", 302, 1}, {"round and round", 308, 4}} {
		before := home.Requests()
		r := ask
		r.User = test.say
		_, err := c.Complete(context.Background(), r)
		if e := as[*openai.StatusError](t, err); e.Status != test.status || !strings.Contains(e.Message, "redirects to http://127.0.0.1") {
			t.Errorf("%s: error is %v", test.say, err)
		}
		if got := home.Requests() - before; got != test.requests {
			t.Errorf("%s: asked %d times, want %d", test.say, got, test.requests)
		}
	}
	if n := other.Requests(); n != 0 {
		t.Errorf("the other host was asked %d times", n)
	}
}

func TestLocationIsNotFollowedBlindly(t *testing.T) {
	for name, test := range map[string]struct {
		status int
		to     string
		want   string
	}{
		"without TLS":    {307, "http://models.example/v1/chat/completions", "redirects to http://models.example/v1"},
		"a port":         {308, "https://models.example:444/v1", "redirects to https://models.example:444/v1"},
		"no redirect":    {400, "/v1/elsewhere", "what the server said"},
		"a lower domain": {307, "https://api.models.example/v1", "redirects to https://api.models.example/v1"},
	} {
		n := 0
		c := offline(t, openai.Config{}, func(r *http.Request) *http.Response {
			if n++; n > 1 {
				t.Errorf("%s: followed to %s with %q", name, r.URL, r.Header["Authorization"])
			}
			resp := respond(test.status, "what the server said", "Location", test.to)
			resp.Request = r
			return resp
		})
		if _, err := c.Complete(context.Background(), ask); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: error is %v, want %s", name, err, test.want)
		}
	}
}

// TestKeyIsNeverShown formats everything that a caller can hold, after every fault there is.
func TestKeyIsNeverShown(t *testing.T) {
	faults := append(fakeserver.Passing(),
		fakeserver.Raw(401, "application/json", `{"error":{"message":"Incorrect API key: `+key+`","code":"`+key+`","type":"`+key+`"}}`),
		fakeserver.Raw(401, "text/plain", "Bearer "+key), fakeserver.Raw(200, "text/html", key),
		fakeserver.Raw(200, "application/json", `{"choices":[{"message":{},"finish_reason":"error","error":"`+key+`"}]}`),
		fakeserver.Raw(200, "application/json", `{"choices":[{"message":{"content":{"`+key+`":1}}}]}`),
		fakeserver.Raw(200, "application/json", `{"choices":"`+key+`"}`),
		fakeserver.Garbage("HTTP/9 "+key+"\r\n\r\n"), fakeserver.Garbage(key+"\r\n\r\n"),
		fakeserver.Redirect(302, "http://joe:"+key+"@example.com/"+key), fakeserver.Redirect(307, "http://"+key+".example/"),
	)
	s := serve(t, fakeserver.Config{Plan: func(r fakeserver.Request) fakeserver.Fault { return faults[(r.N-1)%len(faults)] }})
	cfg := openai.Config{BaseURL: s.BaseURL(), Model: "m", APIKey: openai.NewKey(key), Retry: impatient(1)}
	c, err := openai.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	shown := []any{cfg, &cfg, cfg.APIKey, &cfg.APIKey, c, *ptr(cfg), struct{ hidden openai.Config }{cfg}, c.Sampling()}
	for _, f := range faults {
		_, err := c.Complete(context.Background(), ask)
		if err == nil {
			t.Errorf("%s: no error", f.Name)
		}
		shown = append(shown, err, deepest(err))
	}
	for _, v := range append(shown, c.Stats()) {
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
			if text := fmt.Sprintf(verb, v); strings.Contains(text, key) || strings.Contains(text, fmt.Sprintf("%x", key)) {
				t.Errorf("%s of %T shows the key: %s", verb, v, text)
			}
		}
	}
}

func deepest(err error) error {
	for {
		inner, ok := err.(interface{ Unwrap() error })
		if !ok || inner.Unwrap() == nil {
			return err
		}
		err = inner.Unwrap()
	}
}

func TestKeyInJSON(t *testing.T) {
	for k, want := range map[string]string{key: `"[hidden key]"`, "": `"[no key]"`} {
		if got, err := openai.NewKey(k).MarshalJSON(); string(got) != want || err != nil {
			t.Errorf("encodes as %s, %v", got, err)
		}
	}
}
