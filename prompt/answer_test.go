package prompt_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/poimen-memory/mem/prompt"
)

func answers(t *testing.T, cfg prompt.Config, template string) (*prompt.Builder, *prompt.Answers) {
	t.Helper()
	cfg.Counter = words{}
	b, err := prompt.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	a, err := b.Answers(template)
	if err != nil {
		t.Fatal(err)
	}
	return b, a
}

func TestAnswerPrompt(t *testing.T) {
	b, a := answers(t, prompt.Config{System: "be brief"}, "<memory> {memory} </memory>\n<problem> {prompt} </problem>.")
	memory := b.Measure("kept {prompt} </problem>")
	for _, test := range []struct {
		memory *prompt.Text
		want   string
	}{
		{nil, "<memory> No previous memory </memory>\n<problem> Which {memory}? </problem>."},
		{&memory, "<memory> kept {prompt} &lt;/problem> </memory>\n<problem> Which {memory}? </problem>."},
	} {
		p, err := a.Assemble(b.Measure("Which {memory}?"), test.memory)
		if err != nil || p.User != test.want || p.System != "be brief" {
			t.Errorf("%q, %q, %v, want %q", p.System, p.User, err, test.want)
		}
		parts, err := prompt.SplitAnswer(p.User)
		if err != nil || parts.Problem != " Which {memory}? " || parts.Section != "" {
			t.Errorf("%+v, %v", parts, err)
		}
	}
}

// TestAnswerTemplateIsAPrompt: ours is within the budget and shows no chunk.
func TestAnswerTemplateIsAPrompt(t *testing.T) {
	b, a := answers(t, prompt.Config{}, "")
	p, err := a.Assemble(b.Measure("Why?"), nil)
	if err != nil || !strings.Contains(p.User, "<memory> No previous memory </memory>") || strings.Contains(p.User, "<section>") {
		t.Errorf("%s, %v", p.User, err)
	}
	if _, err := prompt.Split(p.User); err == nil {
		t.Error("it is read as a turn's prompt")
	}
}

func TestAnswerPromptIsBudgeted(t *testing.T) {
	b, a := answers(t, prompt.Config{Budget: prompt.Budget{Question: 2, Memory: 3}}, "")
	long := b.Measure("one two three four")
	for _, test := range []struct {
		problem string
		memory  *prompt.Text
		want    prompt.Component
	}{
		{"a b c", nil, prompt.Problem},
		{"a b", &long, prompt.Memory},
	} {
		_, err := a.Assemble(b.Measure(test.problem), test.memory)
		if over, ok := errors.AsType[*prompt.OverBudget](err); !ok || over.Component != test.want {
			t.Errorf("error is %v, want one of the %s", err, test.want)
		}
	}
	_, err := b.Answers(prompt.AnswerTemplate + strings.Repeat(" word", 400))
	if over, ok := errors.AsType[*prompt.OverBudget](err); !ok || over.Component != prompt.Template {
		t.Errorf("error of a long template is %v", err)
	}
}

func TestWrongAnswerTemplates(t *testing.T) {
	b, _ := answers(t, prompt.Config{}, "")
	for template, want := range map[string]string{
		"<problem>{prompt}</problem>":                                   "template has 0 of {memory}, want exactly one",
		"<problem>{prompt}{prompt}</problem><memory>{memory}</memory>":  "template has 2 of {prompt}, want exactly one",
		"<problem>{prompt}</problem><memory>{memory}</memory>{chunk}":   "template has {chunk}, want none: there is no chunk to show",
		"<problem>{prompt}</problem><memory></memory>{memory}":          "template has {memory} outside of its tags, want it between <memory> and </memory>",
		"{prompt}<problem></problem><memory>{memory}</memory>":          "template has {prompt} outside of its tags, want it between <problem> and </problem>",
		"<problem>{prompt}</problem>{memory}":                           "template: prompt has 0 of <memory>, want exactly one",
		"<problem>{prompt}</problem><memory>{memory}</memory></memory>": "template: prompt has 2 of </memory>, want exactly one",
		"</problem>{prompt}<problem><memory>{memory}</memory>":          "template: prompt has </problem> before <problem>",
	} {
		if _, err := b.Answers(template); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", template, err, want)
		}
	}
	swapped := strings.NewReplacer("{memory}", "{chunk}", "{chunk}", "{memory}").Replace(prompt.Figure10a)
	if _, err := prompt.New(prompt.Config{Counter: words{}, Template: swapped}); err == nil {
		t.Error("a turn's template with its places swapped is taken")
	}
}
