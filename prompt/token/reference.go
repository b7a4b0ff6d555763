//go:build reference

package token

import (
	"fmt"

	"github.com/pkoukk/tiktoken-go"
	loader "github.com/pkoukk/tiktoken-go-loader"
)

// reference counts with tiktoken-go, from the ranks that tiktoken-go-loader embeds. It is
// quadratic in runs of one class, and does not know that 'ſ folds to 's.
func reference(name string) (*Counter, error) {
	tiktoken.SetBpeLoader(loader.NewOfflineLoader())
	enc, err := tiktoken.GetEncoding(name)
	if err != nil {
		return nil, fmt.Errorf("tokenizer %s: %w", name, err)
	}
	return &Counter{name: name, count: func(text string) int { return len(enc.EncodeOrdinary(text)) }}, nil
}
