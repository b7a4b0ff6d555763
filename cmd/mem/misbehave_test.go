package main

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/poimen-memory/mem/harness/models"
	"github.com/poimen-memory/mem/harness/plan"
	"github.com/poimen-memory/mem/harness/run"
	"github.com/poimen-memory/mem/loop"
	"github.com/poimen-memory/mem/loop/journal"
	"github.com/poimen-memory/mem/loop/openai"
	"github.com/poimen-memory/mem/scripted/fakeserver"
)

// quickly makes an experiment small: one run with one question.
func quickly(t *testing.T, dir string, changes ...string) {
	t.Helper()
	rewrite(t, dir, append([]string{
		"exit_gate: [record, enforce]", "exit_gate: [record]", "trials: 4", "trials: 1",
		"  - {id: b, text: \"Which host?\", evidence: [r7, r9]}\n  - {id: c, text: \"Which user?\"}\n", "",
	}, changes...)...)
}

// rewrite replaces texts of an experiment's spec.
func rewrite(t *testing.T, dir string, changes ...string) {
	t.Helper()
	path := filepath.Join(dir, "live.yaml")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	write(t, path, strings.NewReplacer(changes...).Replace(string(text)))
}

// mem runs a command here, in dir.
func mem(t *testing.T, dir string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	t.Chdir(dir)
	t.Setenv("MEM_TEST_KEY", testKey)
	var out, errs bytes.Buffer
	code = execute(context.Background(), args, strings.NewReader(""), &out, &errs)
	return code, out.String(), errs.String()
}

// TestUnreadableRepliesAreAskedForOnce, and are calls: of --max-calls, and of --max-cost.
func TestUnreadableRepliesAreAskedForOnce(t *testing.T) {
	for name, fault := range map[string]fakeserver.Fault{
		"page": fakeserver.WrongType(), "null choice": fakeserver.NullChoice(), "no choices": fakeserver.NoChoices(), "malformed": fakeserver.Malformed(),
	} {
		t.Run(name, func(t *testing.T) {
			server := fakeserver.Start(fakeserver.Config{Reply: answer, Plan: func(fakeserver.Request) fakeserver.Fault { return fault }})
			defer server.Close()
			dir := liveExperiment(t, server.BaseURL())
			if code, out, _ := mem(t, dir, "eval", "live.yaml", "--live", "--max-calls", "5"); code != 3 || !strings.Contains(out, "the reply ") {
				t.Errorf("exit code %d, want 3 and the reason:\n%s", code, out)
			}
			if n := server.Requests(); n != 5 {
				t.Errorf("%d requests, want the 5 of --max-calls", n)
			}
			before := server.Requests()
			code, out, _ := mem(t, dir, "eval", "live.yaml", "--live", "--fresh", "--max-cost", "0.000001")
			if n := server.Requests() - before; code != 3 || n > 4 || !strings.Contains(out, "stopped at --max-cost") {
				t.Errorf("exit code %d after %d requests, want the 4 in flight at most:\n%s", code, n, out)
			}
		})
	}
}

// TestMaxCostHoldsWhateverAServerCounts, and says which counts cannot be right.
func TestMaxCostHoldsWhateverAServerCounts(t *testing.T) {
	for _, usage := range []string{
		`null`, `{"prompt_tokens":0,"completion_tokens":0}`, `{"prompt_tokens":-900,"completion_tokens":-3}`, `{"prompt_tokens":1,"completion_tokens":1}`,
		`{"prompt_tokens":1e308,"completion_tokens":1e308}`, `{"prompt_tokens":"900","completion_tokens":"3"}`, `{"prompt_tokens":9223372036854775808,"completion_tokens":0.5}`,
	} {
		t.Run(usage, func(t *testing.T) {
			server := fakeserver.Start(fakeserver.Config{Reply: func(r fakeserver.Request) fakeserver.Reply {
				reply := answer(r)
				reply.RawUsage = usage
				return reply
			}})
			defer server.Close()
			dir := liveExperiment(t, server.BaseURL())
			// A prompt has about 300 tokens, which is 0.0003 USD.
			code, out, errs := mem(t, dir, "eval", "live.yaml", "--live", "--max-cost", "0.007")
			if n := server.Requests(); code != 3 || n < 15 || n > 35 || !strings.Contains(out, "stopped at --max-cost 0.007: spent 0.00") {
				t.Errorf("exit code %d after %d requests, want about 25:\n%s", code, n, out)
			}
			odd := usage != "null" && usage != `{"prompt_tokens":1,"completion_tokens":1}`
			if said := strings.Contains(errs, "counts of tokens in"); said != odd {
				t.Errorf("it is said that counts cannot be right: %v, want %v:\n%s", said, odd, errs)
			}
		})
	}
}

