package token

import (
	"cmp"
	"embed"
	"encoding/binary"
	"fmt"
	"sync"

	"github.com/klauspost/compress/zstd"
)

//go:generate go run ./gen cl100k_base
//go:generate go run ./gen o200k_base
//go:generate go run ./gen p50k_base

// Where the vocabularies come from, and how qwen2.5 is packed, is in data/SOURCES.md.
//
//go:embed data/*.vocab.zst
var packed embed.FS

// load unpacks an embedded vocabulary, and the added tokens of its source. If limit is not
// zero, the vocabulary has only that many tokens, the first ones.
func load(name string, limit int) (*vocab, []string, error) {
	p, err := open(name)
	if err != nil {
		return nil, nil, err
	}
	added := addedTokens(p.bytes[5*p.n:])
	p.first = cmp.Or(limit, p.n)
	return p.vocab(), added, nil
}

// open reads an embedded vocabulary.
func open(name string) (planes, error) {
	data, err := packed.ReadFile("data/" + name + ".vocab.zst")
	if err != nil {
		return planes{}, err
	}
	d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1))
	if err != nil {
		return planes{}, err
	}
	defer d.Close()
	plain, err := d.DecodeAll(data, nil)
	if err != nil {
		return planes{}, fmt.Errorf("vocabulary %s: %w", name, err)
	}
	n := int(binary.LittleEndian.Uint32(plain))
	return planes{bytes: plain[4:], n: n, first: n}, nil
}

// planes are the packed tokens, which package gen describes: n bytes of each kind.
type planes struct {
	bytes []byte
	n     int
	first int // the number of tokens that are read
}

// single marks a token of a single byte, in the place of the high bits of its halves.
const single = 0xff

// merge is the merge that makes a token. That of a single byte has the byte as its left half.
func (p planes) merge(id int) (m merge, isByte bool) {
	high := p.bytes[4*p.n+id]
	if high == single {
		return merge{left: uint32(p.bytes[id])}, true
	}
	return merge{
		left:   uint32(p.bytes[id]) | uint32(p.bytes[p.n+id])<<8 | uint32(high>>4)<<16,
		right:  uint32(p.bytes[2*p.n+id]) | uint32(p.bytes[3*p.n+id])<<8 | uint32(high&15)<<16,
		merged: uint32(id),
	}, false
}

// vocab makes the tables that every text needs.
func (p planes) vocab() *vocab {
	v := newVocab(p.first)
	for id := range p.first {
		m, isByte := p.merge(id)
		if isByte {
			v.bytes[m.left] = uint32(id)
			continue
		}
		v.pairs.add(m)
		left, leftIsByte := p.merge(int(m.left))
		right, rightIsByte := p.merge(int(m.right))
		if leftIsByte && rightIsByte {
			v.twos[left.left<<8|right.left] = m.merged
		}
	}
	v.joins = sync.OnceValue(p.joins)
	return v
}

// joins is made when a text first needs it: it takes as long as all the rest.
func (p planes) joins() *joins {
	j := new(joins)
	s := spelling{ends: make([]uint32, 0, p.first), text: make([]byte, 0, 8*p.first)}
	for id := range p.first {
		m, isByte := p.merge(id)
		if isByte {
			s.text = append(s.text, byte(m.left))
		} else {
			left, right := s.token(m.left), s.token(m.right)
			j.learn(left, right)
			s.text = append(append(s.text, left...), right...)
		}
		s.ends = append(s.ends, uint32(len(s.text)))
	}
	return j
}

// addedTokens reads what follows the vocabulary in the packed form.
func addedTokens(packed []byte) (added []string) {
	for len(packed) > 0 {
		n, size := binary.Uvarint(packed)
		added = append(added, string(packed[size:size+int(n)]))
		packed = packed[size+int(n):]
	}
	return added
}
