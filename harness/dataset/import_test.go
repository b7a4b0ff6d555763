package dataset_test

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/poimen-memory/mem/harness/corpus"
	"github.com/poimen-memory/mem/harness/corpus/corpustest"
	"github.com/poimen-memory/mem/harness/dataset"
	"github.com/poimen-memory/mem/harness/diag"
)

var update = flag.Bool("update", false, "rewrite the expected imports in testdata/import")

// published are the hand-written samples, in the shapes in which data are published.
var published = map[string]string{
	"hotpotqa.json": "hotpotqa", "squad.json": "squad", "musique.jsonl": "musique", "locomo.json": "locomo",
	"longmemeval.json": "longmemeval", "longmemeval-unsorted.json": "longmemeval", "openai-chat.jsonl": "openai-chat", "openai-messages.json": "openai-chat",
	"claude-code.jsonl": "claude-code", "text.txt": "text", "markdown.md": "markdown",
	"anthropic-messages.json": "anthropic-messages", "claude-web.json": "claude-web", "codex.jsonl": "codex", "codex-first.jsonl": "codex",
	"gemini-cli.json": "gemini-cli", "gemini-cli-lines.jsonl": "gemini-cli", "langchain.json": "langchain", "langgraph.json": "langchain",
	"openai-responses.json": "openai-responses", "openai-items.json": "openai-responses", "openhands.json": "openhands",
	"openhands-output.jsonl": "openhands", "openhands-sdk.jsonl": "openhands", "otel.jsonl": "otel", "sharegpt.json": "sharegpt",
	"swe-agent.traj": "swe-agent", "aider.md": "aider",
}

const samplesDir = "testdata/"

// imported is what an import writes, and what it came to.
func imported(t *testing.T, cfg dataset.ImportConfig) (records, labels string, im *dataset.Imported) {
	t.Helper()
	var out, file bytes.Buffer
	cfg.Counter = corpustest.BytesCounter{}
	im, err := dataset.Import(t.Context(), cfg, &out)
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

func report(im *dataset.Imported) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d records %v, %d tokens, samples %v\n%d queries, %d labels, %d unlabelled\n",
		im.Records, im.Roles, im.Tokens, im.Samples, len(im.Queries), im.Labels, im.Unlabelled)
	for _, s := range im.Skipped {
		fmt.Fprintf(&b, "not imported: %s, the first at %s\n", s, s.First)
	}
	for _, n := range im.Notes {
		fmt.Fprintf(&b, "%s, the first at %s\n", n, n.First)
	}
	for _, w := range im.Warnings {
		b.WriteString(w.Error() + "\n")
	}
	return b.String()
}

