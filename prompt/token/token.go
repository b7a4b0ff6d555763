// Package token counts tokens by the name of a vocabulary. It is the only room
// that knows a tokenizer library; the rest of the program sees Count and a name.
package token

import (
	"fmt"
	"strings"

	"github.com/pkoukk/tiktoken-go"
	loader "github.com/pkoukk/tiktoken-go-loader"
)

// Counter counts the tokens of a text. It is safe for concurrent use.
type Counter struct {
	name string
	enc  *tiktoken.Tiktoken
}

// Names lists the vocabularies that New knows, sorted.
func Names() []string { return []string{"cl100k_base", "o200k_base"} }

// New returns the counter of a named vocabulary. Ranks are embedded: nothing is downloaded.
func New(name string) (*Counter, error) {
	for _, known := range Names() {
		if known == name {
			return load(name)
		}
	}
	return nil, fmt.Errorf("unknown tokenizer %q: want one of %s", name, strings.Join(Names(), ", "))
}

func load(name string) (*Counter, error) {
	tiktoken.SetBpeLoader(loader.NewOfflineLoader())
	enc, err := tiktoken.GetEncoding(name)
	if err != nil {
		return nil, fmt.Errorf("tokenizer %s: %w", name, err)
	}
	return &Counter{name: name, enc: enc}, nil
}

// Name is the vocabulary's name, as reports show it.
func (c *Counter) Name() string { return c.name }

// Count is the number of tokens of text; special tokens in it count as ordinary text.
func (c *Counter) Count(text string) int { return len(c.enc.EncodeOrdinary(text)) }
