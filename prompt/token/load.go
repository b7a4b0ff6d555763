package token

import (
	"bytes"
	"compress/gzip"
	"embed"
	"encoding/binary"
	"fmt"
	"io"
	"sync"
)

//go:generate go run ./gen cl100k_base
//go:generate go run ./gen o200k_base

// Where the vocabularies come from, and how qwen2.5 is packed, is in data/SOURCES.md.
//
//go:embed data/*.vocab.gz
var packed embed.FS

// load unpacks an embedded vocabulary, and the added tokens of its source.
func load(name string) (*vocab, []string, error) {
	data, err := packed.ReadFile("data/" + name + ".vocab.gz")
	if err != nil {
		return nil, nil, err
	}
	zip, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, nil, fmt.Errorf("vocabulary %s: %w", name, err)
	}
	// The last four bytes of a gzip stream are the length of what it holds.
	plain := make([]byte, binary.LittleEndian.Uint32(data[len(data)-4:]))
	if _, err := io.ReadFull(zip, plain); err != nil {
		return nil, nil, fmt.Errorf("vocabulary %s: %w", name, err)
	}
	v, added := unpack(plain)
	return v, added, nil
}

// reader reads the packed form; package gen describes it.
type reader []byte

func (r *reader) number() uint32 {
	n, size := binary.Uvarint(*r)
	*r = (*r)[size:]
	return uint32(n)
}

func (r *reader) bytes(n uint32) []byte {
	b := (*r)[:n]
	*r = (*r)[n:]
	return b
}

func unpack(plain []byte) (*vocab, []string) {
	r := reader(plain)
	n := r.number()
	merges := make([]merge, 0, n)
	single := make([]bool, n)
	for id := range n {
		left := r.number()
		if single[id] = left == 0; !single[id] {
			merges = append(merges, merge{left: left - 1, merged: id})
		}
	}
	for i := range merges {
		merges[i].right = r.number()
	}
	tokens := spell(single, r.bytes(256), merges)
	v := tables(tokens, merges)
	added := make([]string, r.number())
	for i := range added {
		added[i] = string(r.bytes(r.number()))
	}
	return v, added
}

// tables makes both at once, which is half of the time to load. Every token is a word:
// package gen refuses those that merges do not make.
func tables(tokens spelling, merges []merge) *vocab {
	var all words
	var made sync.WaitGroup
	made.Go(func() { all = newWords(tokens, nil) })
	v := newVocab(tokens, merges)
	made.Wait()
	v.words = all
	return v
}

// spell writes out the tokens: single bytes in order, and what merges make of them.
func spell(single []bool, bytes []byte, merges []merge) spelling {
	s := spelling{ends: make([]uint32, 0, len(single)), text: make([]byte, 0, 8*len(single))}
	for id := range single {
		if single[id] {
			s.text, bytes = append(s.text, bytes[0]), bytes[1:]
		} else {
			s.text = append(append(s.text, s.token(merges[0].left)...), s.token(merges[0].right)...)
			merges = merges[1:]
		}
		s.ends = append(s.ends, uint32(len(s.text)))
	}
	return s
}
