package render_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/poimen-memory/mem/harness/render"
	"github.com/poimen-memory/mem/harness/render/internal/rendertest"
)

// TestProbabilitiesAreShown with -v and in Markdown, with what is missing; not without them.
func TestProbabilitiesAreShown(t *testing.T) {
	for name, show := range map[string]func(*bytes.Buffer, bool) error{
		"terminal": func(b *bytes.Buffer, sure bool) error {
			return render.Terminal{Width: 100, Detail: render.Verbose}.Result(b, rendertest.Sure(sure))
		},
		"markdown": func(b *bytes.Buffer, sure bool) error { return render.Markdown(b, rendertest.Sure(sure)) },
	} {
		var with, without bytes.Buffer
		if err := show(&with, true); err != nil {
			t.Fatal(err)
		}
		if err := show(&without, false); err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{"Probabilities of the gates", "0.833", "nothing is decided on these", "no probability: the server sent no log probabilities: 1 turn of "} {
			if !strings.Contains(strings.Join(strings.Fields(strings.ReplaceAll(with.String(), "│", "")), " "), want) {
				t.Errorf("%s: %q is not in\n%s", name, want, with.String())
			}
		}
		if strings.Contains(without.String(), "robabilit") {
			t.Errorf("%s: probabilities of nobody\n%s", name, without.String())
		}
	}
}
