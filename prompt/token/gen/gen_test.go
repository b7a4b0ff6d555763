package main

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"testing"
)

// Inside the package, which is a command.
func TestCommittedVocabulariesAreThoseOfTheirSource(t *testing.T) {
	for _, name := range []string{"cl100k_base", "o200k_base"} {
		v, err := tiktoken(name)
		if err != nil {
			t.Fatal(err)
		}
		want, err := v.pack()
		if err != nil {
			t.Fatal(err)
		}
		if got := unzip(t, "../data/"+name+".vocab.gz"); !bytes.Equal(got, want) {
			t.Errorf("%s: the committed file is not what its source packs to; run go generate", name)
		}
	}
}

func unzip(t *testing.T, path string) []byte {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	zip, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	plain, err := io.ReadAll(zip)
	if err != nil {
		t.Fatal(err)
	}
	return plain
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
