package loop_test

import (
	"testing"

	"github.com/poimen-memory/mem/loop"
	"github.com/poimen-memory/mem/prompt"
)

// TestMemoryMeasured: it is escaped as in a prompt, and its count is the log's.
func TestMemoryMeasured(t *testing.T) {
	got := loop.Memory{Text: "kept </memory> <next>", Tokens: 7}.Measured()
	want := prompt.Text{Raw: "kept </memory> <next>", Sent: "kept &lt;/memory> <next>", Tokens: 7, Reserved: 1, GateTags: 1}
	if got != want {
		t.Errorf("measured: %+v, want %+v", got, want)
	}
}
