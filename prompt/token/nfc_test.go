package token

import (
	"testing"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Inside the package: whether a quick look is right cannot be seen from outside, only
// that it was wrong.
func TestInertRunesAreNormalAlways(t *testing.T) {
	for r := range utf8.MaxRune + 1 {
		if p := norm.NFC.PropertiesString(string(r)); inert(r) && (!p.BoundaryBefore() || !norm.NFC.IsNormalString(string(r))) {
			t.Errorf("U+%04X changes in NFC, or acts on the rune before it", r)
		}
	}
}
