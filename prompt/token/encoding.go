package token

import (
	"sync"
	"unicode/utf8"
	"unsafe"
)

// encoding counts what a vocabulary makes of the pieces that a split pattern cuts.
type encoding struct {
	vocab   *vocab
	classes *classes
	split   splitter
	nfc     bool  // the text is brought into NFC first
	added   added // tokens that are found in the text before anything else
	pool    sync.Pool
}

func newEncoding(v *vocab, split splitter) (*encoding, error) {
	c, err := allClasses()
	if err != nil {
		return nil, err
	}
	return &encoding{vocab: v, classes: c, split: split,
		pool: sync.Pool{New: func() any { return new(scratch) }}}, nil
}

// count is the number of tokens of text. A byte that is not part of valid UTF-8 counts
// as U+FFFD.
func (e *encoding) count(text string) int {
	s := e.pool.Get().(*scratch)
	defer e.pool.Put(s)
	// The bytes are only read, so they may be those of the string itself.
	b := unsafe.Slice(unsafe.StringData(text), len(text))
	if !utf8.Valid(b) {
		s.valid = replace(s.valid[:0], text)
		b = s.valid
	}
	n := 0
	for len(b) > 0 {
		start, end := e.added.find(b)
		n += e.plain(b[:start], s)
		if end > start {
			n++
		}
		b = b[end:]
	}
	return n
}

// replace appends text to b, with U+FFFD for each invalid byte.
func replace(b []byte, text string) []byte {
	for _, r := range text {
		b = utf8.AppendRune(b, r)
	}
	return b
}

// plain counts text without added tokens.
func (e *encoding) plain(text []byte, s *scratch) int {
	if e.nfc {
		text = nfc(text, s)
	}
	n := 0
	for at := 0; at < len(text); {
		end := e.split(e.classes, text, at)
		n += e.vocab.piece(text, at, end, s)
		at = end
	}
	return n
}
