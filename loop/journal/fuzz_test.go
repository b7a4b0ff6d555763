package journal_test

import (
	"bytes"
	"errors"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/poimen-memory/mem/loop/journal"
)

// FuzzRead: what a journal holds up to Bytes reads the same again, and what refuses it is Corrupt or
// has no header.
func FuzzRead(f *testing.F) {
	old, err := os.ReadFile("testdata/schema1.jsonl")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(old)
	f.Add(ended(f, ""))
	f.Add(ended(f, " é\x00\n\"\\"))
	f.Fuzz(func(t *testing.T, data []byte) {
		j, err := journal.Read(bytes.NewReader(data))
		if _, corrupt := errors.AsType[*journal.Corrupt](err); err != nil && !corrupt && !errors.Is(err, journal.ErrNoHeader) {
			t.Fatalf("error %v, want a *journal.Corrupt", err)
		}
		if j.Bytes < 0 || j.Bytes > int64(len(data)) {
			t.Fatalf("%d whole bytes of %d", j.Bytes, len(data))
		}
		if j.Bytes == 0 {
			return
		}
		again, err := journal.Read(bytes.NewReader(data[:j.Bytes]))
		if err != nil || again.End != nil || again.Bytes != j.Bytes {
			t.Fatalf("its whole bytes read as %d bytes, with an end: %v, error %v", again.Bytes, again.End != nil, err)
		}
		if diff := cmp.Diff(j.Calls, again.Calls); diff != "" {
			t.Errorf("-first +again\n%s", diff)
		}
	})
}
