package prompt_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/poimen-memory/mem/prompt"
)

// rendersLikeTwo finds out by rendering whether a session of two records is told from one.
func rendersLikeTwo(text string) bool {
	one := prompt.Render(prompt.Record{Role: "tool", Text: text})
	for i := range text {
		label, rest, ok := strings.Cut(text[i:], "] ")
		role := strings.TrimPrefix(label, "\n\n[")
		if ok && prompt.ValidRole(role) && prompt.Render(prompt.Record{Role: "tool", Text: text[:i]}, prompt.Record{Role: role, Text: rest}) == one {
			return true
		}
	}
	return false
}

// TestLabelsWithinAreThoseThatRenderLikeRecords: all of them, and nothing else.
func TestLabelsWithinAreThoseThatRenderLikeRecords(t *testing.T) {
	for text, want := range map[string][]string{
		"x\n\n[assistant] yes":      {"assistant"},
		"\n\n[tool] x":              {"tool"},
		"[tool] x":                  nil, // "[user] [tool] x": no record has so little before it
		"x\n[tool] y":               nil,
		"x\n\n\n[user] y\n\n[a-1] ": {"user", "a-1"},
		"x\n\n[user]\ny":            nil,
		"x\r\n\r\n[user] y":         nil,
		"x\n\n[User] y\n\n[] z\n\n[a b] c\n\n [a] ": nil,
	} {
		if got := prompt.LabelsWithin(text); !slices.Equal(got, want) || rendersLikeTwo(text) != (want != nil) {
			t.Errorf("%q: %q, want %q; by rendering it is %v", text, got, want, rendersLikeTwo(text))
		}
	}
	random := rand.New(rand.NewPCG(1, 2))
	parts := []string{"\n", "\n\n", "\n\n[", "[", "]", "] ", " ", "tool", "a", "A", "_", "\r", "é"}
	for range 20_000 {
		var text string
		for range random.IntN(9) {
			text += parts[random.IntN(len(parts))]
		}
		if got := prompt.LabelsWithin(text); (got != nil) != rendersLikeTwo(text) {
			t.Fatalf("%q: %q, by rendering it is %v", text, got, rendersLikeTwo(text))
		}
	}
}
