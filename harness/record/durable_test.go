package record

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/poimen-memory/mem/loop"
	"github.com/poimen-memory/mem/loop/journal"
)

// counted counts what it is asked.
type counted struct{ calls int }

func (c *counted) Complete(context.Context, loop.Request) (loop.Completion, error) {
	c.calls++
	return loop.Completion{Text: "a reply"}, nil
}

func paidHeader() journal.Header {
	return journal.Header{Query: "Q", Corpus: "s", Model: journal.LiveModel("m", map[string]any{"seed": 1}), Level: 1, Trial: 1}
}

// TestNothingIsAskedThatCannotBeKept: a record whose files are gone or are others' is noticed
// before a call is paid, also one that is resumed.
func TestNothingIsAskedThatCannotBeKept(t *testing.T) {
	remove := func(t *testing.T, path string) {
		if err := os.RemoveAll(path); err != nil {
			t.Fatal(err)
		}
	}
	for name, harm := range map[string]func(t *testing.T, f Folder){
		"folder":       func(t *testing.T, f Folder) { remove(t, f.Dir) },
		"run's folder": func(t *testing.T, f Folder) { remove(t, f.RunDir("r")) },
		"journal":      func(t *testing.T, f Folder) { remove(t, f.CallsPath("r")) },
		"log":          func(t *testing.T, f Folder) { remove(t, f.EventsPath("r")) },
		"another journal": func(t *testing.T, f Folder) {
			remove(t, f.CallsPath("r"))
			if err := os.WriteFile(f.CallsPath("r"), nil, 0o666); err != nil {
				t.Fatal(err)
			}
		},
	} {
		for _, resume := range []bool{false, true} {
			f := Folder{Dir: filepath.Join(t.TempDir(), "x")}
			model := &counted{}
			open := func() (*Writer, error) {
				if resume {
					return f.Resume("r", paidHeader(), Source{Model: model, Sync: true}, nil)
				}
				return f.Create("r", paidHeader(), Source{Model: model, Sync: true})
			}
			w, err := open()
			if err != nil {
				t.Fatal(err)
			}
			if _, err := w.Complete(t.Context(), loop.Request{Turn: 1, Attempt: 1, User: "u"}); err != nil || model.calls != 1 {
				t.Fatalf("%d calls, %v", model.calls, err)
			}
			harm(t, f)
			_, err = w.Complete(t.Context(), loop.Request{Turn: 2, Attempt: 1, User: "v"})
			if err == nil || !strings.Contains(err.Error(), "not asked, for the reply could not be recorded") || model.calls != 1 {
				t.Errorf("%s removed, resume %v: %d calls, %v", name, resume, model.calls, err)
			}
			w.close()
		}
	}
}

// TestPinNoticesAnotherFolder: of all records or of the experiment.
func TestPinNoticesAnotherFolder(t *testing.T) {
	for name, test := range map[string]struct {
		harm func(f Folder) error
		says string
	}{
		"nothing":          {func(Folder) error { return nil }, ""},
		"a run removed":    {func(f Folder) error { return os.RemoveAll(f.RunDir("r")) }, ""},
		"the last refused": {func(f Folder) error { return f.removeRun(f.RunDir("r")) }, ""},
		"removed":          {func(f Folder) error { return os.RemoveAll(f.Dir) }, "x was removed during the evaluation"},
		"records removed":  {func(f Folder) error { return os.RemoveAll(f.RunDir("")) }, "runs was removed during the evaluation"},
		"replaced": {func(f Folder) error {
			return errors.Join(os.Rename(f.Dir, f.Dir+".moved"), os.MkdirAll(f.RunDir(""), 0o777))
		}, "x was replaced during the evaluation"},
	} {
		f := Folder{Dir: filepath.Join(t.TempDir(), "x")}
		present, err := Pin(f)
		if err != nil {
			t.Fatal(err)
		}
		w, err := f.Create("r", paidHeader(), Source{Model: &counted{}})
		if err != nil {
			t.Fatal(err)
		}
		w.close()
		if err := test.harm(f); err != nil {
			t.Fatal(err)
		}
		if err := present(); (err != nil) != (test.says != "") || err != nil && !strings.Contains(err.Error(), test.says) {
			t.Errorf("%s: %v, want %q", name, err, test.says)
		}
	}
}

// TestUnpaidRecordsAreNotSynced: scripted runs do not pay for being durable.
func TestUnpaidRecordsAreNotSynced(t *testing.T) {
	f := Folder{Dir: t.TempDir()}
	w, err := f.Create("r", paidHeader(), Source{Model: &counted{}})
	if err != nil {
		t.Fatal(err)
	}
	defer w.close()
	if w.recorder.Sync != nil {
		t.Error("a scripted run syncs")
	}
	live, err := f.Create("live", paidHeader(), Source{Model: &counted{}, Sync: true})
	if err != nil {
		t.Fatal(err)
	}
	defer live.close()
	if live.recorder.Sync == nil || live.recorder.Sync() != nil {
		t.Error("a live run does not sync")
	}
}
