package page_test

import (
	"slices"
	"strings"
	"testing"
	"unicode"
)

// FuzzPage: a text has no other markup in the page than one of as many plain characters.
func FuzzPage(f *testing.F) {
	for _, text := range hostileTexts()[:6] {
		f.Add(text)
	}
	plain := strings.NewReplacer("<", "x", ">", "x", "&", "x", `"`, "x", "'", "x")
	f.Fuzz(func(t *testing.T, text string) {
		html := written(t, reportOf(slices.Repeat([]string{text}, 7)))
		want := written(t, reportOf(slices.Repeat([]string{plain.Replace(text)}, 7)))
		for _, mark := range []string{"<", ">", "<script"} {
			if got, want := strings.Count(html, mark), strings.Count(want, mark); got != want {
				t.Errorf("%q stands %d times in the page, without markup in the text %d times", mark, got, want)
			}
		}
		for _, r := range html {
			if r != '\n' && r != '\t' && !unicode.IsGraphic(r) {
				t.Fatalf("%U stands in the page", r)
			}
		}
	})
}
