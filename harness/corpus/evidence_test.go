package corpus_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/poimen-memory/mem/harness/corpus"
	"github.com/poimen-memory/mem/harness/corpus/corpustest"
)

// asked packs records by bytes and asks one query with the labels.
func asked(t *testing.T, limit int, labels []corpus.Label, records ...corpustest.Record) corpus.Asked {
	t.Helper()
	cfg := tokens(limit)
	cfg.Queries = []corpus.Query{{ID: "other"}, {ID: "q", Labels: labels}}
	s := load(t, cfg, records...)
	if other := s.Queries()[0]; len(other.Evidence) > 0 {
		t.Errorf("a query without labels has evidence %v", other.Evidence)
	}
	return s.Queries()[1]
}

func TestEvidence(t *testing.T) {
	// One record of 20 bytes; "[a] " leaves a limit of 14 ten of them: two pieces.
	cut := []corpustest.Record{{Role: "a", Text: "0123456789abcdefghij", ID: "r1"}}
	three := []corpustest.Record{{Role: "a", Text: "port 6380", ID: "r1"}, {Role: "b", Text: "no"}, {Role: "a", Text: "port 6379", ID: "r3"}}
	for _, c := range []struct {
		name    string
		limit   int
		label   corpus.Label
		records []corpustest.Record
		want    []corpus.Evidence
		hits    int
	}{
		{"a text", 14, corpus.Label{Match: "6380"}, three, []corpus.Evidence{{1, "6380"}}, 1},
		{"a whole record", 14, corpus.Label{ID: "r3"}, three, []corpus.Evidence{{3, "port 6379"}}, 1},
		{"a text that two records hold", 14, corpus.Label{Match: "port"}, three, []corpus.Evidence{{1, "port"}, {3, "port"}}, 2},
		{"two places of one chunk", 99, corpus.Label{Match: "port"}, three, []corpus.Evidence{{1, "port\nport"}}, 2},
		{"a text of one record only", 14, corpus.Label{ID: "r3", Match: "port"}, three, []corpus.Evidence{{3, "port"}}, 1},
		{"places that overlap", 99, corpus.Label{Match: "aa"}, []corpustest.Record{{Role: "a", Text: "-aaaa-"}}, []corpus.Evidence{{1, "aaaa"}}, 3},
		{"a label across the border marks both", 14, corpus.Label{Match: "89ab"}, cut, []corpus.Evidence{{1, "89"}, {2, "ab"}}, 1},
		{"a label that ends at the border marks the first", 14, corpus.Label{Match: "789"}, cut, []corpus.Evidence{{1, "789"}}, 1},
		{"a label that starts at the border marks the second", 14, corpus.Label{Match: "abc"}, cut, []corpus.Evidence{{2, "abc"}}, 1},
		{"a whole record that is cut marks all", 14, corpus.Label{ID: "r1"}, cut, []corpus.Evidence{{1, "0123456789"}, {2, "abcdefghij"}}, 1},
		{"the record of a label is not its whole chunk", 99, corpus.Label{ID: "r1"}, three, []corpus.Evidence{{1, "port 6380"}}, 1},
		{"a record without text", 14, corpus.Label{ID: "r"}, []corpustest.Record{{Role: "a", Text: "1234567890"}, {Role: "a", ID: "r"}}, []corpus.Evidence{{2, ""}}, 1},
		{"bytes, not characters", 8, corpus.Label{Match: "ü"}, []corpustest.Record{{Role: "a", Text: "äöüß"}}, []corpus.Evidence{{2, "ü"}}, 1},
		{"an id that does not exist", 14, corpus.Label{ID: "r2"}, three, nil, 0},
		{"a text across two records", 99, corpus.Label{Match: "6380\n\n[b] no"}, three, nil, 0},
		{"a text of the label", 99, corpus.Label{Match: "[a] port"}, three, nil, 0},
		{"a text in another case", 99, corpus.Label{Match: "Port"}, three, nil, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := asked(t, c.limit, []corpus.Label{c.label}, c.records...)
			if diff := cmp.Diff(c.want, got.Evidence); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff([]int{c.hits}, got.Hits); diff != "" {
				t.Error("hits:", diff)
			}
			last := 0
			if n := len(c.want); n > 0 {
				last = c.want[n-1].Chunk
			}
			if got.Last() != last {
				t.Errorf("t* is %d, want %d", got.Last(), last)
			}
		})
	}
}

// Labels that overlap say what they cover once; labels that only touch are two places.
func TestEvidenceOfSeveralLabels(t *testing.T) {
	records := []corpustest.Record{{Role: "a", Text: "one two three four", ID: "r"}}
	for _, c := range []struct {
		labels []corpus.Label
		want   string
	}{
		{[]corpus.Label{{Match: "two three"}, {Match: "one two"}}, "one two three"},
		{[]corpus.Label{{Match: "four"}, {ID: "r"}}, "one two three four"},
		{[]corpus.Label{{Match: "three"}, {Match: "one"}}, "one\nthree"},
		{[]corpus.Label{{Match: "two "}, {Match: "one "}}, "one \ntwo "},
	} {
		got := asked(t, 99, c.labels, records...)
		if diff := cmp.Diff([]corpus.Evidence{{1, c.want}}, got.Evidence); diff != "" {
			t.Errorf("%v: %s", c.labels, diff)
		}
		if diff := cmp.Diff([]int{1, 1}, got.Hits); diff != "" {
			t.Errorf("%v: hits %s", c.labels, diff)
		}
	}
}

// Records packed by number are not cut, so a chunk shows all of its labels.
func TestEvidencePackedByRecords(t *testing.T) {
	cfg := corpus.Config{Pack: corpus.Pack{Records: 1}, Queries: []corpus.Query{{ID: "q", Labels: []corpus.Label{{Match: "needle"}}}}}
	long := strings.Repeat("hay ", 4000)
	s := load(t, cfg, corpustest.Record{Role: "a", Text: long}, corpustest.Record{Role: "a", Text: long + "needle" + long})
	if diff := cmp.Diff([]corpus.Evidence{{2, "needle"}}, s.Queries()[0].Evidence); diff != "" {
		t.Error(diff)
	}
}
