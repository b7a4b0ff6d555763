// Command gen packs a vocabulary for package token to embed:
//
//	go run ./gen cl100k_base                      from the ranks of tiktoken-go-loader
//	go run ./gen qwen2.5 path/to/tokenizer.json   from a byte-level BPE tokenizer
//
// It writes data/NAME.vocab.gz. The layout before gzip, numbers as unsigned varints:
//
//	n                     the number of tokens
//	n × left              1 + the id of the left half, or 0 for a single byte
//	(n-256) × right       the id of the right half of those that have halves
//	256 × byte            the single bytes, in order of their ids
//	m, m × (length, text) the tokens that text may hold beside the vocabulary
//
// A token is stored as the one pair whose merge makes it. There is only one: what lies
// between the borders of a token merges as it would alone, whatever stands around it,
// so the last merge of the token's own bytes is the last merge everywhere.
package main

import (
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	var v vocabulary
	var err error
	switch len(args) {
	case 1:
		v, err = tiktoken(args[0])
	case 2:
		v, err = tokenizerJSON(args[1])
	default:
		return fmt.Errorf("got %d arguments: want NAME, or NAME and the path of a tokenizer.json", len(args))
	}
	if err != nil {
		return fmt.Errorf("%s: %w", args[0], err)
	}
	return v.write(filepath.Join("data", args[0]+".vocab.gz"))
}
