package openai

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/poimen-memory/mem/loop/keyfilter"
)

// Key is an API key that no formatting shows. The zero Key is none: no Authorization
// header is sent.
type Key struct {
	// A func, as fmt follows neither it nor calls the methods of an unexported field: a
	// plain string would be printed with any struct that holds it.
	reveal func() string
}

// NewKey hides value.
func NewKey(value string) Key {
	if value == "" {
		return Key{}
	}
	return Key{func() string { return value }}
}

func (k Key) value() string {
	if k.reveal == nil {
		return ""
	}
	return k.reveal()
}

// String says whether there is a key.
func (k Key) String() string {
	if k.reveal == nil {
		return "[no key]"
	}
	return "[hidden key]"
}

// GoString is String, for %#v.
func (k Key) GoString() string { return k.String() }

// MarshalJSON encodes String.
func (k Key) MarshalJSON() ([]byte, error) { return []byte(`"` + k.String() + `"`), nil }

// check refuses what cannot be in a header, which is most often a file's line break.
func (k Key) check() error {
	unfit := func(r rune) bool { return unicode.IsSpace(r) || !unicode.IsPrint(r) || r > unicode.MaxASCII }
	if at := strings.IndexFunc(k.value(), unfit); at >= 0 {
		return fmt.Errorf("api key: byte %d of it is not a printable ASCII character; want the bare key, without a line break", at)
	}
	return nil
}

// Filtered reports whether the key is hidden where a server repeats it. A short one, or a
// word that local servers take for a key, is not: it would hide what a model may say.
func (k Key) Filtered() bool { return keyfilter.Filtered(k.value()) }

// filter hides the key in text that a server wrote.
func (k Key) filter() *keyfilter.Filter {
	var f keyfilter.Filter
	f.Add(k.value())
	return &f
}
