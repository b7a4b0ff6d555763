// Command gen packs a vocabulary for package token to embed:
//
//	go run ./gen cl100k_base                      from the ranks of tiktoken-go-loader
//	go run ./gen qwen2.5 path/to/tokenizer.json   from a byte-level BPE tokenizer
//
// It writes data/NAME.vocab.zst. The layout before zstd, for n tokens:
//
//	4 bytes               n, the least significant byte first
//	n × byte              bits 0 to 7 of the left half's id, or a single byte itself
//	n × byte              bits 8 to 15 of the left half's id
//	n × byte              bits 0 to 7 of the right half's id
//	n × byte              bits 8 to 15 of the right half's id
//	n × byte              16 × bits 16 up of left + those of right, or 255 for a single byte
//	(length, text)        each token that text may hold beside the vocabulary, its length
//	                      as an unsigned varint
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
	return v.write(filepath.Join("data", args[0]+".vocab.zst"))
}
