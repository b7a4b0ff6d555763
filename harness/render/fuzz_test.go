package render_test

import (
	"bytes"
	"testing"

	"github.com/poimen-memory/mem/harness/render"
	"github.com/poimen-memory/mem/harness/result"
)

// FuzzReports: whatever a result's texts are, no terminal, log reader or document obeys them.
func FuzzReports(f *testing.F) {
	for _, a := range attacks() {
		f.Add(a, uint8(60))
	}
	f.Fuzz(func(t *testing.T, text string, width uint8) {
		r := resultOf([]string{text})
		for _, term := range []render.Terminal{{}, {Width: int(width)}, {Width: int(width), Detail: render.Verbose}} {
			var b bytes.Buffer
			if err := term.Result(&b, r); err != nil {
				t.Fatal(err)
			}
			safeShown(t, term, b.String())
		}
		safeMarkdown(t, r)
		safeAnnotations(t, r, 2)
		if _, err := parseXML(junitOf(t, r)); err != nil {
			t.Error(err)
		}
		var b bytes.Buffer
		if err := render.AllJSON(&b, []*result.Result{r}); err != nil {
			t.Error(err)
		}
	})
}
