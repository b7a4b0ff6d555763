// Package secret finds text that looks like a key, such as an API token or a password in a
// URL, and replaces it.
package secret

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// Secret is the bytes From..To of a text, which look like a key.
type Secret struct {
	Kind     string // with its article: "an AWS access key"
	From, To int
}

// Hint describes the secret by its kind, its first four characters and its length.
func (s Secret) Hint(text string) string {
	return fmt.Sprintf("what looks like %s: %.4s… (%d bytes)", s.Kind, text[s.From:s.To], s.To-s.From)
}

// kindPattern matches secrets of one kind: the secret is the last group, or the whole match
// if there is none.
type kindPattern struct {
	kind    string
	pattern *regexp.Regexp
}

// patterns are the published forms of keys, and values whose name says that they are secret.
// They take milliseconds to compile, so they are compiled at the first use.
var patterns = sync.OnceValue(func() []kindPattern {
	return []kindPattern{
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

// Find returns the secrets in the order of the text. None overlap.
func Find(text string) (found []Secret) {
	for _, p := range patterns() {
		for _, m := range p.pattern.FindAllStringSubmatchIndex(text, -1) {
			from, to := m[len(m)-2], m[len(m)-1]
			if len(m) == 2 || plausible(text[from:to]) {
				found = append(found, Secret{p.kind, from, to})
			}
		}
	}
	slices.SortStableFunc(found, func(a, b Secret) int { return cmp.Compare(a.From, b.From) })
	end := 0
	return slices.DeleteFunc(found, func(s Secret) bool {
		within := s.From < end
		end = max(end, s.To)
		return within
	})
}

// plausible reports whether a value has both letters and digits: `token: the_name_of_it` has
// no digits and is not a secret.
func plausible(s string) bool {
	return strings.ContainsAny(s, "0123456789") && strings.ContainsFunc(s, isLetter)
}

func isLetter(r rune) bool { return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' }

// Redact returns the text with [redacted] in place of each secret, and the number of secrets.
func Redact(text string) (string, int) {
	var b strings.Builder
	end, found := 0, Find(text)
	for _, s := range found {
		b.WriteString(text[end:s.From] + "[redacted]")
		end = s.To
	}
	return b.String() + text[end:], len(found)
}
