package dataset_test

import (
	"encoding/json"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/poimen-memory/mem/harness/corpus"
	"github.com/poimen-memory/mem/harness/corpus/corpustest"
	"github.com/poimen-memory/mem/harness/dataset"
	"github.com/poimen-memory/mem/harness/diag"
	"github.com/poimen-memory/mem/prompt/token"
)

const dev50 = "../../experiments/corpora/hotpotqa-dev-50.json"

// The same two samples in both published shapes. "Ann" is in both of them, word for word.
const (
	asPairs = `[
 {"_id": "s1", "question": "Who?", "answer": "Ann",
  "supporting_facts": [["Bob", 1], ["Ann", 0]],
  "context": [["Ann", ["Ann is. ", "She was."]], ["Bob", ["Bob.", " He met Änn.", ""]]]},
 {"_id": "s2", "question": "Where?", "answer": "here", "level": "hard",
  "supporting_facts": [["Cy", 0], ["Cy", 0], ["Dee", 0], ["Cy", 7], ["Cy", 1]],
  "context": [["Cy", ["Cy.", ""]], ["Ann", ["Ann is. ", "She was."]], ["Cy", ["Another."]]]}
]`
	asColumns = `[
 {"_id": "s1", "question": "Who?", "answer": "Ann",
  "supporting_facts": {"title": ["Bob", "Ann"], "sent_id": [1, 0]},
  "context": {"title": ["Ann", "Bob"], "sentences": [["Ann is. ", "She was."], ["Bob.", " He met Änn.", ""]]}},
 {"_id": "s2", "question": "Where?", "answer": "here", "level": "hard",
  "supporting_facts": {"title": ["Cy", "Cy", "Dee", "Cy", "Cy"], "sent_id": [0, 0, 0, 7, 1]},
  "context": {"title": ["Cy", "Ann", "Cy"], "sentences": [["Cy.", ""], ["Ann is. ", "She was."], ["Another."]]}}
]`
)

func hotpot(t *testing.T, content string, join bool, queries ...corpus.Query) ([]*corpus.Session, error) {
	t.Helper()
	return corpus.Load(t.Context(), corpus.Config{ID: "h", Path: corpustest.WriteFile(t, "h.json", content), Reader: dataset.Reader{Format: "hotpotqa", Join: join},
		Pack: corpus.Pack{Records: 1}, Prompts: corpustest.Builder(t, corpustest.BytesCounter{}), Queries: queries})
}

func mustHotpot(t *testing.T, content string, join bool, queries ...corpus.Query) []*corpus.Session {
	t.Helper()
	sessions, err := hotpot(t, content, join, queries...)
	if err != nil {
		t.Fatal(err)
	}
	return sessions
}

// evidence is what a session's queries have, by their ids.
func evidence(s *corpus.Session) map[string][]corpus.Evidence {
	found := map[string][]corpus.Evidence{}
	for _, a := range s.Queries() {
		found[a.ID] = a.Evidence
	}
	return found
}

