package token

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// model is the part of a tokenizer.json that has the vocabulary.
type model struct {
	Type         string            `json:"type"`
	Dropout      float64           `json:"dropout"`
	Prefix       string            `json:"continuing_subword_prefix"`
	Suffix       string            `json:"end_of_word_suffix"`
	ByteFallback bool              `json:"byte_fallback"`
	IgnoreMerges bool              `json:"ignore_merges"`
	Vocab        map[string]uint32 `json:"vocab"`
	Merges       json.RawMessage   `json:"merges"`
}

// halves are the two tokens of each merge, written as "a b" or as ["a", "b"].
func (m model) halves() ([][]string, error) {
	var texts []string
	if json.Unmarshal(m.Merges, &texts) == nil {
		pairs := make([][]string, len(texts))
		for i, text := range texts {
			pairs[i] = strings.Split(text, " ")
		}
		return pairs, nil
	}
	var pairs [][]string
	if err := json.Unmarshal(m.Merges, &pairs); err != nil {
		return nil, errors.New(`merges: want a list of "a b", or of ["a", "b"]`)
	}
	return pairs, nil
}

// vocab makes the tables. Tokens get new ids in the order of their old ones, without
// gaps. Several merges may make one token, at ids in order all of them have its rank:
// which one happens is decided inside the token, as it is by their places in the list.
func (m model) vocab() (*vocab, error) {
	if err := m.check(); err != nil {
		return nil, err
	}
	tokens, ids, err := m.spell()
	if err != nil {
		return nil, err
	}
	merges, err := m.merges(ids)
	if err != nil {
		return nil, err
	}
	v := newVocab(len(merges))
	for id := range uint32(len(tokens.ends)) {
		if token := tokens.token(id); len(token) == 1 {
			v.bytes[token[0]] = id
		}
	}
	j := new(joins)
	for _, m := range merges {
		left, right := tokens.token(m.left), tokens.token(m.right)
		v.pairs.add(m)
		j.learn(left, right)
		if len(left) == 1 && len(right) == 1 {
			v.twos[int(left[0])<<8|int(right[0])] = m.merged
		}
	}
	v.joins = func() *joins { return j }
	if m.IgnoreMerges {
		v.takeWhole(tokens)
	}
	return v, nil
}

// takeWhole lets a piece that is a token be one, though merges do not make it.
func (v *vocab) takeWhole(tokens spelling) {
	var s scratch
	for id := range uint32(len(tokens.ends)) {
		if token := tokens.token(id); v.merged(token, &s) > 1 {
			if v.whole == nil {
				v.whole, v.partMark = map[string]bool{}, 1<<(lengthShift+4)
			}
			v.whole[string(token)] = true
		}
	}
}

func (m model) check() error {
	switch {
	case m.Type != "BPE":
		return fmt.Errorf("model type %q: want BPE", m.Type)
	case m.ByteFallback:
		return errors.New("model has byte_fallback: want a byte-level one without")
	case m.Dropout != 0:
		return fmt.Errorf("model has dropout %v: want none", m.Dropout)
	case m.Prefix != "" || m.Suffix != "":
		return errors.New("model has a continuing_subword_prefix or an end_of_word_suffix: want none")
	case len(m.Vocab) >= maxIDs:
		return fmt.Errorf("%d tokens: want fewer than %d", len(m.Vocab), maxIDs)
	}
	return nil
}

// spell writes out the tokens, and returns the new id of each.
func (m model) spell() (spelling, map[string]uint32, error) {
	var s spelling
	names, alphabet := m.names(), byteOfRune()
	ids := make(map[string]uint32, len(names))
	for id, token := range names {
		if id > 0 && token.id == names[id-1].id {
			return s, nil, fmt.Errorf("tokens %q and %q have the id %d: want one each", names[id-1].name, token.name, token.id)
		}
		text, err := decode(token.name, alphabet)
		if err != nil {
			return s, nil, err
		}
		s.text = append(s.text, text...)
		s.ends, ids[token.name] = append(s.ends, uint32(len(s.text))), uint32(id)
	}
	for r := range alphabet {
		if _, ok := ids[string(r)]; !ok {
			return s, nil, fmt.Errorf("no token %q: want one of each single byte", string(r))
		}
	}
	return s, ids, nil
}

// listed is a token of the file.
type listed struct {
	name string
	id   uint32
}

// names lists the tokens by their ids.
func (m model) names() []listed {
	all := make([]listed, 0, len(m.Vocab))
	for name, id := range m.Vocab {
		all = append(all, listed{name, id})
	}
	slices.SortFunc(all, func(a, b listed) int { return cmp.Or(cmp.Compare(a.id, b.id), cmp.Compare(a.name, b.name)) })
	return all
}

// merges looks up the ids of the listed merges, which must be in the order of what they
// make.
func (m model) merges(ids map[string]uint32) ([]merge, error) {
	pairs, err := m.halves()
	if err != nil {
		return nil, err
	}
	merges, last := make([]merge, len(pairs)), uint32(0)
	for i, halves := range pairs {
		if len(halves) != 2 {
			return nil, fmt.Errorf("merge %d, %q: want two tokens", i, halves)
		}
		left, okLeft := ids[halves[0]]
		right, okRight := ids[halves[1]]
		merged, ok := ids[halves[0]+halves[1]]
		if !okLeft || !okRight || !ok {
			return nil, fmt.Errorf("merge %d, %q and %q: want tokens of the vocabulary that make one", i, halves[0], halves[1])
		}
		if merged < last {
			return nil, fmt.Errorf("merge %d, %q and %q, makes an earlier token than the merge before it: want ids in the order of merges", i, halves[0], halves[1])
		}
		merges[i], last = merge{left, right, merged}, merged
	}
	return merges, nil
}

// byteOfRune is the byte-level alphabet of GPT-2: the visible characters of Latin-1
// stand for themselves, and U+0100 and up for the other bytes in order.
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

// maxToken is the length of the longest token that is accepted, in bytes.
const maxToken = 1<<12 - 1

// decode is the bytes of a token.
func decode(name string, alphabet map[rune]byte) ([]byte, error) {
	var text []byte
	for _, r := range name {
		b, ok := alphabet[r]
		if !ok {
			return nil, fmt.Errorf("token %q: %q is not of the byte-level alphabet", name, r)
		}
		text = append(text, b)
	}
	if len(text) == 0 || len(text) > maxToken {
		return nil, fmt.Errorf("token %.40q has %d bytes: want 1 to %d", name, len(text), maxToken)
	}
	return text, nil
}
