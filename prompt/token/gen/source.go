package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	loader "github.com/pkoukk/tiktoken-go-loader"
)

// tiktoken reads the ranks that tiktoken-go-loader embeds. A rank may be left out, as p50k_base
// leaves out that of a special token: tokens are counted by the order of ranks alone.
func tiktoken(name string) (vocabulary, error) {
	ranks, err := loader.NewOfflineLoader().LoadTiktokenBpe(name + ".tiktoken")
	if err != nil {
		return vocabulary{}, err
	}
	tokens := slices.SortedFunc(maps.Keys(ranks), func(a, b string) int { return ranks[a] - ranks[b] })
	return vocabulary{tokens: tokens}, nil
}

// inOrder lists tokens by id, which must count from 0 without a gap.
func inOrder(ids map[string]int) ([]string, error) {
	tokens := make([]string, len(ids))
	for token, id := range ids {
		if id < 0 || id >= len(ids) || tokens[id] != "" {
			return nil, fmt.Errorf("token %q has id %d: want ids 0 to %d, each once", token, id, len(ids)-1)
		}
		tokens[id] = token
	}
	return tokens, nil
}

// file is the part of a tokenizer.json that is packed. What package token must know
// beside it (pattern, normalizer) is bound to the name there.
type file struct {
	Added []struct {
		Content string `json:"content"`
	} `json:"added_tokens"`
	Model struct {
		Vocab  map[string]int `json:"vocab"`
		Merges []string       `json:"merges"`
	} `json:"model"`
}

// tokenizerJSON reads a byte-level BPE tokenizer with one merge a token.
func tokenizerJSON(path string) (vocabulary, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return vocabulary{}, err
	}
	var f file
	if err := json.Unmarshal(data, &f); err != nil {
		return vocabulary{}, fmt.Errorf("%s: %w", path, err)
	}
	v, err := f.vocabulary()
	if err != nil {
		return vocabulary{}, err
	}
	return v, agree(v, f.Model.Merges)
}

func (f file) vocabulary() (vocabulary, error) {
	var v vocabulary
	ids := make(map[string]int, len(f.Model.Vocab))
	bytes := byteOfRune()
	for text, id := range f.Model.Vocab {
		ids[decode(text, bytes)] = id
	}
	for _, added := range f.Added {
		v.added = append(v.added, added.Content)
	}
	var err error
	v.tokens, err = inOrder(ids)
	return v, err
}

// agree checks that the merges listed are exactly those that the ids imply, in the
// order of the ids, so that both give the same tokens for every text.
func agree(v vocabulary, merges []string) error {
	pairs, err := v.pairs()
	if err != nil {
		return err
	}
	if len(merges) != len(pairs) {
		return fmt.Errorf("%d merges for %d tokens of two halves: want one each", len(merges), len(pairs))
	}
	bytes, ids, last := byteOfRune(), v.ids(), -1
	for _, merge := range merges {
		left, right, _ := strings.Cut(merge, " ")
		l, r := decode(left, bytes), decode(right, bytes)
		id := ids[l+r]
		if (pairs[id] != pair{ids[l], ids[r]}) || id <= last {
			return fmt.Errorf("merge %q is not the one that makes token %d, or not in its order", merge, id)
		}
		last = id
	}
	return nil
}

// byteOfRune is the byte-level alphabet of GPT-2: printable Latin-1 bytes stand for
// themselves, the others, in order, for U+0100 and up.
func byteOfRune() map[rune]byte {
	bytes, next := make(map[rune]byte, 256), rune(256)
	for b := range rune(256) {
		if '!' <= b && b <= '~' || '¡' <= b && b <= '¬' || '®' <= b && b <= 'ÿ' {
			bytes[b] = byte(b)
			continue
		}
		bytes[next] = byte(b)
		next++
	}
	return bytes
}

func decode(text string, bytes map[rune]byte) string {
	var b strings.Builder
	for _, r := range text {
		b.WriteByte(bytes[r])
	}
	return b.String()
}
