package render_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/poimen-memory/mem/harness/render"
	"github.com/poimen-memory/mem/harness/render/internal/rendertest"
)

// What has no evidence or no run has no number: it is not 0.
func TestByLength(t *testing.T) {
	var out bytes.Buffer
	if err := (render.Terminal{Width: 120, Detail: render.Verbose}).Result(&out, rendertest.WithLengths("m", "needles")); err != nil {
		t.Fatal(err)
	}
	var got [][]string
	for line := range strings.Lines(out.String()) {
		if strings.HasPrefix(line, "m ") {
			got = append(got, strings.Fields(line))
		}
	}
	want := [][]string{
		{"m", "needles", "8192", "2", "0.750", "0.410–0.930", "–", "–", "2.5", "15"},
		{"m", "needles", "32768", "2", "0.250", "0.020–0.640", "–", "–", "–", "–"},
		{"m", "needles", "8192", "3/4", "–"},
		{"m", "needles", "32768", "–", "1/9"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s\n%s", diff, out.String())
	}
}

// TestOneDepth: rows without depths make no table of depths.
func TestOneDepth(t *testing.T) {
	r := rendertest.WithLengths("m", "needles")
	for i := range r.ByLength {
		r.ByLength[i].Depths = nil
	}
	var out bytes.Buffer
	if err := (render.Terminal{Detail: render.Verbose}).Result(&out, r); err != nil {
		t.Fatal(err)
	}
	if err := render.Markdown(&out, r); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(out.String(), "depth") {
		t.Errorf("depths are shown:\n%s", out.String())
	}
}

// TestDepthsThatAreMissing: rows of a changed folder that lack a depth are written all the same.
func TestDepthsThatAreMissing(t *testing.T) {
	r := rendertest.WithLengths("m", "needles")
	last := &r.ByLength[len(r.ByLength)-1]
	last.Depths = last.Depths[:1]
	var out bytes.Buffer
	if err := (render.Terminal{Detail: render.Verbose}).Result(&out, r); err != nil {
		t.Fatal(err)
	}
	if err := render.Markdown(&out, r); err != nil {
		t.Fatal(err)
	}
}

// TestMapsInMarkdown are folded, each number with its interval and queries.
func TestMapsInMarkdown(t *testing.T) {
	var out bytes.Buffer
	if err := render.Markdown(&out, rendertest.WithLengths("m", "needles")); err != nil {
		t.Fatal(err)
	}
	want := "<summary><code>recall_committed</code> by length and depth; n is queries</summary>\n\n" +
		"| model | corpus | length | 0–50 % | 50–100 % |\n| --- | --- | ---: | ---: | ---: |\n" +
		"| <code>m</code> | <code>needles</code> | 8192 | 0.62 [0.11, 0.97] (n 2) | – |\n" +
		"| <code>m</code> | <code>needles</code> | 32768 | 0.12 (n 1) | 0 [0, 0.31] (n 7) |\n"
	if !strings.Contains(out.String(), want) {
		t.Errorf("want\n%s\nin\n%s", want, out.String())
	}
}

// TestMapsOfManyModelsFitAComment: GitHub refuses longer ones.
func TestMapsOfManyModelsFitAComment(t *testing.T) {
	r := rendertest.WithLengths("m", "needles")
	for i := range 200 {
		r.ByLength = append(r.ByLength, rendertest.WithLengths(fmt.Sprintf("model-%d", i), "needles").ByLength...)
	}
	var out bytes.Buffer
	if err := render.Markdown(&out, r); err != nil {
		t.Fatal(err)
	}
	if n := len([]rune(out.String())); n > 65536 || !strings.Contains(out.String(), "386 more lengths") {
		t.Errorf("%d characters, or not said what is left out", n)
	}
}
