package main

import (
	"bytes"
	"os"
	"slices"
	"testing"

	"github.com/klauspost/compress/zstd"
)

// Inside the package, which is a command.
func TestCommittedVocabulariesAreThoseOfTheirSource(t *testing.T) {
	for _, name := range []string{"cl100k_base", "o200k_base", "p50k_base"} {
		v, err := tiktoken(name)
		if err != nil {
			t.Fatal(err)
		}
		want, err := v.pack()
		if err != nil {
			t.Fatal(err)
		}
		if got := unzip(t, "../data/"+name+".vocab.zst"); !bytes.Equal(got, want) {
			t.Errorf("%s: the committed file is not what its source packs to; run go generate", name)
		}
	}
}

func unzip(t *testing.T, path string) []byte {
	t.Helper()
	packed, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	d, err := zstd.NewReader(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	plain, err := d.DecodeAll(packed, nil)
	if err != nil {
		t.Fatal(err)
	}
	return plain
}

// Package token counts r50k_base with the first 50,256 tokens of p50k_base.
func TestTheOlderVocabularyIsTheStartOfTheNewer(t *testing.T) {
	older, err := tiktoken("r50k_base")
	if err != nil {
		t.Fatal(err)
	}
	newer, err := tiktoken("p50k_base")
	if err != nil {
		t.Fatal(err)
	}
	if len(older.tokens) != 50256 || !slices.Equal(older.tokens, newer.tokens[:50256]) {
		t.Errorf("r50k_base has %d tokens: want the first 50256 of p50k_base", len(older.tokens))
	}
}

func TestTheLastMergeIsTheOneThatMakesAToken(t *testing.T) {
	ids := map[string]int{"a": 0, "b": 1, "c": 2, "bc": 3, "ab": 4, "abc": 5}
	if last, ok := lastMerge("abc", ids); !ok || last != (pair{0, 3}) {
		t.Errorf("abc is merged from %v (%v), want a and bc, whose merge comes before ab", last, ok)
	}
	if last, ok := lastMerge("cb", ids); ok {
		t.Errorf("cb is merged from %v, want no merge", last)
	}
}

func TestVocabulariesThatCannotBePacked(t *testing.T) {
	all := make([]string, 256)
	for b := range all {
		all[b] = string([]byte{byte(b)})
	}
	for name, tokens := range map[string][]string{
		"a byte is missing":      all[1:],
		"no merge makes a token": append(all[:256:256], "abc"),
		"a half comes later":     append(all[:256:256], "abcd", "ab", "cd"),
	} {
		if _, err := (vocabulary{tokens: tokens}).pack(); err == nil {
			t.Errorf("%s: packed without an error", name)
		}
	}
}