// Every importer's records, labels and summary are as committed; -update writes them.
func TestImportedSamples(t *testing.T) {
	for file, format := range published {
		t.Run(file, func(t *testing.T) {
			records, labels, im := imported(t, dataset.ImportConfig{Format: format, Paths: []string{samplesDir + file}})
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
	cfg.ID, cfg.Pack, cfg.Prompts = "c", corpus.Pack{Records: 1}, corpustest.Builder(t, corpustest.BytesCounter{})
	sessions, err := corpus.Load(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	found = map[string][]string{}
	for _, s := range sessions {
		texts = append(texts, corpustest.Renderings(t, s)...)
		for _, q := range s.Queries() {
			text := q.Text
			if q.Unanswerable {
				text += " (unanswerable)"
			}
			found[q.ID] = append(found[q.ID], text, strings.Join(q.Answers, "|"))
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
			records, labels, im := imported(t, dataset.ImportConfig{Format: format, Paths: []string{path}})
			texts, found := excerpts(t, corpus.Config{Path: path, Reader: dataset.Reader{Format: format, Join: len(im.Samples) > 0}})
			written := corpus.Config{Path: corpustest.WriteFile(t, "c.jsonl", records)}
			if labels != "" {
				written.Labels = corpustest.WriteFile(t, "c.labels.yaml", labels)
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
	_, _, one := imported(t, dataset.ImportConfig{Format: "longmemeval", Paths: []string{samplesDir + "longmemeval.json"}, Samples: []string{"e47becba"}})
	if diff := cmp.Diff([]corpus.Label{{ID: "answer_280352e9/1"}}, one.Queries[0].Labels); diff != "" || len(one.Queries) != 1 || len(one.Samples) != 3 {
		t.Errorf("%s%d queries of %v", diff, len(one.Queries), one.Samples)
	}
	records, _, _ := imported(t, dataset.ImportConfig{Format: "text", Paths: []string{samplesDir + "text.txt", corpustest.WriteFile(t, "b.md", "Hello.")}})
	for _, id := range []string{`"id":"text/L1"`, `"id":"b/L1"`} {
		if !strings.Contains(records, id) {
			t.Errorf("%s is not in\n%s", id, records)
		}
	}
	for want, cfg := range map[string]dataset.ImportConfig{
		`sample: found "e47beca", want one of e47becba, gpt4_2655b836, 6456829e_abs; did you mean "e47becba"?`: {
			Format: "longmemeval", Paths: []string{samplesDir + "longmemeval.json"}, Samples: []string{"e47beca"}},
		`format: found "squat", want one of ` + strings.Join(dataset.Formats(), ", ") + `; did you mean "squad"?`: {Format: "squat"},
	} {
		cfg.Counter = corpustest.BytesCounter{}
		if _, err := dataset.Import(t.Context(), cfg, new(bytes.Buffer)); err == nil || err.Error() != want {
			t.Errorf("got  %v\nwant %s", err, want)
		}
	}
	again := filepath.Join(t.TempDir(), "again.json")
	data, err := os.ReadFile(samplesDir + "squad.json")
	if err != nil || os.WriteFile(again, data, 0o644) != nil {
		t.Fatal(err)
	}
	cfg := dataset.ImportConfig{Format: "squad", Paths: []string{samplesDir + "squad.json", again}, Counter: corpustest.BytesCounter{}}
	if _, err := dataset.Import(t.Context(), cfg, new(bytes.Buffer)); err == nil || !strings.Contains(err.Error(), `query "56be1" is in both`) {
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
		{"locomo", strings.Replace(locomo, "QA", `{"question":"Q","category":1}`, 1), "1:115: [0].qa[0]: answer is missing: only questions of category 5 have none"},
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
		{"claude-code", "[1]\n7\n", "1:1: found a list, want an object with type\n2:1: found a number, want an object with type"},
		{"text", " \n\n", "f: no records: the file has no text"},
		{"claude-code", "", "f: no records: nothing in it is one"},
		{"claude-code", "{\"type\":\"summary\"}\n{\"type\":\"mode\"}\n[1", "f: no records: not imported: 1 × entry of type \"mode\", 1 × entry of type \"summary\", 1 × torn line"},
		{"text", "a\nb\xff", "2:2: 0xff is not UTF-8: want the whole file in UTF-8"},
		{"claude-code", "\x1f\x8b\x08", "unexpected EOF"},
	} {
		t.Run(c.format, func(t *testing.T) {
			cfg := dataset.ImportConfig{Format: c.format, Paths: []string{corpustest.WriteFile(t, "f", c.content)}, Counter: corpustest.BytesCounter{}}
			_, err := dataset.Import(t.Context(), cfg, new(bytes.Buffer))
			if err == nil {
				t.Fatal("accepted")
			}
			got := err.Error()
			if es, ok := errors.AsType[diag.Errors](err); ok {
				got = corpustest.Short(es)
			} else {
				got = got[strings.LastIndex(got, ": ")+2:]
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("%s\n-want +got\n%s", c.content, diff)
			}
		})
	}
}

// Strict refuses files of which something is not imported, one error for each kind, and labels
// that point to nothing; nothing is written. Notes lose nothing.
func TestStrict(t *testing.T) {
	log := `{"type":"mode"}` + "\n" + `{"type":"user","message":{"role":"user","content":"a"}}` + "\n{\"type\":\n" + `{"type":"mode"}`
	hotpot := `[{"question":"Q","answer":"A","context":[["T",["S"]]],"supporting_facts":[["U",0]]}]`
	unsorted, err := os.ReadFile(samplesDir + "longmemeval-unsorted.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ format, content, want string }{
		{"claude-code", log, "1:1: not imported: 2 × entry of type \"mode\"\n3:1: not imported: 1 × torn line"},
		{"hotpotqa", hotpot, `1:2: supporting fact "U", sentence 0: no paragraph has this title`},
		{"longmemeval", string(unsorted), ""},
	} {
		cfg := dataset.ImportConfig{Format: c.format, Paths: []string{corpustest.WriteFile(t, "f", c.content)}, Counter: corpustest.BytesCounter{}}
		out := filepath.Join(t.TempDir(), "out.jsonl")
		if _, err := dataset.ImportFile(t.Context(), cfg, out); err != nil || os.Remove(out) != nil {
			t.Errorf("%s, not strict: %v", c.format, err)
		}
		cfg.Strict = true
		_, err := dataset.ImportFile(t.Context(), cfg, out)
		got := ""
		if es, ok := errors.AsType[diag.Errors](err); ok {
			got = corpustest.Short(es)
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: -want +got\n%s", c.format, diff)
		}
		if _, err := os.Stat(out); (err == nil) != (c.want == "") {
			t.Errorf("%s: the file that is refused: %v", c.format, err)
		}
	}
}

// A date that cannot be read leaves the sessions in the order of the file.
func TestLongMemEvalUnreadableDate(t *testing.T) {
	long := `[{"question_id":"q","question":"Q","answer":"A","haystack_dates":["2023/05/20 (Sat) 02:21","yesterday"],` +
		`"haystack_sessions":[[{"role":"user","content":"x"}],[{"role":"user","content":"y"}]]}]`
	_, _, im := imported(t, dataset.ImportConfig{Format: "longmemeval", Paths: []string{corpustest.WriteFile(t, "f", long)}})
	if len(im.Notes) != 1 || !strings.Contains(im.Notes[0].Kind, "stay in the order of the file") {
		t.Errorf("notes %v", im.Notes)
	}
}

// Mirrors publish SQuAD as one question a row. An answer that stands elsewhere than it is
// said to is found where it can be only one.
func TestSquadRows(t *testing.T) {
	row := `{"id":"ID","title":"T","context":"ä bee, a sea","question":"Q?","answers":{"text":["TEXT"],"answer_start":[AT]}}` + "\n"
	var rows string
	rows += `{"id":"none","title":"T","context":"ä bee","question":"Q?","answers":{"text":[],"answer_start":[]}}` + "\n"
	for _, r := range [][3]string{{"right", "bee", "2"}, {"bytes", "bee", "3"}, {"beyond", "sea", "99"}, {"twice", "a", "1"}} {
		rows += strings.NewReplacer("ID", r[0], "TEXT", r[1], "AT", r[2]).Replace(row)
	}
	_, found := excerpts(t, corpus.Config{Path: corpustest.WriteFile(t, "rows.jsonl", rows), Reader: dataset.Reader{Format: "squad"}})
	want := map[string][]string{
		"none":  {"Q? (unanswerable)", ""},
		"right": {"Q?", "bee", "1 bee"}, "bytes": {"Q?", "bee", "1 bee"}, "beyond": {"Q?", "sea", "1 sea"}, "twice": {"Q?", "a"},
	}
	if diff := cmp.Diff(want, found); diff != "" {
		t.Error(diff)
	}
}

// A paragraph that never ends is cut at a line, so that no record grows without bound.
func TestTextIsCutAtALine(t *testing.T) {
	line := strings.Repeat("x", 1<<16) + "\n"
	records, _, im := imported(t, dataset.ImportConfig{Format: "text", Paths: []string{corpustest.WriteFile(t, "t.txt", strings.Repeat(line, 40))}})
	if im.Records != 3 || strings.Count(records, `"id":"L17"`) != 1 {
		t.Errorf("%d records, want three, the second from line 17 on", im.Records)
	}
}

// A session that nothing became a record of is refused: a run over it has no turn, and would
// pass every check.
func TestNoRecords(t *testing.T) {
	unknownRole := `{"messages":[{"role":"bot","content":"x"}],"id":"b"}` + "\n"
	for _, c := range []struct{ format, content, want string }{
		{"claude-code", `{"type":"summary"}` + "\n", `f: session c: no records: not imported: 1 × entry of type "summary"`},
		{"openai-chat", `{"messages":[{"role":"user","content":"x"}],"id":"a"}` + "\n" + unknownRole,
			`f: session c/b: no records: not imported: 1 × message of role "bot"`},
	} {
		_, err := corpus.Load(t.Context(), corpus.Config{ID: "c", Path: corpustest.WriteFile(t, "f", c.content), Reader: dataset.Reader{Format: c.format},
			Pack: corpus.Pack{Records: 1}, Prompts: corpustest.Builder(t, corpustest.BytesCounter{})})
		if es, ok := errors.AsType[diag.Errors](err); !ok || corpustest.Short(es) != c.want {
			t.Errorf("%s: got %v, want %s", c.format, err, c.want)
		}
	}
}

func TestReaderErrors(t *testing.T) {
	for want, r := range map[string]dataset.Reader{
		`corpus c: format: found "hotpot", want one of ` + strings.Join(dataset.Formats(), ", ") + `; did you mean "hotpotqa"?`: {Format: "hotpot"},
		"corpus c: join: a file of format jsonl is one session already":                                                         {Join: true},
	} {
		_, err := corpus.Load(t.Context(), corpus.Config{ID: "c", Reader: r, Pack: corpus.Pack{Records: 1}, Prompts: corpustest.Builder(t, corpustest.BytesCounter{})})
		if err == nil || err.Error() != want {
			t.Errorf("got  %v\nwant %s", err, want)
		}
	}
}
