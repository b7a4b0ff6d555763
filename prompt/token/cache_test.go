package token

import (
	"math/rand/v2"
	"slices"
	"testing"
	"unicode/utf8"
)

// Inside the package: from outside a piece that a cache mistakes for another could only be
// met by chance.
func TestCacheTellsPiecesApart(t *testing.T) {
	c := new(cache)
	random := rand.New(rand.NewPCG(1, 2))
	counts, pieces := map[string]int{}, [][]byte{}
	for range 200_000 {
		text := make([]byte, 20)
		for i := range text {
			text[i] = "\x00\x01ab"[random.IntN(4)] // zeros are what shorter pieces are padded with
		}
		at := random.IntN(6)
		end := at + 1 + random.IntN(maxCached)
		piece := text[at:end]
		want, known := counts[string(piece)]
		if !known {
			want = 1 + random.IntN(maxCached)
			counts[string(piece)] = want
			pieces = append(pieces, slices.Clone(piece))
		}
		key := cacheKey(text, at, end)
		row := c.row(key)
		switch got := row.count(key); got {
		case 0:
			row.put(key, want)
		case want:
		default:
			t.Fatalf("%q has count %d in the cache: want %d", piece, got, want)
		}
	}
	if key := cacheKey(pieces[0], 0, len(pieces[0])); key != cacheKey(append(pieces[0], "and more than sixteen bytes"...), 0, len(pieces[0])) {
		t.Errorf("the key of %q depends on what follows it", pieces[0])
	}
}

// A row keeps the piece that is found again, and replaces the one that is not.
func TestCacheKeepsWhatIsFrequent(t *testing.T) {
	var r row
	frequent := cacheKey([]byte("the"), 0, 3)
	r.put(frequent, 1)
	for range len(r) {
		r.count(frequent)
	}
	for i := range 100 {
		r.put(cacheKey([]byte{byte(i), 'x'}, 0, 2), 2)
	}
	if got := r.count(frequent); got != 1 {
		t.Errorf("count %d of a frequent piece: want 1, after a hundred rare ones", got)
	}
}

func TestRepeatedPiecesAreInTheCache(t *testing.T) {
	v, _, err := load("o200k_base", 0)
	if err != nil {
		t.Fatal(err)
	}
	s := new(scratch)
	for _, text := range []string{" memory", "中文", "0x7fffabcd"} {
		want := v.piece([]byte(text), 0, len(text), s)
		key := cacheKey([]byte(text), 0, len(text))
		if got := s.cache.row(key).count(key); got != want {
			t.Errorf("%q: count %d in the cache, want %d", text, got, want)
		}
	}
}

// No merge may cross a place that is cut: characters side by side in a token are joined.
func TestCharactersOfATokenAreJoined(t *testing.T) {
	for _, name := range []string{"cl100k_base", "o200k_base", "p50k_base", "qwen2.5"} {
		v, _, err := load(name, 0)
		if err != nil {
			t.Fatal(err)
		}
		wrong, pairs := 0, 0
		for _, token := range spelled(t, name) {
			for len(token) > 0 && !utf8.RuneStart(token[0]) {
				token = token[1:] // a part of a character at its start
			}
			for i := 3; i+3 <= len(token); i++ {
				if isWide(token[i]) && isWide(token[i-3]) {
					if pairs++; !v.joins().across(token, i) {
						wrong++
						t.Logf("%s: %q may be cut at %d", name, token, i)
					}
				}
			}
		}
		if wrong > 0 || pairs == 0 {
			t.Errorf("%s: %d of %d places inside tokens may be cut", name, wrong, pairs)
		}
	}
}

// Pieces are counted with and without cuts.
func TestCutsDoNotChangeCounts(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for _, name := range []string{"cl100k_base", "o200k_base", "p50k_base", "qwen2.5"} {
		v, _, err := load(name, 0)
		if err != nil {
			t.Fatal(err)
		}
		tokens := slices.DeleteFunc(spelled(t, name), func(token []byte) bool { return !isWide(token[0]) && !isTail(token[0]) })
		s, cuts := new(scratch), 0
		for range 20_000 {
			var text []byte
			for range 3 + random.IntN(10) {
				text = append(text, tokens[random.IntN(len(tokens))]...)
			}
			text = []byte(string([]rune(string(text)))) // half characters may meet; others become U+FFFD
			if v.cut(text, 0, len(text)) < len(text) {
				cuts++
			}
			if got, want := v.long(text, 0, len(text), s), s.many.count(v, text); got != want {
				t.Fatalf("%s: %q has %d tokens, want %d", name, text, got, want)
			}
		}
		if cuts < 1000 {
			t.Errorf("%s: %d texts were cut, want most", name, cuts)
		}
	}
}

// spelled lists the tokens of a vocabulary.
func spelled(t *testing.T, name string) (tokens [][]byte) {
	t.Helper()
	p, err := open(name)
	if err != nil {
		t.Fatal(err)
	}
	for id := range p.n {
		m, isByte := p.merge(id)
		if isByte {
			tokens = append(tokens, []byte{byte(m.left)})
		} else {
			tokens = append(tokens, slices.Concat(tokens[m.left], tokens[m.right]))
		}
	}
	return tokens
}
