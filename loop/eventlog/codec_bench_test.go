package eventlog_test

import (
	"strings"
	"testing"

	"github.com/poimen-memory/mem/internal/digest"
	"github.com/poimen-memory/mem/loop"
	"github.com/poimen-memory/mem/loop/eventlog"
)

// BenchmarkDecode reads the line of a memory of 4 KB.
func BenchmarkDecode(b *testing.B) {
	text := strings.TrimSpace(strings.Repeat("Redis listens on 6380.\n", 180))
	line, err := eventlog.Encode(loop.Memory{Level: 1, Turn: 1, SHA: digest.Of(text), Tokens: 1000, Text: text})
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(line)))
	for b.Loop() {
		if _, err := eventlog.Decode(line); err != nil {
			b.Fatal(err)
		}
	}
}
