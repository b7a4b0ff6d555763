package corpus_test

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/poimen-memory/mem/harness/corpus"
	"github.com/poimen-memory/mem/harness/spec/yamlpos"
)

var update = flag.Bool("update", false, "rewrite the expected imports in testdata/import")

// published are the hand-written samples, in the shapes in which data are published.
var published = map[string]string{
	"hotpotqa.json": "hotpotqa", "squad.json": "squad", "musique.jsonl": "musique", "locomo.json": "locomo",
	"longmemeval.json": "longmemeval", "openai-chat.jsonl": "openai-chat", "openai-messages.json": "openai-chat",
	"claude-code.jsonl": "claude-code", "text.txt": "text", "markdown.md": "markdown",
}

const samplesDir = "testdata/import/"

// imported is what an import writes, and what it came to.
func imported(t *testing.T, cfg corpus.ImportConfig) (records, labels string, im *corpus.Imported) {
	t.Helper()
	var out, file bytes.Buffer
	cfg.Counter = bytesCounter{}
	im, err := corpus.Import(t.Context(), cfg, &out)
	if err != nil {
		t.Fatal(err)
	}
	if im.Queries != nil {
		if err := corpus.WriteLabels(&file, "labels", labelled(im.Queries)); err != nil {
			t.Fatal(err)
		}
	}
	return out.String(), file.String(), im
}

func labelled(queries []corpus.Query) (list []corpus.Labelled) {
	for _, q := range queries {
		list = append(list, corpus.Labelled{Query: q})
	}
	return list
}

func report(im *corpus.Imported) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d records %v, %d tokens, samples %v\n%d queries, %d labels, %d unlabelled\n",
		im.Records, im.Roles, im.Tokens, im.Samples, len(im.Queries), im.Labels, im.Unlabelled)
	for _, what := range slices.Sorted(maps.Keys(im.Skipped)) {
		fmt.Fprintf(&b, "passed over %d × %s\n", im.Skipped[what], what)
	}
	for _, w := range im.Warnings {
		b.WriteString(w + "\n")
	}
	return b.String()
}

