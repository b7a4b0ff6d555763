//go:build !reference

package token_test

import (
	"strings"
	"testing"

	"github.com/poimen-memory/mem/prompt/token"
)

func TestReferenceNeedsABuildThatHasIt(t *testing.T) {
	_, err := token.Reference("o200k_base")
	if err == nil || !strings.Contains(err.Error(), "go build -tags reference ./cmd/mem") {
		t.Errorf("error %v: want one that says how to build it", err)
	}
}
