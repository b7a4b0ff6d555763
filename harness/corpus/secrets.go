package corpus

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// secret is a place in a text that looks like a key.
type secret struct {
	kind     string
	from, to int
}

// hint shows which one it is, and no more of it.
func (s secret) hint(text string) string {
	return fmt.Sprintf("what looks like %s: %.4s… (%d bytes)", s.kind, text[s.from:s.to], s.to-s.from)
}

// secretPattern finds keys of one kind: its last group, or all of the match.
type secretPattern struct {
	kind    string
	pattern *regexp.Regexp
}

// secretPatterns are the published forms of keys, and values that are called one. They take
// milliseconds to compile, which only those who look for keys should wait for.
var secretPatterns = sync.OnceValue(func() []secretPattern {
	return []secretPattern{
		{"a private key", regexp.MustCompile(`-----BEGIN [A-Z ]*PRIVATE KEY-----(?s:.*?)(?:-----END [A-Z ]*PRIVATE KEY-----|\z)`)},
		{"an AWS access key", regexp.MustCompile(`\b(?:AKIA|ASIA)[0-9A-Z]{16}\b`)},
		{"a GitHub token", regexp.MustCompile(`\b(?:gh[pousr]_[A-Za-z0-9]{36,}|github_pat_[A-Za-z0-9_]{22,})`)},
		{"a GitLab token", regexp.MustCompile(`\bglpat-[A-Za-z0-9_-]{20,}`)},
		{"a Slack token", regexp.MustCompile(`\bxox[abeoprs]-[A-Za-z0-9-]{10,}`)},
		{"a Google API key", regexp.MustCompile(`\bAIza[0-9A-Za-z_-]{35}`)},
		{"an API key", regexp.MustCompile(`\bsk-[A-Za-z0-9_-]{20,}`)},
		{"a Hugging Face token", regexp.MustCompile(`\bhf_[A-Za-z0-9]{30,}`)},
		{"a JSON web token", regexp.MustCompile(`\beyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*`)},
		{"a password in a URL", regexp.MustCompile(`\b[a-z][a-z0-9+.-]{1,15}://[^\s/:@]{1,64}:([^\s/@]{4,128})@`)},
		{"a value that is called a secret", regexp.MustCompile(
			`(?i)\b[a-z0-9_-]{0,40}(?:api[_-]?key|secret|token|passwd|password)\\?["']?\s{0,4}[:=]\s{0,4}\\?["']?([A-Za-z0-9+/_.=-]{16,})`)},
	}
})

// secrets are the places that look like keys, in the order of the text. None overlap.
func secrets(text string) (found []secret) {
	for _, p := range secretPatterns() {
		for _, m := range p.pattern.FindAllStringSubmatchIndex(text, -1) {
			from, to := m[len(m)-2], m[len(m)-1]
			if len(m) == 2 || plausible(text[from:to]) {
				found = append(found, secret{p.kind, from, to})
			}
		}
	}
	slices.SortStableFunc(found, func(a, b secret) int { return cmp.Compare(a.from, b.from) })
	end := 0
	return slices.DeleteFunc(found, func(s secret) bool {
		within := s.from < end
		end = max(end, s.to)
		return within
	})
}

// plausible holds where a value has letters and digits: `token: the_name_of_it` has none.
func plausible(s string) bool {
	return strings.ContainsAny(s, "0123456789") && strings.ContainsFunc(s, isLetter)
}

func isLetter(r rune) bool { return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' }

// redact is a text without its secrets, and how many there were.
func redact(text string) (string, int) {
	var b strings.Builder
	end, found := 0, secrets(text)
	for _, s := range found {
		b.WriteString(text[end:s.from] + "[redacted]")
		end = s.to
	}
	return b.String() + text[end:], len(found)
}

// Redact writes a corpus as JSONL with `[redacted]` in place of what looks like a key, and
// returns how many there were. Fields of records other than role, text and id are left
// out, for nobody looked at them.
func Redact(ctx context.Context, cfg Config, out io.Writer) (int, error) {
	parts, err := parts(ctx, cfg)
	if err != nil {
		return 0, err
	}
	sum := 0
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	var failed error
	err = each(ctx, join(parts), func(r *record) {
		if r.skipped != "" || failed != nil {
			return
		}
		text, n := redact(r.Text)
		id, m := redact(r.id)
		if sum += n + m; m > 0 {
			id = fmt.Sprintf("redacted-%d", sum) // an id is no one else's
		}
		failed = enc.Encode(line{r.Role, text, id})
	})
	if err == nil {
		err = failed
	}
	return sum, err
}