// Every importer's records, labels and summary are as committed; -update writes them.
func TestImportedSamples(t *testing.T) {
	for file, format := range published {
		t.Run(file, func(t *testing.T) {
			records, labels, im := imported(t, corpus.ImportConfig{Format: format, Paths: []string{samplesDir + file}})
			got := records + "-- labels --\n" + labels + "-- summary --\n" + report(im)
			golden := samplesDir + strings.TrimSuffix(file, filepath.Ext(file)) + ".golden"
			if *update {
				if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
}

// excerpts are what each query finds over sessions of one record a chunk.
func excerpts(t *testing.T, cfg corpus.Config) (texts []string, found map[string][]string) {
	t.Helper()
	cfg.ID, cfg.Pack, cfg.Prompts = "c", corpus.Pack{Records: 1}, builder(t, bytesCounter{})
	sessions, err := corpus.Load(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	found = map[string][]string{}
	for _, s := range sessions {
		texts = append(texts, raws(t, s)...)
		for _, q := range s.Queries() {
			found[q.ID] = append(found[q.ID], q.Text, strings.Join(q.Answers, "|"))
			for _, e := range q.Evidence {
				found[q.ID] = append(found[q.ID], fmt.Sprintf("%d %s", e.Chunk, e.Excerpt))
			}
		}
	}
	return texts, found
}

// What was written to a corpus and its labels file is, to a spec, the data set itself.
func TestImportedFilesAreTheDataSet(t *testing.T) {
	for file, format := range published {
		t.Run(file, func(t *testing.T) {
			path := samplesDir + file
			records, labels, im := imported(t, corpus.ImportConfig{Format: format, Paths: []string{path}})
			texts, found := excerpts(t, corpus.Config{Path: path, Format: format, Join: len(im.Samples) > 0})
			written := corpus.Config{Path: write(t, "c.jsonl", records)}
			if labels != "" {
				written.Labels = write(t, "c.labels.yaml", labels)
			}
			gotTexts, got := excerpts(t, written)
			if diff := cmp.Diff(texts, gotTexts); diff != "" {
				t.Errorf("records: -data +files\n%s", diff)
			}
			if diff := cmp.Diff(found, got); diff != "" {
				t.Errorf("evidence: -data +files\n%s", diff)
			}
		})
	}
}

// One sample alone keeps its own ids; those of several files begin with the file's name.
func TestImportPicksAndPrefixes(t *testing.T) {
	_, _, one := imported(t, corpus.ImportConfig{Format: "longmemeval", Paths: []string{samplesDir + "longmemeval.json"}, Samples: []string{"e47becba"}})
	if diff := cmp.Diff([]corpus.Label{{ID: "answer_280352e9/1"}}, one.Queries[0].Labels); diff != "" || len(one.Queries) != 1 || len(one.Samples) != 3 {
		t.Errorf("%s%d queries of %v", diff, len(one.Queries), one.Samples)
	}
	records, _, _ := imported(t, corpus.ImportConfig{Format: "text", Paths: []string{samplesDir + "text.txt", write(t, "b.md", "Hello.")}})
	for _, id := range []string{`"id":"text/L1"`, `"id":"b/L1"`} {
		if !strings.Contains(records, id) {
			t.Errorf("%s is not in\n%s", id, records)
		}
	}
	for want, cfg := range map[string]corpus.ImportConfig{
		`sample: found "e47beca", want one of e47becba, gpt4_2655b836, 6456829e_abs; did you mean "e47becba"?`: {
			Format: "longmemeval", Paths: []string{samplesDir + "longmemeval.json"}, Samples: []string{"e47beca"}},
		`format: found "squat", want one of ` + strings.Join(corpus.Formats(), ", ") + `; did you mean "squad"?`: {Format: "squat"},
	} {
		cfg.Counter = bytesCounter{}
		if _, err := corpus.Import(t.Context(), cfg, new(bytes.Buffer)); err == nil || err.Error() != want {
			t.Errorf("got  %v\nwant %s", err, want)
		}
	}
	again := filepath.Join(t.TempDir(), "again.json")
	data, err := os.ReadFile(samplesDir + "squad.json")
	if err != nil || os.WriteFile(again, data, 0o644) != nil {
		t.Fatal(err)
	}
	cfg := corpus.ImportConfig{Format: "squad", Paths: []string{samplesDir + "squad.json", again}, Counter: bytesCounter{}}
	if _, err := corpus.Import(t.Context(), cfg, new(bytes.Buffer)); err == nil || !strings.Contains(err.Error(), `query "56be1" is in both`) {
		t.Errorf("the same questions in two files: %v", err)
	}
}

// What is wrong with a file is said with its place, and nothing is guessed.
func TestImportRefuses(t *testing.T) {
	locomo := `[{"conversation":{"speaker_a":"A","speaker_b":"B","session_1":[{"speaker":"A","dia_id":"D1:1","text":"x"}]},"qa":[QA]}]`
	long := `[{"question_id":"q","question":"Q","answer":"A","haystack_sessions":[[{"role":"user","content":"x"}]]MORE}]`
	squad := `{"data":[{"title":"T","paragraphs":[{"context":"c","qas":[QA]}]}],"version":"1.1"}`
	for _, c := range []struct{ format, content, want string }{
		{"squad", strings.Replace(squad, "QA", "", 1) + "x", "1:81: not JSON: invalid character 'x' after top-level value"},
		{"squad", strings.TrimSuffix(strings.Replace(squad, "QA", "", 1), "}"), "1:80: the file ends within the object around the list: it is cut short"},
		{"squad", `{"data":[{"title":"T","paragraphs":[`, "1:10: the file ends within the list, in or before element 1: it is cut short"},
		{"squad", `{"data":[]}`, "1:9: the list is empty: want samples"},
		{"squad", `{"data":{}}`, "1:1: [0]: title is missing: want title, paragraphs\n1:1: [0]: paragraphs is missing: want title, paragraphs"},
		{"squad", `[null]`, "1:2: [0]: found null, want an object\n1:2: [0]: found null, want an object with title, paragraphs"},
		{"squad", strings.Replace(squad, "QA", `{"id":"a","question":"Q","answers":null}`, 1), "1:94: [0].paragraphs[0].qas[0].answers: found null, want a list"},
		{"squad", strings.Replace(squad, "QA", `{"id":"a","question":"Q","answers":[]},{"id":"a","question":"Q","answers":[]}`, 1),
			`1:10: the query's id "a" is taken by a query of the sample on line 1`},
		{"musique", `{"id":"a","paragraphs":[],"question":"Q","answer":"A"}`, "1:24: [0].paragraphs: has no paragraphs"},
		{"musique", `{"id":"a","paragraphs":null,"question":"Q","answer":null}`, "1:24: [0].paragraphs: found null, want a list\n" +
			"1:53: [0].answer: found null, want a string or a number"},
		{"locomo", strings.Replace(locomo, "QA", `{"question":"Q","category":1}`, 1), "1:127: [0].qa[0]: answer is missing: only questions of category 5 have none"},
		{"locomo", strings.Replace(locomo, "QA", `{"question":7,"category":5}`, 1), "1:127: [0].qa[0].question: found a number, want a string"},
		{"locomo", `{"sample_id":"a/b","conversation":{},"qa":[]}`, "1:14: [0].sample_id: found \"a/b\", want a name of letters, digits, . _ and -\n" +
			"1:35: [0].conversation: speaker_a is missing: want speaker_a, speaker_b\n1:35: [0].conversation: speaker_b is missing: want speaker_a, speaker_b"},
		{"locomo", strings.Replace(strings.Replace(locomo, "QA", "", 1), `"x"}`, `"x"},{"speaker":"B","dia_id":"D1:1","text":"y"}`, 1),
			`1:2: id: "D1:1" is the id of the record on line 1 already: want a unique one`},
		{"longmemeval", strings.Replace(long, "MORE", `,"haystack_dates":["a","b"]`, 1), "1:120: [0].haystack_dates: found 2, want one for each of 1 sessions"},
		{"longmemeval", strings.Replace(strings.Replace(long, "MORE", "", 1), `"user"`, `"bot"`, 1), `1:79: [0].haystack_sessions[0][0].role: found "bot", want user or assistant`},
		{"openai-chat", `"text"`, "1:1: [0]: found a string, want an object with messages"},
		{"openai-chat", `{"messages":[{"role":"user","content":7}]}`, "1:39: [0].messages[0].content: found a number, want a string, a list of parts or null"},
		{"openai-chat", `[{"role":"user","content":"a"},null,{"role":"user","content":"b"`, "1:32: [1]: found null, want an object with role\n" +
			"1:37: the file ends within the list, in or before element 3: it is cut short"},
		{"claude-code", "{\"type\":\"user\"\n{\"type\":\"x\"}\n", "1:15: the line ends within an entry"},
		{"claude-code", "[1]\n7\n", "1:1: found a list, want an object with type\n2:1: found a number, want an object with type"},
		{"text", " \n\n", "f: no records: the file has no text"},
		{"claude-code", "", "f: no records: there is nothing that becomes one"},
		{"claude-code", "{\"type\":\"summary\"}\n{\"type\":\"mode\"}\n[1", "f: no records: passed over 1 × entry of type \"mode\", 1 × entry of type \"summary\", 1 × last line that is torn"},
		{"text", "a\nb\xff", "2:2: 0xff is not UTF-8: want the whole file in UTF-8"},
		{"claude-code", "\x1f\x8b\x08", "unexpected EOF"},
	} {
		t.Run(c.format, func(t *testing.T) {
			cfg := corpus.ImportConfig{Format: c.format, Paths: []string{write(t, "f", c.content)}, Counter: bytesCounter{}}
			_, err := corpus.Import(t.Context(), cfg, new(bytes.Buffer))
			if err == nil {
				t.Fatal("accepted")
			}
			got := err.Error()
			if es, ok := errors.AsType[yamlpos.Errors](err); ok {
				got = short(es)
			} else {
				got = got[strings.LastIndex(got, ": ")+2:]
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("%s\n-want +got\n%s", c.content, diff)
			}
		})
	}
}

// Mirrors publish SQuAD as one question a row. An answer that stands elsewhere than it is
// said to is found where it can be only one.
func TestSquadRows(t *testing.T) {
	row := `{"id":"ID","title":"T","context":"ä bee, a sea","question":"Q?","answers":{"text":["TEXT"],"answer_start":[AT]}}` + "\n"
	var rows string
	for _, r := range [][3]string{{"right", "bee", "2"}, {"bytes", "bee", "3"}, {"beyond", "sea", "99"}, {"twice", "a", "1"}} {
		rows += strings.NewReplacer("ID", r[0], "TEXT", r[1], "AT", r[2]).Replace(row)
	}
	_, found := excerpts(t, corpus.Config{Path: write(t, "rows.jsonl", rows), Format: "squad"})
	want := map[string][]string{
		"right": {"Q?", "bee", "1 bee"}, "bytes": {"Q?", "bee", "1 bee"}, "beyond": {"Q?", "sea", "1 sea"}, "twice": {"Q?", "a"},
	}
	if diff := cmp.Diff(want, found); diff != "" {
		t.Error(diff)
	}
}

// A paragraph that never ends is cut at a line, so that no record grows without bound.
func TestTextIsCutAtALine(t *testing.T) {
	line := strings.Repeat("x", 1<<16) + "\n"
	records, _, im := imported(t, corpus.ImportConfig{Format: "text", Paths: []string{write(t, "t.txt", strings.Repeat(line, 40))}})
	if im.Records != 3 || strings.Count(records, `"id":"L17"`) != 1 {
		t.Errorf("%d records, want three, the second from line 17 on", im.Records)
	}
}

// A session that nothing became a record of is refused: a run over it has no turn, and would
// pass every check.
func TestNoRecords(t *testing.T) {
	nobody := `{"messages":[{"role":"bot","content":"x"}],"id":"b"}` + "\n"
	for _, c := range []struct{ format, content, want string }{
		{"claude-code", `{"type":"summary"}` + "\n", `f: session c: no records: passed over 1 × entry of type "summary"`},
		{"openai-chat", `{"messages":[{"role":"user","content":"x"}],"id":"a"}` + "\n" + nobody,
			`f: session c/b: no records: passed over 1 × message of role "bot"`},
	} {
		_, err := corpus.Load(t.Context(), corpus.Config{ID: "c", Path: write(t, "f", c.content), Format: c.format,
			Pack: corpus.Pack{Records: 1}, Prompts: builder(t, bytesCounter{})})
		if es, ok := errors.AsType[yamlpos.Errors](err); !ok || short(es) != c.want {
			t.Errorf("%s: got %v, want %s", c.format, err, c.want)
		}
	}
}
