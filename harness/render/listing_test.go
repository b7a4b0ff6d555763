package render_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/poimen-memory/mem/harness/render"
)

// Listings and texts show what others wrote, and nothing in it moves a cursor or begins a
// line.
func TestListingsAreHarmless(t *testing.T) {
	var b strings.Builder
	show := render.Terminal{Width: 40}
	for _, err := range []error{
		show.Listing(&b, "Things", render.Column{Head: "name", Cells: []string{"a\x1b[2J", "b"}}, render.Column{Head: "n", Cells: []string{"1", "22"}, Right: true}),
		show.Listing(&b, "Nothing", render.Column{Head: "name"}),
		show.Text(&b, "Text", "::error::x\n\ttab\n"),
		show.Lines(&b, "! ", []string{"first", "second \r", "third"}, 2),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	want := `Things
name       n
────────  ──
a\x1b[2J   1
b         22

Text
  │ \x3a:error::x
  │ \ttab
! first
! second \x0d
! and 1 more
`
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Error(diff)
	}
}
