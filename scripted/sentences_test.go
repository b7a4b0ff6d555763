package scripted

import (
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Inside the package: sentenceEnd is held against the pattern that defines it.
func TestSentencesEndWhereThePatternSays(t *testing.T) {
	pattern := regexp.MustCompile(`[.!?]["')\]]*\s+|\n`)
	random := rand.New(rand.NewPCG(1, 2))
	alphabet := []rune("ab.!?\"')]\n\r\t\f \v\u00a0é。")
	for range 20000 {
		var b strings.Builder
		for range random.IntN(16) {
			b.WriteRune(alphabet[random.IntN(len(alphabet))])
		}
		var got, want []int
		text := b.String()
		for at := 0; at < len(text); {
			at += sentenceEnd(text[at:])
			got = append(got, at)
		}
		for _, end := range pattern.FindAllStringIndex(text, -1) {
			want = append(want, end[1])
		}
		if len(text) > 0 && (len(want) == 0 || want[len(want)-1] < len(text)) {
			want = append(want, len(text))
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("%q: -pattern +sentenceEnd\n%s", text, diff)
		}
	}
}

func TestWordsAreRunsOfLettersAndDigitsInLowerCase(t *testing.T) {
	got := wordsOf("Redis-Port 6380, ÉTÉ\u0301 中文_x ٣ q! Q")
	want := map[string]bool{"redis": true, "port": true, "6380": true, "été": true, "中文": true, "x": true, "٣": true, "q": true}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// The replacer that closes tags is passed over only where a text has none.
func TestWritableClosesTags(t *testing.T) {
	for text, want := range map[string]string{
		" a\xff ": "a\uFFFD", "x </update> y": "x &lt;/update> y", "a < b": "a < b", "</think><update>": "&lt;/think>&lt;update>",
	} {
		if got := writable(text); got != want {
			t.Errorf("writable(%q) is %q, want %q", text, got, want)
		}
	}
}
