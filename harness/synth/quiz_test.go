package synth_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/poimen-memory/mem/harness/corpus"
	"github.com/poimen-memory/mem/harness/corpus/corpustest"
	"github.com/poimen-memory/mem/harness/dataset"
	"github.com/poimen-memory/mem/harness/diag"
	"github.com/poimen-memory/mem/harness/synth"
)

// squad is a data set of so many articles with a paragraph and a question each, all of them
// as long.
func squad(articles int) string {
	var list []string
	for i := range articles {
		list = append(list, fmt.Sprintf(`{"title": "T%04d", "paragraphs": [{"context": "The number of this town is %04d, and there is nothing more to say of it.",
 "qas": [{"id": "q%04d", "question": "Which number has town %04d?", "answers": [{"text": "%04d", "answer_start": 27}]}]}]}`, i, i, i, i, i))
	}
	return `{"data": [` + strings.Join(list, ",\n") + "]}"
}

// hops is a hotpotqa data set of so many questions with two gold paragraphs and a third one.
func hops(questions int) string {
	var list []string
	for i := range questions {
		list = append(list, fmt.Sprintf(`{"_id": "q%04d", "question": "Who %04d?", "answer": "she", "supporting_facts": [["A%04d", 0], ["B%04d", 0]],
 "context": [["A%04d", ["She is the first of them, and there is nothing more."]], ["B%04d", ["She is the other of them, and there is nothing more."]],
 ["C%04d", ["She is neither one of them, and there is nothing else."]]]}`, i, i, i, i, i, i, i))
	}
	return "[" + strings.Join(list, ",\n") + "]"
}