// TestServerThatFailsForGood ends an evaluation in the time that the spec gives it, which a
// slow machine fills with fewer requests.
func TestServerThatFailsForGood(t *testing.T) {
	server := fakeserver.Start(fakeserver.Config{Reply: answer, Plan: func(fakeserver.Request) fakeserver.Fault { return fakeserver.Status(500, fakeserver.VLLM) }})
	defer server.Close()
	dir := liveExperiment(t, server.BaseURL())
	rewrite(t, dir, "seed: 7", "seed: 7, give_up_after: 2s")
	code, out, _ := mem(t, dir, "eval", "live.yaml", "--live")
	if n := server.Requests(); code != 3 || n > 60 || !strings.Contains(out, "given up after 2s without one reply") {
		t.Errorf("exit code %d after %d requests, want 3 and far less than ten a run:\n%s", code, n, out)
	}
}

// TestBarSaysWhenAServerIsGivenUp: from its first failure on, which the client has seen when it
// asks for the second time.
func TestBarSaysWhenAServerIsGivenUp(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	server := fakeserver.Start(fakeserver.Config{Plan: func(r fakeserver.Request) fakeserver.Fault {
		if r.N == 2 {
			cancel()
		}
		return fakeserver.Status(500, fakeserver.VLLM)
	}})
	defer server.Close()
	t.Setenv("MEM_TEST_KEY", testKey)
	s := loadLive(t, filepath.Join(liveExperiment(t, server.BaseURL()), "live.yaml"))
	c := &models.Clients{Meter: &models.Meter{}}
	model, err := opened(ctx, t, s, c).Model(run.ModelFor{Spec: s, Model: &s.Models[0], Cell: plan.Cell{Model: "m", Trial: 1}})
	if err != nil {
		t.Fatal(err)
	}
	model.Complete(ctx, loop.Request{Turn: 1, Attempt: 1, User: "x", MaxTokens: 9})
	if line := c.Status(s)(); !regexp.MustCompile(`, no reply for \d+s, given up at `).MatchString(line) {
		t.Errorf("the bar says %q", line)
	}
}

// TestKeysAreHiddenInAllThatIsShown: in a list of models, whatever form the server gives the
// key; and ping says which keys are not hidden.
func TestKeysAreHiddenInAllThatIsShown(t *testing.T) {
	for name, form := range map[string]string{
		"raw": testKey, "base64": base64.StdEncoding.EncodeToString([]byte(testKey)), "hex": hex.EncodeToString([]byte(testKey)),
		"URL": strings.ReplaceAll(url.QueryEscape(testKey), "-", "%2D"), "JSON": strings.ReplaceAll(testKey, "-", `\u002d`),
	} {
		server := fakeserver.Start(fakeserver.Config{Model: "it is " + form})
		dir := liveExperiment(t, server.BaseURL())
		code, out, errs := mem(t, dir, "ping", "live.yaml")
		if code != 3 || strings.Contains(out+errs, form) || !strings.Contains(out, "it is [hidden key]") {
			t.Errorf("%s: exit code %d\n%s%s", name, code, out, errs)
		}
		server.Close()
	}
}

