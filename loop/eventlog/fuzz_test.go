package eventlog_test

import (
	"bytes"
	"testing"

	"github.com/poimen-memory/mem/loop/eventlog"
)

// FuzzVerify: a log is never corrupt up to its whole units, nor is a verified log cut anywhere.
func FuzzVerify(f *testing.F) {
	for _, enforce := range []bool{false, true} {
		log := record(f, enforce)
		f.Add(log, len(log))
		f.Add(log, len(log)/2)
	}
	f.Add([]byte("{\"type\":\"run_start\"}\n"), 0)
	f.Fuzz(func(t *testing.T, log []byte, cut int) {
		r := verify(t, log)
		if r.Bytes < 0 || r.Bytes > int64(len(log)) {
			t.Fatalf("%d whole bytes of %d", r.Bytes, len(log))
		}
		whole := verify(t, log[:r.Bytes])
		if whole.State == eventlog.Corrupt || whole.Turns != r.Turns || whole.Bytes != r.Bytes {
			t.Errorf("%+v, up to there %+v", r, whole)
		}
		if r.State == eventlog.Corrupt || cut < 0 || cut > len(log) {
			return
		}
		if part := verify(t, log[:cut]); part.State == eventlog.Corrupt || part.Turns > r.Turns {
			t.Errorf("cut after %d bytes: %+v, whole %+v", cut, part, r)
		}
		if again := verify(t, bytes.Clone(log)); again.State != r.State || again.Turns != r.Turns {
			t.Errorf("verified again: %+v, at first %+v", again, r)
		}
	})
}