func sample(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile("../dataset/testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// qa is a Synth of a data set whose text is given.
func qa(t *testing.T, format, data string, tokens int) synth.Config {
	t.Helper()
	return synth.Config{Task: "qa", Lengths: []int{tokens}, From: synth.From{Format: format, Path: corpustest.WriteFile(t, "data.json", data)}}
}

// documents loads sessions of one document a chunk.
func documents(t *testing.T, s synth.Config) ([]*corpus.Session, error) {
	t.Helper()
	return corpus.Load(t.Context(), corpus.Config{ID: "qa", Reader: s, Pack: corpus.Pack{Records: 1}, Prompts: corpustest.Builder(t, corpustest.FourthCounter{})})
}

func mustDocuments(t *testing.T, s synth.Config) []*corpus.Session {
	t.Helper()
	sessions, err := documents(t, s)
	if err != nil {
		t.Fatal(err)
	}
	return sessions
}

// asJSONL is a Synth of what an import writes.
func asJSONL(t *testing.T, format, file string, tokens int) synth.Config {
	t.Helper()
	var records, labels bytes.Buffer
	im, err := dataset.Import(t.Context(), dataset.ImportConfig{
		Format: format, Paths: []string{"../dataset/testdata/" + file}, Counter: corpustest.BytesCounter{},
	}, &records)
	if err != nil {
		t.Fatal(err)
	}
	var list []corpus.Labelled
	for _, q := range im.Queries {
		list = append(list, corpus.Labelled{Query: q})
	}
	if err := corpus.WriteLabels(&labels, "labels", list); err != nil {
		t.Fatal(err)
	}
	s := qa(t, "jsonl", records.String(), tokens)
	s.From.Labels = corpustest.WriteFile(t, "data.labels.yaml", labels.String())
	return s
}

// inSession is all that is known of a question, whatever the places of documents.
type inSession struct {
	Answers, Evidence, Hard []string
}

func known(t *testing.T, s *corpus.Session) inSession {
	t.Helper()
	q, texts := s.Queries()[0], corpustest.Renderings(t, s)
	a := inSession{Answers: q.Answers}
	for _, e := range q.Evidence {
		if a.Evidence = append(a.Evidence, e.Excerpt); !strings.Contains(texts[e.Chunk-1], strings.SplitN(e.Excerpt, "\n", 2)[0]) {
			t.Errorf("chunk %d, %q, lacks its evidence %q", e.Chunk, texts[e.Chunk-1], e.Excerpt)
		}
	}
	for _, n := range q.Hard {
		a.Hard = append(a.Hard, strings.TrimPrefix(texts[n-1], "[tool] "))
	}
	slices.Sort(a.Evidence)
	slices.Sort(a.Hard)
	return a
}

// Evidence and answers are the data set's, in every format: sentences, of squad the
// paragraph. The documents that came with the question are hard negatives, as far as anybody
// knows which did. Questions without evidence are not asked.
func TestSynthQAEvidence(t *testing.T) {
	dee := `{"_id": "s3", "question": "Who?", "answer": "Ed", "supporting_facts": [["Dee", 1], ["Dee", 0], ["Gone", 0]],
  "context": [["Ann", ["Ann is.", " She was."]], ["Dee", ["Dee.", " Ed."]], ["Dee", ["Another Dee."]]]}]`
	for name, c := range map[string]struct {
		synth synth.Config
		want  map[string]inSession // by question
	}{
		"hotpotqa": {qa(t, "hotpotqa", strings.Replace(sample(t, "hotpotqa.json"), "}\n]", "},\n"+dee, 1), 30), map[string]inSession{
			"Who met Änn?": {[]string{"Bob"}, []string{" He met Änn.", "Ann is."}, nil},
			"Where?":       {[]string{"here"}, []string{"Cy was here."}, []string{"Ann\nAnn is. She was."}},
			"Who?":         {[]string{"Ed"}, []string{"Dee.\n Ed."}, []string{"Ann\nAnn is. She was."}},
		}},
		"squad": {qa(t, "squad", sample(t, "squad.json"), 43), map[string]inSession{
			"When does the café shut?": {[]string{"9", "at 9"}, []string{"Sky_(United_Kingdom)\nCafé hours: the café opens at 9 and shuts at 9."}, []string{"Sky_(United_Kingdom)\nNobody knows."}},
			"Who knows?":               {[]string{"Nobody", "nowhere"}, []string{"Sky_(United_Kingdom)\nNobody knows."}, []string{"Sky_(United_Kingdom)\nCafé hours: the café opens at 9 and shuts at 9."}},
			"When did it begin?":       {[]string{"October 1973"}, []string{"1973 oil crisis\nIt began in October 1973."}, nil},
		}},
		"musique": {qa(t, "musique", sample(t, "musique.jsonl"), 37), map[string]inSession{
			"Who is the spouse of the Green performer?": {[]string{"Miquette Giraudy", "Giraudy"},
				[]string{"Green\nGreen is an album by Steve Hillage.", "Steve Hillage\nHe was married to Miquette Giraudy."}, []string{"Blue\nBlue is not."}},
			"When?": {[]string{"1973"}, []string{"Oil\nIn 1973."}, nil},
		}},
		"jsonl": {asJSONL(t, "squad", "squad.json", 43), map[string]inSession{
			"When does the café shut?": {[]string{"9", "at 9"}, []string{"at 9"}, nil},
			"Who knows?":               {[]string{"Nobody", "nowhere"}, []string{"Nobody"}, nil},
			"When did it begin?":       {[]string{"October 1973"}, []string{"October 1973"}, nil},
		}},
	} {
		t.Run(name, func(t *testing.T) {
			c.synth.Samples = len(c.want)
			got := map[string]inSession{}
			for _, s := range mustDocuments(t, c.synth) {
				got[s.Queries()[0].Text] = known(t, s)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
			c.synth.Samples++
			if _, err := documents(t, c.synth); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("samples: found %d, want at most %d: ", len(c.want)+1, len(c.want))) {
				t.Errorf("one sample more than questions with evidence: %v", err)
			}
		})
	}
}

// In a session, no text and no title comes twice, the question's gold and its own
// distractors are there, and no other document fits.
func TestSynthQADocuments(t *testing.T) {
	pool := map[string]bool{}
	own := map[string][]string{}
	for _, s := range mustHotpotFile(t, dev50) {
		for _, text := range corpustest.Renderings(t, s) {
			pool[text] = true
			own[s.Queries()[0].Text] = append(own[s.Queries()[0].Text], text)
		}
	}
	asked := map[string]bool{}
	for _, s := range mustDocuments(t, synth.Config{Task: "qa", Lengths: []int{8000}, Samples: 50, Seed: 3, From: from("qa")}) {
		titles, texts := map[string]bool{}, corpustest.Renderings(t, s)
		for _, text := range texts {
			title, _, _ := strings.Cut(text, "\n")
			if titles[title] || !pool[text] {
				t.Errorf("%s: %q comes twice, or is not of the data set", s.Name(), title)
			}
			titles[title] = true
		}
		q := s.Queries()[0]
		for _, text := range own[q.Text] {
			if !slices.Contains(texts, text) {
				t.Errorf("%s lacks the question's own %.40q", s.Name(), text)
			}
		}
		if len(q.Evidence)+len(q.Hard) != 10 || asked[q.Text] {
			t.Errorf("%s: %d gold and %d own documents; asked before: %v", s.Name(), len(q.Evidence), len(q.Hard), asked[q.Text])
		}
		asked[q.Text] = true
		if got := total(s.ChunkTokens()); got > 8000 || got < 7800 {
			t.Errorf("%s: %d tokens", s.Name(), got)
		}
	}
}

func mustHotpotFile(t *testing.T, path string) []*corpus.Session {
	t.Helper()
	sessions, err := corpus.Load(t.Context(), corpus.Config{ID: "h", Path: path, Reader: dataset.Reader{Format: "hotpotqa"}, Pack: corpus.Pack{Records: 1}, Prompts: corpustest.Builder(t, corpustest.FourthCounter{})})
	if err != nil {
		t.Fatal(err)
	}
	return sessions
}

// Each gold document of a question has a place of its own, all places as often, and neither
// of two comes first more often.
func TestSynthQAPlacesAreUniform(t *testing.T) {
	s := qa(t, "hotpotqa", hops(400), 450)
	s.Samples, s.Seed = 400, 2
	var count, distance []int
	first := make([]int, 2)
	for _, s := range mustDocuments(t, s) {
		if count == nil {
			count, distance = make([]int, s.Len()), make([]int, s.Len())
		}
		q := s.Queries()[0]
		if s.Len() != len(count) || len(q.Evidence) != 2 {
			t.Fatalf("%s: %d documents, %d gold, want %d and 2", s.Name(), s.Len(), len(q.Evidence), len(count))
		}
		a, b := q.Evidence[0], q.Evidence[1]
		count[a.Chunk-1]++
		count[b.Chunk-1]++
		distance[b.Chunk-a.Chunk]++
		if first[1]++; strings.Contains(a.Excerpt, "first") {
			first[0], first[1] = first[0]+1, first[1]-1
		}
	}
	// χ² with p = 0.999: of 25 degrees of freedom 52.6, of 1 10.8.
	if len(count) != 26 || chiSquare(count) > 52.6 || chiSquare(first) > 10.8 {
		t.Errorf("places %v, χ² %.1f; first %v", count, chiSquare(count), first)
	}
	if distance[1] == 0 || distance[1] > 100 || distance[len(count)-1] == 0 {
		t.Errorf("distances %v of two gold documents", distance)
	}
}

func TestSynthQADepth(t *testing.T) {
	s := qa(t, "hotpotqa", hops(40), 700)
	for depth, want := range map[string][2]float64{"0": {0, 5}, "50": {45, 55}, "100": {95, 100}} {
		s.Depth = depth
		one := mustDocuments(t, s)[0]
		for _, e := range one.Queries()[0].Evidence {
			if at := 100 * float64(e.Chunk-1) / float64(one.Len()-1); at < want[0] || at > want[1] {
				t.Errorf("depth %s: gold at %.1f %%", depth, at)
			}
		}
	}
	s.Depth, s.Samples = "grid", 40
	depths := map[float64]bool{}
	for _, s := range mustDocuments(t, s) {
		depths[s.Depth()] = true
		if e := s.Queries()[0].Evidence; len(e) != 2 {
			t.Errorf("%s: %d gold documents, want 2", s.Name(), len(e))
		}
	}
	if len(depths) < 10 {
		t.Errorf("a grid of depths %v", depths)
	}
}

// A sample asks the same at each length, so that lengths are compared on the same questions.
func TestSynthQALengthsAskTheSame(t *testing.T) {
	sessions := mustDocuments(t, synth.Config{Task: "qa", Lengths: []int{2048, 4096}, Samples: 5, From: from("qa")})
	for i := range 5 {
		short, long := sessions[i].Queries()[0], sessions[i+5].Queries()[0]
		if short.Text != long.Text || short.ID == long.ID {
			t.Errorf("sample %d: %q as %s, and %q as %s", i+1, short.Text, short.ID, long.Text, long.ID)
		}
	}
}

// A data set that is too small says how far it goes, and goes that far.
func TestSynthQATooFewDocuments(t *testing.T) {
	s := qa(t, "squad", squad(10), 1000)
	_, err := documents(t, s)
	found := regexp.MustCompile(`^synth: tokens: found 1000, want at most (\d+), all that the documents of .*data.json come to, each once`).FindStringSubmatch(fmt.Sprint(err))
	if found == nil {
		t.Fatal(err)
	}
	all, _ := strconv.Atoi(found[1])
	s.Lengths = []int{all}
	if got := mustDocuments(t, s)[0]; got.Records() != 10 {
		t.Errorf("%d tokens: %d documents, want 10", all, got.Records())
	}
	if s.Lengths[0]++; !refused(t, s) {
		t.Error("a token more than there is: taken")
	}
	if s.Lengths[0] -= 2; refused(t, s) || mustDocuments(t, s)[0].Records() != 9 {
		t.Error("a token less: want all documents but one")
	}
}

func refused(t *testing.T, s synth.Config) bool {
	t.Helper()
	_, err := documents(t, s)
	return err != nil
}

// A long document does not end a session in which others fit.
func TestSynthQALongDocument(t *testing.T) {
	long := strings.Replace(squad(200), "there is nothing more to say of it", strings.Repeat("so on, ", 600), 1)
	s := qa(t, "squad", long, 2000)
	for s.Seed = range int64(10) {
		if got := total(mustDocuments(t, s)[0].ChunkTokens()); got < 1850 {
			t.Errorf("seed %d: %d tokens, want all but what no paragraph of 22 fits", s.Seed, got)
		}
	}
}

// A compressed data set makes the same sessions, and one that changes none.
func TestSynthQAReadsAgain(t *testing.T) {
	data := squad(300)
	var zipped bytes.Buffer
	w := gzip.NewWriter(&zipped)
	w.Write([]byte(data))
	w.Close()
	load := func(data string) (*corpus.Session, string) {
		s := qa(t, "squad", data, 3000)
		sessions, err := corpus.Load(t.Context(), corpus.Config{ID: "qa", Reader: s, Pack: corpus.Pack{Tokens: 300}, Prompts: corpustest.Builder(t, corpustest.FourthCounter{}), Keep: -1})
		if err != nil {
			t.Fatal(err)
		}
		return sessions[0], s.From.Path
	}
	plain, path := load(data)
	packed, _ := load(zipped.String())
	if diff := cmp.Diff(corpustest.Renderings(t, plain), corpustest.Renderings(t, packed)); diff != "" {
		t.Error(diff)
	}
	if err := os.WriteFile(path, []byte(strings.ReplaceAll(data, "nothing more", "nothing else")), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, err := range plain.Chunks() {
		if err == nil || !strings.Contains(err.Error(), "changed while it was in use") {
			t.Errorf("a changed file: %v", err)
		}
		break
	}
}

// What is wrong with the data set or its labels is said at its place there.
func TestSynthQARefusesTheDataSet(t *testing.T) {
	labels := asJSONL(t, "squad", "squad.json", 40)
	labels.From.Labels = corpustest.WriteFile(t, "wrong.labels.yaml", "queries:\n  - {id: q, text: Which, evidence: [gone]}\n")
	for _, c := range []struct {
		synth synth.Config
		want  string
	}{
		{qa(t, "hotpotqa", `[{"question": 7}]`, 40), "data.json:1:2: [0]: answer is missing"},
		{labels, "wrong.labels.yaml:2:37: record gone is not in the corpus"},
	} {
		_, err := documents(t, c.synth)
		if _, ok := errors.AsType[diag.Errors](err); !ok || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %q", err, c.want)
		}
	}
}
