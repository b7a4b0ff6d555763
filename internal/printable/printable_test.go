package printable_test

import (
	"bytes"
	"errors"
	"testing"

	"github.com/poimen-memory/mem/internal/printable"
)

// TestLineObeysNothing: neither a terminal nor a log reader finds anything to obey.
func TestLineObeysNothing(t *testing.T) {
	for text, want := range map[string]string{
		"plain, naïve 漢字 ✓":            "plain, naïve 漢字 ✓",
		"a\x1b[2J\x1b]0;t\ab":          `a\x1b[2J\x1b]0;t\x07b`,
		"a\x9bb \u009bc":               `a\x9bb \u{9b}c`,
		"evil\u202egnp.exe\u2066":      `evil\u{202e}gnp.exe\u{2066}`,
		"zero\u200bwidth\ufeff\u00ad":  `zero\u{200b}width\u{feff}\u{ad}`,
		"a\r\nb\tc":                    `a\x0d\nb\tc`,
		"::error::x":                   `\x3a:error::x`,
		" \u00a0::error::x":            " \u00a0" + `\x3a:error::x`,
		"a ::error::x":                 "a ::error::x",
		"a ##[error]x":                 `a #\x23[error]x`,
		"line\u2028separator\u2029end": `line\u{2028}separator\u{2029}end`,
		"\xff\xfe":                     `\xff\xfe`,
	} {
		got := printable.Line(text)
		if got != want {
			t.Errorf("%q became %s, want %s", text, got, want)
		}
		if again := printable.Line(got); again != got {
			t.Errorf("%s became %s the second time", got, again)
		}
	}
}

func TestTextKeepsItsLines(t *testing.T) {
	if got, want := printable.Text("a\n::b\x1b\n\n"), "a\n"+`\x3a:b\x1b`+"\n\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestFprintf: a name stays on its line, an error keeps its lines, and parts that are joined
// make no command.
func TestFprintf(t *testing.T) {
	var b bytes.Buffer
	printable.Fprintf(&b, "%s%s: %v, %d\n", ":", ":error::a\nb", errors.New("x\n::y\x1b"), 3)
	if got, want := b.String(), `\x3a:error::a\nb: x`+"\n"+`\x3a:y\x1b, 3`+"\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