func TestHotpotQA(t *testing.T) {
	lines := strings.NewReplacer("\n", "", "[\n", "", "\n]", "").Replace(asPairs)
	for name, content := range map[string]string{
		"pairs": asPairs, "columns": asColumns, "byte order mark": "\ufeff\n " + asColumns + "\n",
		"one a line": strings.Replace(lines[1:len(lines)-1], "}, {", "}\n {", 1),
	} {
		t.Run(name, func(t *testing.T) {
			sessions := mustHotpot(t, content, false, corpus.Query{ID: "asked", Labels: []corpus.Label{{ID: "Cy#2"}}})
			if len(sessions) != 2 || sessions[0].Name() != "h/s1" || sessions[1].Name() != "h/s2" {
				t.Fatalf("sessions %v, want h/s1 and h/s2", sessions)
			}
			if diff := cmp.Diff([]string{"[tool] Ann\nAnn is. She was.", "[tool] Bob\nBob. He met Änn."}, corpustest.Renderings(t, sessions[0])); diff != "" {
				t.Error(diff)
			}
			first, second := evidence(sessions[0]), evidence(sessions[1])
			if diff := cmp.Diff(map[string][]corpus.Evidence{"asked": nil, "s1": {{Chunk: 1, Excerpt: "Ann is. "}, {Chunk: 2, Excerpt: " He met Änn."}}}, first); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(map[string][]corpus.Evidence{"asked": {{Chunk: 3, Excerpt: "Cy\nAnother."}}, "s2": {{Chunk: 1, Excerpt: "Cy."}}}, second); diff != "" {
				t.Error(diff)
			}
			own := sessions[0].Queries()[1]
			if diff := cmp.Diff(corpus.Query{ID: "s1", Text: "Who?", Answers: []string{"Ann"}}, own.Query); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestHotpotQAWarnings(t *testing.T) {
	sessions := mustHotpot(t, asColumns, false)
	var got []string
	for _, w := range sessions[1].Warnings() {
		got = append(got, w[strings.LastIndex(w, "h.json"):])
	}
	want := []string{
		`h.json:5:2: supporting fact "Dee", sentence 0: no paragraph has this title`,
		`h.json:5:2: supporting fact "Cy", sentence 7: the paragraph has 2 sentences, counted from 0`,
		`h.json:5:2: supporting fact "Cy", sentence 1: the sentence is empty`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if w := sessions[0].Warnings(); len(w) != 0 {
		t.Errorf("warnings of another sample: %v", w)
	}
	if w := mustHotpot(t, asColumns, true)[0].Warnings(); len(w) != 3 {
		t.Errorf("joined: warnings %v, want all three", w)
	}
}

// Joined, a query's evidence is its own paragraphs and the same ones of other samples, the
// earlier too; ids get the sample's name.
func TestHotpotQAJoin(t *testing.T) {
	sessions := mustHotpot(t, asPairs, true,
		corpus.Query{ID: "second", Labels: []corpus.Label{{ID: "s2/Ann"}}}, corpus.Query{ID: "bare", Labels: []corpus.Label{{ID: "Ann"}}})
	if len(sessions) != 1 || sessions[0].Name() != "h" || sessions[0].Len() != 5 {
		t.Fatalf("%d sessions, the first %q of %d chunks; want one, h of 5", len(sessions), sessions[0].Name(), sessions[0].Len())
	}
	want := map[string][]corpus.Evidence{
		"second": {{Chunk: 4, Excerpt: "Ann\nAnn is. She was."}},
		"bare":   nil,
		"s1":     {{Chunk: 1, Excerpt: "Ann is. "}, {Chunk: 2, Excerpt: " He met Änn."}, {Chunk: 4, Excerpt: "Ann is. "}},
		"s2":     {{Chunk: 3, Excerpt: "Cy."}},
	}
	if diff := cmp.Diff(want, evidence(sessions[0])); diff != "" {
		t.Error(diff)
	}
	// The other order: the gold of s1 comes before s1 is read.
	var samples []json.RawMessage
	if err := json.Unmarshal([]byte(asPairs), &samples); err != nil {
		t.Fatal(err)
	}
	slices.Reverse(samples)
	turned, err := json.Marshal(samples)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]corpus.Evidence{{Chunk: 2, Excerpt: "Ann is. "}, {Chunk: 4, Excerpt: "Ann is. "}, {Chunk: 5, Excerpt: " He met Änn."}}, evidence(mustHotpot(t, string(turned), true)[0])["s1"]); diff != "" {
		t.Error(diff)
	}
}

// What is kept in memory is of all sessions together.
func TestHotpotQAKeepsSome(t *testing.T) {
	sample := `{"question":"Q","answer":"A","context":[["T",["` + strings.Repeat("x", 900) + `"]]],"supporting_facts":[["T",0]]}`
	path := corpustest.WriteFile(t, "h.json", "["+sample+",\n"+sample+",\n"+sample+"]")
	sessions, err := corpus.Load(t.Context(), corpus.Config{ID: "h", Path: path, Reader: dataset.Reader{Format: "hotpotqa"},
		Pack: corpus.Pack{Records: 1}, Prompts: corpustest.Builder(t, corpustest.BytesCounter{}), Keep: 2000})
	if err != nil {
		t.Fatal(err)
	}
	if corpustest.Chunks(t, sessions[2]); os.Remove(path) != nil {
		t.Fatal("the file cannot be removed")
	}
	for i, s := range sessions {
		for _, err := range s.Chunks() {
			if kept := err == nil; kept != (i < 2) {
				t.Errorf("%s is kept: %v (%v)", s.Name(), kept, err)
			}
		}
	}
}

// The committed data, read once more by other means.
func TestHotpotQARealData(t *testing.T) {
	data, err := os.ReadFile(dev50)
	if err != nil {
		t.Fatal(err)
	}
	var samples []struct {
		Question, Answer string
		Facts            struct {
			Title  []string
			SentID []int `json:"sent_id"`
		} `json:"supporting_facts"`
		Context struct {
			Title     []string
			Sentences [][]string
		}
	}
	if err := json.Unmarshal(data, &samples); err != nil {
		t.Fatal(err)
	}
	counter, err := token.New("o200k_base")
	if err != nil {
		t.Fatal(err)
	}
	cfg := corpus.Config{ID: "hotpot", Path: dev50, Reader: dataset.Reader{Format: "hotpotqa"}, Pack: corpus.Pack{Records: 1}, Prompts: corpustest.Builder(t, counter)}
	sessions, err := corpus.Load(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	if len(sessions) != 50 || sessions[6].Name() != "hotpot/07" || sessions[6].Queries()[0].ID != "07" {
		t.Fatalf("%d sessions, the seventh %q", len(sessions), sessions[6].Name())
	}
	for i, s := range sessions {
		sample, q := samples[i], s.Queries()[0]
		if q.Text != sample.Question || q.Answers[0] != sample.Answer || len(s.Warnings()) > 0 || s.Len() != len(sample.Context.Title) {
			t.Errorf("%s: %d chunks, warnings %v, query %+v", s.Name(), s.Len(), s.Warnings(), q)
		}
		gold := map[int][]string{} // sentences by chunk, in the order of the text
		for p, title := range sample.Context.Title {
			for n, sentence := range sample.Context.Sentences[p] {
				for f := range sample.Facts.Title {
					if sample.Facts.Title[f] == title && sample.Facts.SentID[f] == n {
						gold[p+1] = append(gold[p+1], sentence)
					}
				}
			}
		}
		got := map[int][]string{}
		for _, e := range q.Evidence {
			got[e.Chunk] = []string{e.Excerpt}
		}
		for chunk := range gold {
			gold[chunk] = []string{strings.Join(gold[chunk], "\n")}
		}
		if diff := cmp.Diff(gold, got); diff != "" {
			t.Errorf("%s: %s", s.Name(), diff)
		}
	}
	cfg.Reader, cfg.Pack = dataset.Reader{Format: "hotpotqa", Join: true}, corpus.Pack{Tokens: 4800}
	joined, err := corpus.Load(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	for _, q := range joined[0].Queries() {
		if len(q.Evidence) == 0 {
			t.Errorf("query %s has no evidence when joined", q.ID)
		}
	}
	sizes := slices.Sorted(slices.Values(joined[0].ChunkTokens()))
	if len(joined[0].Queries()) != 50 || sizes[len(sizes)-1] > 4800 || sizes[1] < 4500 {
		t.Errorf("%d queries, chunks of %v tokens: want 50, and all but the last near 4800", len(joined[0].Queries()), sizes)
	}
}

func TestHotpotQAErrors(t *testing.T) {
	sample := func(replace, by string) string {
		return "[\n" + strings.Replace(`{"question":"Q","answer":"A","context":[["T",["S"]]],"supporting_facts":[["T",0]]}`, replace, by, 1) + "\n]"
	}
	all := "want question, answer, context, supporting_facts"
	for _, c := range []struct{ name, content, want string }{
		{"empty file", " \n", "h.json: is empty: want a list of samples"},
		{"empty list", "\n [ ]", "2:2: the list is empty: want samples"},
		{"number", "7", "1:1: [0]: found a number, want an object with question, answer, context, supporting_facts"},
		{"null", "[null]", "1:2: [0]: found null, want an object with question, answer, context, supporting_facts"},
		{"wrapped", `{"data":[]}`, "1:1: [0]: question is missing: " + all + "\n1:1: [0]: answer is missing: " + all +
			"\n1:1: [0]: context is missing: " + all + "\n1:1: [0]: supporting_facts is missing: " + all},
		{"answer a number", sample(`"A"`, "7"), "2:26: [0].answer: found a number, want a string"},
		{"question null", sample(`"Q"`, "null"), "2:13: [0].question: found null, want a string"},
		{"context null", sample(`[["T",["S"]]]`, "null"), "2:40: [0].context: found null, want a list"},
		{"no paragraphs", sample(`[["T",["S"]]]`, "[]"), "2:40: [0].context: has no paragraphs"},
		{"sentence null", sample(`"S"`, "null"), "2:47: [0].context: found null, want a string"},
		{"a paragraph of three", sample(`["S"]`, `["S"],1`), "2:41: [0].context: found a list of 3, want a pair of title and sentences"},
		{"columns of two lengths", sample(`[["T",["S"]]]`, `{"title":["T","U"],"sentences":[["S"]]}`),
			"2:40: [0].context: found 2 in title and 1 in sentences, want as many"},
		{"a column missing", sample(`[["T",0]]`, `{"title":["T"]}`), "2:73: [0].supporting_facts: sent_id is missing: want title, sent_id"},
		{"half a sentence number", sample(`["T",0]`, `["T",0.5]`), "2:79: [0].supporting_facts: found 0.5, want a whole number"},
		{"id that names no folder", sample(`{`, `{"_id":"../x",`), `2:8: [0]._id: found "../x", want a name of letters, digits, . _ and -`},
		{"invalid UTF-8", sample("Q", "ü\xff"), "2:15: [0]: 0xff is not UTF-8: want the whole file in UTF-8"},
		{"half a pair", sample("Q", `\ud800`), `2:14: [0]: \ud800 is half of a surrogate pair, which is no character`},
		{"cut short", strings.TrimSuffix(sample("", ""), "\"supporting_facts\":[[\"T\",0]]}\n]"), "2:1: the file ends within the list, in or before element 1: it is cut short"},
		{"cut short between", strings.TrimSuffix(sample("", ""), "\n]"), "2:83: the file ends within the list, in or before element 2: it is cut short"},
		{"not JSON", sample(`"answer":"A"`, "\n  answer"), "3:3: element 1 is not JSON: invalid character 'a' looking for beginning of object key string"},
		{"no comma", strings.TrimSuffix(sample("", ""), "]") + " {}]", "3:2: element 2 is not JSON: expected comma after array element"},
		{"something after the list", sample("", "") + "\n{}", "4:1: something follows the end of the list"},
		{"two faults in two samples", "[" + `{"_id":"b c","question":"","answer":1,"context":[["",[]]],"supporting_facts":[]},` + "\n[]]",
			"1:9: [0]._id: found \"b c\", want a name of letters, digits, . _ and -\n1:38: [0].answer: found a number, want a string\n" +
				"2:1: [1]: found a list, want an object with question, answer, context, supporting_facts"},
		{"an id twice", strings.ReplaceAll(asPairs, "s2", "s1"), `5:2: _id: the sample's name "s1" is taken by the sample on line 2`},
		{"too long", "[" + `"` + strings.Repeat("x", 17<<20) + `"]`, "1:2: element 1: an element is over 16 MiB, the longest that is read"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := hotpot(t, c.content, false)
			var es diag.Errors
			if !errors.As(err, &es) {
				t.Fatalf("got %v, want a diag.Errors", err)
			}
			if diff := cmp.Diff(c.want, corpustest.Short(es)); diff != "" {
				t.Error(diff)
			}
		})
	}
	if _, err := hotpot(t, asPairs, false, corpus.Query{ID: "s2"}); err == nil ||
		!strings.HasSuffix(err.Error(), `h.json:5:2: _id: the sample's name "s2" is taken by the query of that id in the spec`) {
		t.Errorf("a query of the spec named like a sample: %v", err)
	}
}
