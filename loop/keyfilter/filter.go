// Package keyfilter hides API keys in text that is shown: on a terminal, in reports, in errors.
//
// It does not look for what resembles a key; it is told the keys. Records, which must stay
// as they were written, do not pass through it: a reply that holds a key is no record.
package keyfilter

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"html"
	"slices"
	"strings"
	"sync"
)

// Hidden is what a Filter writes in a key's place.
const Hidden = "[hidden key]"

// Filtered reports whether a Filter hides the key: it has 8 characters or more and is none of
// the words that stand for a key where a local server wants none.
func Filtered(key string) bool {
	return len(key) >= shortest && !slices.Contains(placeholders(), strings.ToLower(key))
}

// shortest is the length from which a key is hidden: shorter ones are words that models say.
const shortest = 8

func placeholders() []string {
	return []string{
		"anything", "dummy-key", "fake-key", "lm-studio", "no-key-needed", "no-key-required", "not-needed", "not-required", "not-used",
		"placeholder", "sk-no-key-required", "token-abc123", "undefined",
	}
}

// Filter hides keys in text that is shown. It knows a key as it stands, with characters
// escaped as in JSON, URLs, HTML, Markdown and Go strings, in hex, and in base64 of either
// alphabet, also within a longer text that was encoded. The zero Filter has no keys; it may
// be used from many goroutines.
type Filter struct {
	mu    sync.RWMutex
	keys  []string
	forms []form
	start [256]bool // bytes that a form may begin with
}

// form is one encoding of a key: for each of its characters the spellings it may have.
type form [][]string

// Add has the filter hide a key from now on, if it is one that is Filtered.
func (f *Filter) Add(key string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !Filtered(key) || slices.Contains(f.keys, key) {
		return
	}
	f.keys = append(f.keys, key)
	for _, form := range forms(key) {
		f.forms = append(f.forms, form)
		for _, spelling := range form[0] {
			f.start[spelling[0]] = true
		}
	}
}

// Text is text without the keys.
func (f *Filter) Text(text string) string {
	shown, _ := f.hide(text, true)
	return shown
}

// Holds reports whether text holds a key.
func (f *Filter) Holds(text string) bool { return f.Text(text) != text }

// hide returns text without the keys, and the end of it that may be the beginning of one,
// unless text is all that comes.
func (f *Filter) hide(text string, whole bool) (shown, held string) {
	f.mu.RLock()
	defer f.mu.RUnlock()
	var b strings.Builder
	done := 0
	for i := 0; i < len(text); {
		n, open := f.match(text[i:])
		if open && !whole {
			return b.String() + text[done:i], text[i:]
		}
		if n == 0 {
			i++
			continue
		}
		b.WriteString(text[done:i] + Hidden)
		i += n
		done = i
	}
	return b.String() + text[done:], ""
}

// match is the length of the longest key that text begins with; open: text may also be the
// beginning of a key that is longer than text.
func (f *Filter) match(text string) (longest int, open bool) {
	if !f.start[text[0]] {
		return 0, false
	}
	for _, form := range f.forms {
		n, cut := form.match(text)
		longest, open = max(longest, n), open || cut
	}
	return longest, open
}

func (f form) match(text string) (n int, open bool) {
	for _, spelling := range f[0] {
		if len(text) < len(spelling) {
			open = open || strings.HasPrefix(spelling, text)
			continue
		}
		if !strings.HasPrefix(text, spelling) {
			continue
		}
		if len(f) == 1 {
			return len(spelling), open
		}
		rest, cut := f[1:].match(text[len(spelling):])
		if open = open || cut; rest > 0 {
			return len(spelling) + rest, open
		}
	}
	return 0, open
}

func forms(key string) []form {
	all := []form{spelt(key), anyCase(hex.EncodeToString([]byte(key)))}
	for _, enc := range []*base64.Encoding{base64.StdEncoding, base64.RawStdEncoding, base64.URLEncoding, base64.RawURLEncoding} {
		all = append(all, spelt(enc.EncodeToString([]byte(key))))
	}
	for _, enc := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
		for before := range 3 {
			all = append(all, spelt(within(enc, key, before)))
		}
	}
	return all
}

// within is the part of a longer text's base64 that a key in it decides, whatever stands
// around it, if so many bytes beyond a multiple of 3 stand before it.
func within(enc *base64.Encoding, key string, before int) string {
	bits := 8 * (before + len(key))
	whole := enc.EncodeToString([]byte(strings.Repeat("\x00", before) + key))
	return whole[(8*before+5)/6 : bits/6]
}

// spelt is text with the escapes that a character of it may have. No spelling is there
// twice: each would double the work of a match.
func spelt(text string) (f form) {
	for _, c := range []byte(text) {
		raw := string(rune(c))
		spellings := []string{"\\" + raw, raw, html.EscapeString(raw)}
		for _, pattern := range []string{"%%%02x", "%%%02X", `\u%04x`, `\u%04X`, `\x%02x`, `\x%02X`, "&#%d;", "&#x%x;", "&#x%X;"} {
			spellings = append(spellings, fmt.Sprintf(pattern, c))
		}
		if c == '"' {
			spellings = append(spellings, "&quot;")
		}
		f = append(f, slices.Compact(spellings))
	}
	return f
}

func anyCase(text string) (f form) {
	for _, c := range text {
		f = append(f, slices.Compact([]string{string(c), strings.ToUpper(string(c))}))
	}
	return f
}