// TestReportsHideAKeyOfTheSession: what was read holds it, so that reports would.
func TestReportsHideAKeyOfTheSession(t *testing.T) {
	server := fakeserver.Start(fakeserver.Config{Reply: answer, Model: "m", Key: testKey})
	defer server.Close()
	dir := liveExperiment(t, server.BaseURL())
	quickly(t, dir, "Which port?", "Which port has "+testKey+"?")
	code, out, errs := mem(t, dir, "eval", "live.yaml", "--live", "--markdown", "all.md", "--json", "all.json")
	wantNoKey(t, "the output", out+errs)
	if code == 2 || server.Requests() < 20 {
		t.Fatalf("exit code %d after %d requests:\n%s%s", code, server.Requests(), out, errs)
	}
	_, out, errs = mem(t, dir, "report", "reports/live")
	wantNoKey(t, "the report", out+errs)
	for _, path := range []string{"all.md", "all.json", "reports/live/report.md", "reports/live/report.html", "reports/live/summary.json", "reports/live/junit.xml"} {
		text, err := os.ReadFile(filepath.Join(dir, path))
		if err != nil {
			t.Fatal(err)
		}
		wantNoKey(t, path, string(text))
	}
	_, out, errs = mem(t, dir, "prompt", "--spec", "live.yaml", "--project", "s", "--query", "a", "--chunk", "1")
	if wantNoKey(t, "the prompt", out+errs); !strings.Contains(out, "Which port has [hidden key]?") {
		t.Errorf("the prompt is %s%s", out, errs)
	}
}

// TestReplyWithTheKeyIsJournaledWithoutIt: the call is an error, and can be made again.
func TestReplyWithTheKeyIsJournaledWithoutIt(t *testing.T) {
	server := fakeserver.Start(fakeserver.Config{Reply: func(r fakeserver.Request) fakeserver.Reply {
		return fakeserver.Reply{Text: "no gates", Reasoning: strconv.Quote(r.Header.Get("Authorization"))}
	}})
	defer server.Close()
	dir := liveExperiment(t, server.BaseURL())
	quickly(t, dir)
	if code, out, _ := mem(t, dir, "eval", "live.yaml", "--live"); code != 3 || !strings.Contains(out, "holds the API key") {
		t.Errorf("exit code %d:\n%s", code, out)
	}
	recorded, err := journal.ReadFile(filepath.Join(dir, "reports/live/runs/s/a/L1/m/record/calls.jsonl"))
	calls := recorded.Calls
	if err != nil || len(calls) != 1 || calls[0].Reply+calls[0].Reasoning != "" || !strings.Contains(calls[0].Error, "holds the API key") {
		t.Errorf("%v, the journal has %+v", err, calls)
	}
	if server.Requests() != 1 {
		t.Errorf("%d requests, want one", server.Requests())
	}
}

func TestPingSaysWhichKeysAreNotHidden(t *testing.T) {
	server := fakeserver.Start(fakeserver.Config{Reply: answer, Model: "m"})
	defer server.Close()
	dir := liveExperiment(t, server.BaseURL())
	for key, want := range map[string]bool{testKey: false, "EMPTY": true, "not-needed": true, "1234567": true} {
		t.Chdir(dir)
		t.Setenv("MEM_TEST_KEY", key)
		var out, errs bytes.Buffer
		execute(context.Background(), []string{"ping", "live.yaml"}, strings.NewReader(""), &out, &errs)
		if said := strings.Contains(errs.String(), "the key in MEM_TEST_KEY is not hidden"); said != want {
			t.Errorf("%s: it says so: %v, want %v\n%s", key, said, want, &errs)
		}
	}
}

// TestPingSaysWhereTheGatesStand, if not in the reply.
func TestPingSaysWhereTheGatesStand(t *testing.T) {
	server := fakeserver.Start(fakeserver.Config{Model: "m", Reply: func(r fakeserver.Request) fakeserver.Reply {
		return fakeserver.Reply{Null: true, Reasoning: "<check>no</check><next>continue</next>"}
	}})
	defer server.Close()
	code, out, _ := mem(t, liveExperiment(t, server.BaseURL()), "ping", "live.yaml")
	if code != 3 || !strings.Contains(strings.Join(strings.Fields(out), " "), "the gate tags stand in the reasoning") {
		t.Errorf("exit code %d:\n%s", code, out)
	}
}

