package eventlog_test

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/poimen-memory/mem/loop/eventlog"
)

// left is a log as an interrupted run left it.
func left(t *testing.T, log []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "events.jsonl")
	if err := os.WriteFile(path, log, 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

// units are the writes of a log.
func units(log []byte) (list [][]byte) {
	from := 0
	for _, end := range wholeUnits(log) {
		if end > from {
			list = append(list, log[from:end])
			from = end
		}
	}
	return list
}

// TestResumeAfterACutAnywhere: cut back to whole units and continued, the log is the one
// of an undisturbed run.
func TestResumeAfterACutAnywhere(t *testing.T) {
	log := record(t, false)
	for cut := 0; cut <= len(log); cut += 7 {
		path := left(t, log[:cut])
		w, err := eventlog.Resume(path, count)
		if err != nil {
			t.Fatalf("cut at byte %d: %v", cut, err)
		}
		now, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		whole := verify(t, log[:cut]).Bytes
		if int64(len(now)) != whole || !bytes.HasPrefix(log, now) {
			t.Fatalf("cut at byte %d: %d bytes are left, want the %d of whole units", cut, len(now), whole)
		}
		for _, u := range units(log) {
			if n, err := w.Write(u); n != len(u) || err != nil {
				t.Fatalf("cut at byte %d: wrote %d of %d: %v", cut, n, len(u), err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, log) {
			t.Fatalf("cut at byte %d: the continued log differs (%v):\n%s", cut, err, got)
		}
	}
}

func TestResumeBeginsALogThatIsNotThere(t *testing.T) {
	path := filepath.Join(t.TempDir(), "events.jsonl")
	w, err := eventlog.Resume(path, count)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	log := record(t, true)
	for _, u := range units(log) {
		if _, err := w.Write(u); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, log) {
		t.Errorf("%v:\n%s", err, got)
	}
}

// TestCutDropsWhatIsAheadOfTheReplay: what was compared stays, and other units may follow.
func TestCutDropsWhatIsAheadOfTheReplay(t *testing.T) {
	log := record(t, false)
	list := units(log)
	for compared := range len(list) + 1 {
		path := left(t, log)
		w, err := eventlog.Resume(path, count)
		if err != nil {
			t.Fatal(err)
		}
		for _, u := range list[:compared] {
			if _, err := w.Write(u); err != nil {
				t.Fatal(err)
			}
		}
		if w.Ahead() != (compared < len(list)) {
			t.Errorf("after %d of %d units the log is ahead: %v", compared, len(list), w.Ahead())
		}
		if err := errors.Join(w.Cut(), w.Cut()); err != nil {
			t.Fatal(err)
		}
		if w.Ahead() {
			t.Errorf("after %d units and a cut the log is ahead", compared)
		}
		if _, err := w.Write([]byte("another unit")); err != nil {
			t.Errorf("after %d units: %v", compared, err)
		}
		w.Close()
		want := append(bytes.Join(list[:compared], nil), "another unit"...)
		if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, want) {
			t.Errorf("cut after %d units (%v): the log is\n%s", compared, err, got)
		}
	}
}

// TestResumeRefusesAnotherReplay: a log is never forked. The file stays as it was.
func TestResumeRefusesAnotherReplay(t *testing.T) {
	log := record(t, false)
	list := units(log)
	known := bytes.Join(list[:4], nil)
	for name, unit := range map[string][]byte{
		"another memory":         bytes.Replace(list[2], []byte("first"), []byte("other"), 1),
		"a unit left out":        list[3],
		"a unit that goes on":    append(bytes.Clone(list[2]), list[3][:9]...),
		"an end where there was": list[len(list)-1],
	} {
		path := left(t, known)
		w, err := eventlog.Resume(path, count)
		if err != nil {
			t.Fatal(err)
		}
		for _, u := range list[:2] {
			if _, err := w.Write(u); err != nil {
				t.Fatal(err)
			}
		}
		_, err = w.Write(unit)
		if name == "a unit that goes on" { // beyond what can be told from the bytes: the next one tells
			_, err = w.Write(list[3])
		}
		if err == nil || !strings.Contains(err.Error(), "the replay differs from the log after byte") {
			t.Errorf("%s: error is %v", name, err)
		}
		w.Close()
		if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, known) {
			t.Errorf("%s: the log changed (%v)", name, err)
		}
	}
}

func TestResumeRefusesACorruptLog(t *testing.T) {
	log := bytes.Replace(record(t, false), []byte("first"), []byte("fIrst"), 1)
	path := left(t, log)
	_, err := eventlog.Resume(path, count)
	if err == nil || !strings.Contains(err.Error(), "events.jsonl:") || !strings.Contains(err.Error(), "a corrupt log is not resumed") {
		t.Errorf("error is %v", err)
	}
	if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, log) {
		t.Errorf("the corrupt log changed (%v)", err)
	}
}

// TestResumeHandsOnErrors: of a log that cannot be read, begun, or written.
func TestResumeHandsOnErrors(t *testing.T) {
	folder := t.TempDir()
	if _, err := eventlog.Resume(folder, count); err == nil || !strings.HasPrefix(err.Error(), "read "+folder) {
		t.Errorf("a folder: %v", err)
	}
	if _, err := eventlog.Resume(filepath.Join(folder, "none", "events.jsonl"), count); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no folder to be in: %v", err)
	}
	w, err := eventlog.Resume(filepath.Join(folder, "events.jsonl"), count)
	if err != nil {
		t.Fatal(err)
	}
	w.Close()
	if _, err := w.Write([]byte("x")); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("a closed file: %v", err)
	}
}
