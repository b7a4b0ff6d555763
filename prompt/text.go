package prompt

import (
	"regexp"
	"strings"

	"github.com/poimen-memory/mem/internal/digest"
)

// Counter counts the tokens of a text in one vocabulary.
type Counter interface{ Count(text string) int }

// Text is a value for one place of the template, measured once so that a run that
// sends it a thousand times counts it once.
type Text struct {
	Raw      string // as given; a sha is taken of these bytes
	Sent     string // as it stands in a prompt: Raw with reserved tags escaped
	Tokens   int    // of Sent
	Reserved int    // reserved tags that were escaped
	GateTags int    // gate tags, left as they are (a model may be misled by them)
}

// SHA is the SHA-256 of the text's raw bytes, in hex.
func (t Text) SHA() string { return digest.Of(t.Raw) }

// Chunk is a Text made of rendered records, the input of one turn.
type Chunk struct {
	Text
	Records int // whole or split, that the chunk shows
}

// A prompt frames its values with these three tags; each stands in it exactly once.
// The pattern is anchored: it is tried at each "<", so a text is read once.
var (
	reservedTag = regexp.MustCompile(`(?i)^<[\s\v\x{85}\p{Z}]*/?[\s\v\x{85}\p{Z}]*(?:problem|memory|section)[\s\v\x{85}\p{Z}]*>`)
	gateTag     = regexp.MustCompile(`(?i)^<[\s\v\x{85}\p{Z}]*/?[\s\v\x{85}\p{Z}]*(?:think|check|update|next)[\s\v\x{85}\p{Z}]*>`)
)

// Escape turns the "<" of every reserved tag in s into "&lt;" and says how many there
// were. This is the one deviation from the paper's verbatim values: without it a session
// could close its section and speak as the prompt. Gate tags are counted, not touched.
func Escape(s string) (sent string, reserved, gateTags int) {
	if !strings.Contains(s, "<") {
		return s, 0, 0
	}
	var b strings.Builder
	done := 0
	for i := strings.IndexByte(s, '<'); i >= 0; i = nextAngle(s, i) {
		switch {
		case reservedTag.MatchString(s[i:]):
			b.WriteString(s[done:i])
			b.WriteString("&lt;")
			done = i + 1
			reserved++
		case gateTag.MatchString(s[i:]):
			gateTags++
		}
	}
	if reserved == 0 {
		return s, 0, gateTags
	}
	b.WriteString(s[done:])
	return b.String(), reserved, gateTags
}

func nextAngle(s string, after int) int {
	i := strings.IndexByte(s[after+1:], '<')
	if i < 0 {
		return -1
	}
	return after + 1 + i
}