// TestOneStreamAmongReplies: an evaluation with an answer that is an event stream has the
// same results as one without.
func TestOneStreamAmongReplies(t *testing.T) {
	summary := func(plan fakeserver.Plan) string {
		server := fakeserver.Start(fakeserver.Config{Reply: answer, Model: "m", Plan: plan})
		defer server.Close()
		dir := liveExperiment(t, server.BaseURL())
		quickly(t, dir)
		mem(t, dir, "eval", "live.yaml", "--live")
		text, err := os.ReadFile(filepath.Join(dir, "reports/live/summary.json"))
		if err != nil {
			t.Fatal(err)
		}
		var got struct{ Runs []json.RawMessage }
		if err := json.Unmarshal(text, &got); err != nil || len(got.Runs) != 1 {
			t.Fatal(err, len(got.Runs))
		}
		return string(got.Runs[0])
	}
	whole := summary(nil)
	streamed := summary(func(r fakeserver.Request) fakeserver.Fault {
		if r.N%2 == 0 {
			return fakeserver.Streamed("\r\n")
		}
		return fakeserver.Answer(201)
	})
	if whole != streamed {
		t.Errorf("whole:\n%s\nstreamed:\n%s", whole, streamed)
	}
}

// TestModelWithoutTextIsNotJudged: exit 3 and the reason where no call returned text; text
// without gates is judged, and so is a model of which one reply has text.
func TestModelWithoutTextIsNotJudged(t *testing.T) {
	for name, test := range map[string]struct {
		reply func(n int) fakeserver.Reply
		says  string // "": it is judged
	}{
		"null":      {func(int) fakeserver.Reply { return fakeserver.Reply{Null: true} }, "its content is null or empty"},
		"empty":     {func(int) fakeserver.Reply { return fakeserver.Reply{Text: " \n"} }, "its content is null or empty"},
		"tools":     {func(int) fakeserver.Reply { return fakeserver.Reply{Null: true, ToolCall: "f"} }, "it calls tools"},
		"reasoning": {func(int) fakeserver.Reply { return fakeserver.Reply{Reasoning: "<check>no</check><next>end</next>"} }, "the gate tags stand in the reasoning"},
		"cut":       {func(int) fakeserver.Reply { return fakeserver.Reply{Reasoning: "hm", Finish: "length"} }, "budget.response"},
		"prose":     {func(int) fakeserver.Reply { return fakeserver.Reply{Text: "It listens on 6380."} }, ""},
		"refusal":   {func(int) fakeserver.Reply { return fakeserver.Reply{Null: true, Refusal: "I cannot help with that."} }, ""},
		"one text":  {func(n int) fakeserver.Reply { return fakeserver.Reply{Null: n != 3, Text: "no gates"} }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			var n atomic.Int32
			server := fakeserver.Start(fakeserver.Config{Reply: func(fakeserver.Request) fakeserver.Reply { return test.reply(int(n.Add(1))) }})
			defer server.Close()
			dir := liveExperiment(t, server.BaseURL())
			quickly(t, dir)
			for _, mode := range []string{"--live", "--resume"} {
				code, out, _ := mem(t, dir, "eval", "live.yaml", "--live", mode)
				if (code == 3) != (test.says != "") || !strings.Contains(strings.Join(strings.Fields(out), " "), test.says) {
					t.Errorf("%s: exit code %d, want %q:\n%s", mode, code, test.says, out)
				}
			}
			if got := server.Requests(); got != 60 {
				t.Errorf("%d requests, want three for each of 20 turns", got)
			}
		})
	}
}

var _ loop.Model = openai.Trial{} // what a live model's runs ask
