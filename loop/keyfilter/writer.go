package keyfilter

import (
	"io"
	"sync"
)

// Writer writes what a Filter leaves. It keeps back the end of a write that may be the
// beginning of a key, until the next write or Flush.
type Writer struct {
	filter *Filter
	w      io.Writer

	mu   sync.Mutex
	held string
}

// Writer passes what is written on to w, without the keys.
func (f *Filter) Writer(w io.Writer) *Writer { return &Writer{filter: f, w: w} }

// Unwrap is the writer that the text goes to: whether it is a terminal is its property.
func (w *Writer) Unwrap() io.Writer { return w.w }

// Write reports all of p as written once what can be of it is.
func (w *Writer) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.pass(w.held+string(p), false); err != nil {
		return 0, err
	}
	return len(p), nil
}

// Flush writes what was kept back.
func (w *Writer) Flush() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.pass(w.held, true)
}

func (w *Writer) pass(text string, whole bool) error {
	shown, held := w.filter.hide(text, whole)
	w.held = held
	if shown == "" {
		return nil
	}
	_, err := io.WriteString(w.w, shown)
	return err
}
