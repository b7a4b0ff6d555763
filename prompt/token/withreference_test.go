//go:build reference

package token_test

import (
	"testing"

	"github.com/poimen-memory/mem/prompt/token"
)

func TestReferenceCountsAsOurs(t *testing.T) {
	for name := range tiktokenGo {
		c, err := token.Reference(name)
		if err != nil {
			t.Fatal(err)
		}
		text := read(t, "code")[:4000]
		if got, want := c.Count(text), counter(t, name).Count(text); c.Name() != name || got != want {
			t.Errorf("reference %s of %s: %d tokens, want %d", c.Name(), name, got, want)
		}
	}
}
