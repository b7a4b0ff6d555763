package token

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/pkoukk/tiktoken-go"
	loader "github.com/pkoukk/tiktoken-go-loader"
)

// references has tiktoken-go's encodings, each loaded at most once.
var references = map[string]func() (*Counter, error){
	"cl100k_base": reference("cl100k_base"),
	"o200k_base":  reference("o200k_base"),
	"p50k_base":   reference("p50k_base"),
	"r50k_base":   reference("r50k_base"),
}

// Reference returns tiktoken-go's counter of a vocabulary of OpenAI, to check New's
// against: it is slow, quadratic in runs of one class, and does not know that 'ſ folds
// to 's. Its name is the vocabulary's, as that of New's is.
func Reference(name string) (*Counter, error) {
	load, ok := references[name]
	if !ok {
		return nil, fmt.Errorf("no reference for tokenizer %q: want one of %s", name, list(references))
	}
	return load()
}

// offline makes tiktoken-go read the ranks embedded in the program, before its first use.
var offline = sync.OnceFunc(func() { tiktoken.SetBpeLoader(loader.NewOfflineLoader()) })

func reference(name string) func() (*Counter, error) {
	return sync.OnceValues(func() (*Counter, error) {
		offline()
		enc, err := tiktoken.GetEncoding(name)
		if err != nil {
			return nil, fmt.Errorf("tokenizer %s: %w", name, err)
		}
		return &Counter{name: name, count: func(text string) int { return len(enc.EncodeOrdinary(text)) }}, nil
	})
}

// list has the names of a table, sorted.
func list(table map[string]func() (*Counter, error)) string {
	var names []string
	for name := range table {
		names = append(names, name)
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}
