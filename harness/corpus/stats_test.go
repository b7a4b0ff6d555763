package corpus_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/poimen-memory/mem/harness/corpus"
	"github.com/poimen-memory/mem/harness/corpus/corpustest"
	"github.com/poimen-memory/mem/harness/dist"
)

// Each record is a chunk of 14 bytes, but for the last one of 5.
func described(t *testing.T) *corpus.Session {
	t.Helper()
	cfg := tokens(14)
	cfg.Queries = []corpus.Query{{ID: "q", Labels: []corpus.Label{{ID: "r1"}, {ID: "r3"}}}, {ID: "none"}}
	ten := strings.Repeat("x", 10)
	return load(t, cfg, corpustest.Record{Role: "a", Text: ten, ID: "r1"}, corpustest.Record{Role: "b", Text: ten},
		corpustest.Record{Role: "a", Text: ten}, corpustest.Record{Role: "a", Text: "y", ID: "r3"})
}

func TestDescribe(t *testing.T) {
	got := corpus.Describe([]*corpus.Session{described(t)})
	depths := make([]dist.Bin, 10)
	for i := range depths {
		depths[i] = dist.Bin{From: 10 * i, To: 10*i + 10}
	}
	depths[0].Count, depths[7].Count = 1, 1 // chunks 1 and 4 of 4
	want := corpus.Stats{
		Sessions: []corpus.SessionStats{{Name: "c", Records: 4, Chunks: 4, Tokens: 47, P50: 14, P95: 14, P99: 14, MaxTokens: 14, Queries: 2, Labelled: 1}},
		Roles:    map[string]int{"a": 3, "b": 1},
		Sizes:    []dist.Bin{{From: 5, To: 5, Count: 1}, {From: 6, To: 6}, {From: 7, To: 7}, {From: 8, To: 8}, {From: 9, To: 9}, {From: 10, To: 10}, {From: 11, To: 11}, {From: 12, To: 12}, {From: 13, To: 13}, {From: 14, To: 14, Count: 3}},
		Depths:   depths,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if got := corpus.Describe(nil); got.Sizes != nil || got.Depths != nil {
		t.Errorf("no sessions: %+v", got)
	}
}

func TestChunkByNumber(t *testing.T) {
	s := described(t)
	if c, err := s.Chunk(4); err != nil || c.Sent != "[a] y" {
		t.Errorf("chunk 4 is %q, %v", c.Sent, err)
	}
	if _, err := s.Chunk(5); err == nil || err.Error() != "session c: found chunk 5, want 1 to 4" {
		t.Errorf("chunk 5: %v", err)
	}
	if n, err := s.CountTokens(corpustest.FourthCounter{}); n != 3*3+1 || err != nil {
		t.Errorf("%d tokens, %v, want 10", n, err)
	}
}
