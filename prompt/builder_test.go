package prompt_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/poimen-memory/mem/internal/digest"
	"github.com/poimen-memory/mem/prompt"
)

type words struct{}

func (words) Count(s string) int { return len(strings.Fields(s)) }

func newBuilder(t testing.TB, cfg prompt.Config) *prompt.Builder {
	t.Helper()
	if cfg.Counter == nil {
		cfg.Counter = words{}
	}
	b, err := prompt.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestTemplateIsThePapers(t *testing.T) {
	if got := digest.Of(prompt.Figure10a); got != "252cf00d59eaf7274af678888e8225c03ecdb60adb8c7fb735937e2c99a653e7" {
		t.Errorf("the template's SHA-256 is %s: it is a contract, not a text to improve", got)
	}
	if n := strings.Count(prompt.Figure10a, "\n"); n != 21 || strings.HasSuffix(prompt.Figure10a, "\n") {
		t.Errorf("the template has %d newlines, want 21, none at the end", n)
	}
}

func TestSubstitutionIsOnePass(t *testing.T) {
	b := newBuilder(t, prompt.Config{Template: "<problem>{prompt}</problem><memory>{memory}</memory><section>{chunk}</section>"})
	memory := b.Measure("m {chunk} {prompt}")
	p, err := b.Assemble(b.Measure("q {memory}"), &memory, b.Chunk(prompt.Record{Role: "tool", Text: "{memory} {prompt}"}))
	if err != nil {
		t.Fatal(err)
	}
	want := "<problem>q {memory}</problem><memory>m {chunk} {prompt}</memory><section>[tool] {memory} {prompt}</section>"
	if p.User != want {
		t.Errorf("prompt is %q, want %q", p.User, want)
	}
}

func TestTemplateOrderIsFree(t *testing.T) {
	b := newBuilder(t, prompt.Config{Template: "a <section>{chunk}</section> b <memory>{memory}</memory> c <problem>{prompt}</problem> d"})
	p, err := b.Assemble(b.Measure("Q"), nil, b.Chunk(prompt.Record{Role: "user", Text: "C"}))
	if err != nil {
		t.Fatal(err)
	}
	if want := "a <section>[user] C</section> b <memory>No previous memory</memory> c <problem>Q</problem> d"; p.User != want {
		t.Errorf("prompt is %q, want %q", p.User, want)
	}
}

func TestEscape(t *testing.T) {
	for _, test := range []struct {
		in, sent       string
		reserved, gate int
	}{
		{"plain", "plain", 0, 0},
		{"a < b", "a < b", 0, 0},
		{"<memory>", "&lt;memory>", 1, 0},
		{"</memory>", "&lt;/memory>", 1, 0},
		{"x<MEMORY >y< / Section\t>z", "x&lt;MEMORY >y&lt; / Section\t>z", 2, 0},
		{"<\u00a0problem\n>", "&lt;\u00a0problem\n>", 1, 0},
		{"<ſection>", "&lt;ſection>", 1, 0}, // folds to s
		{"</section\v>", "&lt;/section\v>", 1, 0},
		{"<memory\u0085>", "&lt;memory\u0085>", 1, 0},
		{"<<memory>>", "<&lt;memory>>", 1, 0},
		{"<memory", "<memory", 0, 0},
		{"<memory x>", "<memory x>", 0, 0},
		{"<memories>", "<memories>", 0, 0},
		{"&lt;memory>", "&lt;memory>", 0, 0},
		{"<check>no</check><think>", "<check>no</check><think>", 0, 3},
		{"<section><next>", "&lt;section><next>", 1, 1},
	} {
		sent, reserved, gate := prompt.Escape(test.in)
		if sent != test.sent || reserved != test.reserved || gate != test.gate {
			t.Errorf("Escape(%q) = %q, %d, %d; want %q, %d, %d", test.in, sent, reserved, gate, test.sent, test.reserved, test.gate)
		}
	}
}

func TestSHAIsOfTheBytesBeforeEscaping(t *testing.T) {
	m := newBuilder(t, prompt.Config{}).Measure("<memory>")
	if m.SHA() != digest.Of("<memory>") || m.Sent == m.Raw {
		t.Errorf("text is %+v", m)
	}
}

func TestEachComponentHasItsLimit(t *testing.T) {
	n := func(n int) string { return strings.Repeat("w ", n) }
	budget := prompt.Budget{Window: 100, Template: 30, Question: 10, Memory: 10, Chunk: 20, Response: 30}
	template := n(20) + "<problem> {prompt} </problem> <memory> {memory} </memory> <section> {chunk} </section>" // 26 words
	for _, test := range []struct {
		name                   string
		problem, memory, chunk int
		want                   prompt.OverBudget
	}{
		{"all full", 10, 10, 19, prompt.OverBudget{}},
		{"problem", 11, 10, 19, prompt.OverBudget{Component: prompt.Problem, Tokens: 11, Limit: 10}},
		{"memory", 10, 11, 19, prompt.OverBudget{Component: prompt.Memory, Tokens: 11, Limit: 10}},
		{"section", 10, 10, 20, prompt.OverBudget{Component: prompt.Section, Tokens: 21, Limit: 20}},
		{"the first of two", 11, 11, 19, prompt.OverBudget{Component: prompt.Problem, Tokens: 11, Limit: 10}},
	} {
		b := newBuilder(t, prompt.Config{Template: template, Budget: budget})
		memory := b.Measure(n(test.memory))
		_, err := b.Assemble(b.Measure(n(test.problem)), &memory, b.Chunk(prompt.Record{Role: "tool", Text: n(test.chunk)}))
		var got prompt.OverBudget
		if over, ok := errors.AsType[*prompt.OverBudget](err); ok {
			got = *over
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
	}
}

func TestNewRefuses(t *testing.T) {
	full := "<problem>{prompt}</problem><memory>{memory}</memory><section>{chunk}</section>"
	for _, test := range []struct {
		name string
		cfg  prompt.Config
		says string
	}{
		{"counter", prompt.Config{}, "a token counter is required"},
		{"window", prompt.Config{Counter: words{}, Budget: prompt.Budget{Window: 8000}}, "= 8728 tokens, over the window of 8000"},
		{"placeholder missing", prompt.Config{Counter: words{}, Template: strings.Replace(full, "{memory}", "", 1)}, "template has 0 of {memory}, want exactly one"},
		{"placeholder twice", prompt.Config{Counter: words{}, Template: full + "{chunk}"}, "template has 2 of {chunk}, want exactly one"},
		{"tag missing", prompt.Config{Counter: words{}, Template: strings.Replace(full, "</memory>", "", 1)}, "prompt has 0 of </memory>, want exactly one"},
		{"tag twice", prompt.Config{Counter: words{}, Template: full + "<section>"}, "prompt has 2 of <section>, want exactly one"},
		{"places in each other's tags", prompt.Config{Counter: words{}, Template: strings.NewReplacer("{memory}", "{chunk}", "{chunk}", "{memory}").Replace(full)}, "template has {memory} outside of its tags, want it between <memory> and </memory>"},
		{"place outside", prompt.Config{Counter: words{}, Template: strings.Replace(full, "{prompt}", "", 1) + "{prompt}"}, "template has {prompt} outside of its tags, want it between <problem> and </problem>"},
		{"limit of none", prompt.Config{Counter: words{}, Budget: prompt.Budget{Memory: -1}}, "found a limit of -1 tokens, want 1 or more"},
		{"template long", prompt.Config{Counter: words{}, Template: full + strings.Repeat(" w", 400)}, "template is over budget: 404 tokens, limit 400"},
		{"system long", prompt.Config{Counter: words{}, Template: full, System: strings.Repeat(" w", 400)}, "system is over budget: 400 tokens, limit 396"},
	} {
		if _, err := prompt.New(test.cfg); err == nil || !strings.Contains(err.Error(), test.says) {
			t.Errorf("%s: error is %v, want %q", test.name, err, test.says)
		}
	}
}

func TestSplitReadsWhatAssembleSent(t *testing.T) {
	b := newBuilder(t, prompt.Config{})
	memory := b.Measure("two\n\nlines")
	p, err := b.Assemble(b.Measure("why?"), &memory, b.Chunk(prompt.Record{Role: "user", Text: " kept "}))
	if err != nil {
		t.Fatal(err)
	}
	got, err := prompt.Split(p.User)
	if err != nil {
		t.Fatal(err)
	}
	want := prompt.Parts{Problem: " why? ", Memory: " two\n\nlines ", Section: " [user]  kept  "}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("parts (-want +got):\n%s", diff)
	}
	if _, err := prompt.Split("</memory><memory>" + strings.ReplaceAll(p.User, "memory>", "m>")); err == nil {
		t.Error("a closing tag before its opening is accepted")
	}
}

// TestEveryFieldOfAPrompt, of components that all take another number of tokens.
func TestEveryFieldOfAPrompt(t *testing.T) {
	const turn = "<problem> {prompt} </problem> <memory> {memory} </memory> <section> {chunk} </section>" // 6 words
	b := newBuilder(t, prompt.Config{System: "be very brief", Template: turn})
	if diff := cmp.Diff(prompt.Budget{Window: 32768, Template: 400, Question: 256, Memory: 1024, Chunk: 5000, Response: 2048}, b.Budget()); diff != "" {
		t.Errorf("budget (-want +got):\n%s", diff)
	}
	memory := b.Measure("kept </memory>")
	if memory != (prompt.Text{Raw: "kept </memory>", Sent: "kept &lt;/memory>", Tokens: 2, Reserved: 1}) {
		t.Errorf("measured: %+v", memory)
	}
	chunk := b.Chunk(prompt.Record{Role: "user", Text: "a b"}, prompt.Record{Role: "tool", Text: "<next> c"})
	if want := (prompt.Chunk{Text: prompt.Text{Raw: "[user] a b\n\n[tool] <next> c", Sent: "[user] a b\n\n[tool] <next> c", Tokens: 6, GateTags: 1}, Records: 2}); chunk != want {
		t.Errorf("chunk: %+v, want %+v", chunk, want)
	}
	want := prompt.Prompt{
		System: "be very brief", User: "<problem> Q </problem> <memory> kept &lt;/memory> </memory> <section> " + chunk.Sent + " </section>",
		Tokens: prompt.Tokens{System: 3, Template: 6, Problem: 1, Memory: 2, Section: 6},
	}
	if got, err := b.Assemble(b.Measure("Q"), &memory, chunk); err != nil || got != want || got.Tokens.Prompt() != 18 {
		t.Errorf("%+v, %v, want %+v", got, err, want)
	}
	if got := b.Fixed(); got != (prompt.Tokens{System: 3, Template: 6}) {
		t.Errorf("fixed: %+v", got)
	}
	a, err := b.Answers("Answer: <problem> {prompt} </problem> <memory> {memory} </memory>") // 5 words
	if err != nil || a.Fixed() != (prompt.Tokens{System: 3, Template: 5}) {
		t.Fatalf("answers: fixed %+v, %v", a.Fixed(), err)
	}
	want = prompt.Prompt{
		System: "be very brief", User: "Answer: <problem> Q </problem> <memory> kept &lt;/memory> </memory>",
		Tokens: prompt.Tokens{System: 3, Template: 5, Problem: 1, Memory: 2},
	}
	if got, err := a.Assemble(b.Measure("Q"), &memory); err != nil || got != want {
		t.Errorf("%+v, %v, want %+v", got, err, want)
	}
}

func TestValidRole(t *testing.T) {
	for role, want := range map[string]bool{
		"system": true, "tool": true, "sub_agent-2": true,
		"": false, "Tool": false, "a b": false, "x]": false, "é": false, "<memory>": false, "2nd": false,
	} {
		if prompt.ValidRole(role) != want {
			t.Errorf("ValidRole(%q) is %v", role, !want)
		}
	}
}

// TestAssembleAllocatesOnce: a prompt of 20 KB is built at every turn of every run.
func TestAssembleAllocatesOnce(t *testing.T) {
	b, problem, memory, chunk := typical(t)
	n := testing.AllocsPerRun(100, func() {
		if _, err := b.Assemble(problem, &memory, chunk); err != nil {
			t.Fatal(err)
		}
	})
	if n > 1 {
		t.Errorf("%v allocations a prompt, want 1", n)
	}
}

func typical(t testing.TB) (b *prompt.Builder, problem, memory prompt.Text, chunk prompt.Chunk) {
	b = newBuilder(t, prompt.Config{})
	chunk = b.Chunk(prompt.Record{Role: "tool", Text: strings.Repeat("some words <of> output\n", 1000)})
	return b, b.Measure("Which port?"), b.Measure(strings.Repeat("memory ", 500)), chunk
}

func BenchmarkAssemble(b *testing.B) {
	builder, problem, memory, chunk := typical(b)
	b.SetBytes(int64(len(chunk.Sent)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := builder.Assemble(problem, &memory, chunk); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkEscape(b *testing.B) {
	for name, text := range map[string]string{
		"log":   strings.Repeat("a line of a log without tags\n", 1<<15),
		"angle": strings.Repeat("<", 1<<20),
		"tags":  strings.Repeat("<memory>", 1<<17),
		"space": "<" + strings.Repeat(" ", 1<<20),
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				prompt.Escape(text)
			}
		})
	}
}

func ExampleRender() {
	fmt.Println(prompt.Render(prompt.Record{Role: "user", Text: "Which port?"}, prompt.Record{Role: "tool", Text: "6380"}))
	// Output:
	// [user] Which port?
	//
	// [tool] 6380
}
