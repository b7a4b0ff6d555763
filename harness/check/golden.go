package check

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"unicode/utf8"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/poimen-memory/mem/harness/diag"
	"github.com/poimen-memory/mem/internal/inputfile"
)

// Golden is a prompt and the committed file that must hold its exact bytes.
type Golden struct {
	File   string // as the spec names it, joined to its folder
	Prompt string
	Err    error  // why there is no prompt
	Update string // the command that would make the file agree, deliberately
	Pos    diag.Pos
}

// Check compares the prompt with the file. The prompt is a contract: any other byte is a
// change to it.
func (g Golden) Check() Result {
	want, err := inputfile.Read(g.File, inputfile.MaxGolden)
	r := g.judge(string(want), err)
	r.Pos = g.Pos
	return r
}

func (g Golden) judge(want string, err error) Result {
	if g.Err != nil {
		return fail("golden", g.File, "there is no prompt to compare: %v", g.Err)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return fail("golden", g.File, "the file is missing; to make it: %s", g.Update)
	}
	if err != nil {
		return fail("golden", g.File, "%v", err)
	}
	if want == g.Prompt {
		return pass("golden", g.File, "%d bytes", len(want))
	}
	r := fail("golden", g.File, "the prompt differs from the file %s; if that is meant: %s", firstDifference(want, g.Prompt), g.Update)
	r.Diff = g.Diff(want)
	return r
}

// Diff is the unified diff from a file's content to the prompt, invisible and non-ASCII
// characters as escapes.
func (g Golden) Diff(want string) string {
	return string(diff.Diff(g.File, []byte(Visible(want)), "prompt", []byte(Visible(g.Prompt))))
}

// Visible writes out invisible characters and those that a terminal would interpret: control
// characters, non-ASCII and invalid bytes as escapes, white space at a line's end as "·".
func Visible(s string) string {
	lines := strings.Split(s, "\n")
	for i, line := range lines {
		body := strings.TrimRight(line, " ")
		lines[i] = escapes(body) + strings.Repeat("·", len(line)-len(body))
	}
	return strings.Join(lines, "\n")
}

func escapes(line string) string {
	var b strings.Builder
	for len(line) > 0 {
		r, n := utf8.DecodeRuneInString(line)
		switch {
		case r == utf8.RuneError && n == 1, r < ' ', r == 0x7f, looksEscaped(line):
			fmt.Fprintf(&b, `\x%02x`, line[0])
		case r > 0x7f:
			fmt.Fprintf(&b, `\u{%x}`, r)
		default:
			b.WriteRune(r)
		}
		line = line[n:]
	}
	return b.String()
}

// looksEscaped tells a backslash that would be taken for one of ours.
func looksEscaped(s string) bool {
	return strings.HasPrefix(s, `\x`) || strings.HasPrefix(s, `\u{`)
}
