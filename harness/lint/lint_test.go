package lint_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/poimen-memory/mem/harness/corpus"
	"github.com/poimen-memory/mem/harness/corpus/corpustest"
	"github.com/poimen-memory/mem/harness/dataset"
	"github.com/poimen-memory/mem/harness/lint"
	"github.com/poimen-memory/mem/harness/synth"
)

// keys look like secrets, one of each kind; put together here, so that no scanner takes
// this file for a leak.
func keys() map[string]string {
	s := strings.Repeat
	return map[string]string{
		"a private key":                   "-----BEGIN RSA " + "PRIVATE KEY-----\nMIIE\n-----END RSA " + "PRIVATE KEY-----",
		"an AWS access key":               "AKIA" + s("A1", 8),
		"a GitHub token":                  "ghp_" + s("a1B2", 9),
		"a GitLab token":                  "glpat-" + s("a1B2", 5),
		"a Slack token":                   "xoxb-" + s("1234", 5),
		"a Google API key":                "AIza" + s("aB-_1", 7),
		"an API key":                      "sk-" + "proj-" + s("a1B2", 5),
		"a Hugging Face token":            "hf_" + s("aB", 15),
		"a JSON web token":                "eyJ" + s("a", 10) + ".eyJ" + s("b", 10) + ".sig",
		"a password in a URL":             "hunter2!",
		"a value that is called a secret": s("a1B2", 5),
	}
}

func around(kind, key string) string {
	switch kind {
	case "a password in a URL":
		return "see postgres://app:" + key + "@db:5432/x for it"
	case "a value that is called a secret":
		return `{\"DB_PASSWORD\": \"` + key + `\"}`
	}
	return "see " + key + " for it"
}

// Each kind of key is found and taken out, with nothing beside it, and never shown.
func TestSecretsAreFoundAndTakenOut(t *testing.T) {
	for kind, key := range keys() {
		text := around(kind, key)
		cfg := corpus.Config{ID: "c", Path: corpustest.WriteFile(t, "c.jsonl", corpustest.JSONL(t, corpustest.Record{Role: "tool", Text: text, ID: "r1"}))}
		found := findings(t, cfg)
		if len(found) != 1 || !strings.HasPrefix(found[0], "secret: record r1: what looks like "+kind+": ") || strings.Contains(found[0], key) {
			t.Errorf("%s: found %q", kind, found)
		}
		var out bytes.Buffer
		n, err := lint.Redact(t.Context(), cfg, &out)
		if err != nil {
			t.Fatal(err)
		}
		want := corpustest.JSONL(t, corpustest.Record{Role: "tool", Text: strings.Replace(text, key, "[redacted]", 1), ID: "r1"})
		if diff := cmp.Diff(want, out.String()); diff != "" || n != 1 {
			t.Errorf("%s: %d redacted\n%s", kind, n, diff)
		}
	}
	for _, harmless := range []string{
		"token: the_name_of_the_variable", "the password is secret", "sk-short", "AKIA", "risk-free-" + strings.Repeat("x", 30),
		"sha256: 0123456789abcdef0123456789abcdef", "https://example.org:8080/path@2", "tokens: 1234567890123456",
	} {
		if found := findings(t, corpus.Config{ID: "c", Path: corpustest.WriteFile(t, "c.jsonl", corpustest.JSONL(t, corpustest.Record{Role: "tool", Text: harmless, ID: ""}))}); found != nil {
			t.Errorf("%q: %q", harmless, found)
		}
	}
}

func findings(t *testing.T, corpora ...corpus.Config) (found []string) {
	t.Helper()
	err := lint.Check(t.Context(), corpora, func(f lint.Finding) {
		found = append(found, fmt.Sprintf("%s: %s", f.Kind, f.What))
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func TestCheck(t *testing.T) {
	long := "A text that is long enough to be reported when it occurs twice."
	a := corpus.Config{ID: "a", Path: corpustest.WriteFile(t, "a.jsonl", corpustest.JSONL(t,
		corpustest.Record{Role: "user", Text: long, ID: "r1"}, corpustest.Record{Role: "tool", Text: long, ID: ""}, corpustest.Record{Role: "tool", Text: "ok", ID: "r3"}, corpustest.Record{Role: "tool", Text: "ok", ID: "r4"},
		corpustest.Record{Role: "tool", Text: "</Section ><memory> and <check>", ID: "r5"}, corpustest.Record{Role: "tool", Text: "cafÃ© or itâ€™s", ID: "r6"}, corpustest.Record{Role: "tool", Text: "café, it’s Âme", ID: "r7"}))}
	b := corpus.Config{ID: "b", Path: corpustest.WriteFile(t, "b.jsonl", corpustest.JSONL(t, corpustest.Record{Role: "user", Text: long, ID: "r1"}))}
	q := corpus.Query{ID: "q", Labels: []corpus.Label{{ID: "r3"}, {Match: "nowhere"}, {Match: "ok"}, {Match: "ok", All: true}, {ID: "r9"}}}
	for i := range q.Labels {
		q.Labels[i].Pos.Line = i + 1
	}
	a.Queries, b.Queries = []corpus.Query{q, {ID: "bare"}}, []corpus.Query{q}
	want := []string{
		"reserved tag: record r5: 2 of the prompt's own tags",
		"mojibake: record r6: cafÃ© or itâ€™s",
		"duplicate: record on line 2: same text as record r1",
		"missing evidence: the text is not in the corpus",
		"ambiguous evidence: the text is 2 times in the corpus: want once, or name the record, or say {match: …, all: true}",
		"missing evidence: record r9 is not in the corpus",
		"unlabelled query: query bare has no evidence: its gates cannot be right or wrong",
	}
	if diff := cmp.Diff(want, findings(t, a, b)); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	got := findings(t, corpus.Config{ID: "l", Path: "../dataset/testdata/locomo.json", Reader: dataset.Reader{Format: "locomo"}})
	unlabelled := func(f string) bool { return strings.HasPrefix(f, "unlabelled") } // unanswerable queries are not
	if !slices.Contains(got, "not imported: image without a caption") || slices.ContainsFunc(got, unlabelled) ||
		!slices.Contains(got, "not imported: question conv-26-q004: evidence \"D1:2 D7:9\": no turn has the id D7:9") {
		t.Errorf("an import: %q", got)
	}
}

// Generated filler repeats by design and is not a finding. The same records in a file are, because
// a file does not mark filler: one finding for each text, and all are counted.
func TestCheckDuplicates(t *testing.T) {
	for _, task := range []string{"niah_single_1", "vt"} {
		generated := synth.Config{Task: task, Lengths: []int{4000}}
		made := corpus.Config{ID: "n", Reader: generated, Prompts: corpustest.Builder(t, corpustest.FourthCounter{})}
		if found := findings(t, made); found != nil {
			t.Errorf("%s: %q", task, found)
		}
		samples, err := generated.Plan(t.Context(), "n", corpustest.FourthCounter{})
		if err != nil {
			t.Fatal(err)
		}
		var written bytes.Buffer
		if _, err := samples[0].Write(t.Context(), &written); err != nil {
			t.Fatal(err)
		}
		repeats, texts := 0, map[string]bool{}
		again := map[string]bool{}
		for line := range strings.Lines(written.String()) {
			if texts[line] {
				repeats++
				again[line] = true
			}
			texts[line] = true
		}
		sum, list := 0, 0
		err = lint.Check(t.Context(), []corpus.Config{{ID: "written", Path: corpustest.WriteFile(t, "written.jsonl", written.String())}}, func(f lint.Finding) {
			if sum, list = sum+1+f.More, list+1; f.Kind != lint.Duplicate || f.At.Line == 0 || !strings.HasPrefix(f.What, fmt.Sprintf("record on line %d: same text as record on line ", f.At.Line)) ||
				!strings.HasSuffix(f.What, fmt.Sprintf(", which comes %d times in all", f.More+2)) {
				t.Errorf("%s: %v %s: %s", task, f.At, f.Kind, f.What)
			}
		})
		if err != nil || repeats == 0 || sum != repeats || list != len(again) {
			t.Errorf("%s: %d duplicates of %d texts, want %d of %d; %v", task, sum, list, repeats, len(again), err)
		}
	}
}

// What a user's haystack brings into a session that is made is found where the session has it.
func TestCheckPlaceInWhatIsMade(t *testing.T) {
	key := keys()["an AWS access key"]
	made := corpus.Config{ID: "n", Prompts: corpustest.Builder(t, corpustest.FourthCounter{}), Reader: synth.Config{Task: "niah_single_1", Lengths: []int{200}, Haystack: "file",
		File: corpustest.WriteFile(t, "hay.txt", "One. Two. Three. Four. Five. Six is "+key+" here. Seven. Eight. Nine. Ten. ")}}
	var at []string
	err := lint.Check(t.Context(), []corpus.Config{made}, func(f lint.Finding) { at = append(at, f.At.String()+": "+f.What) })
	if want := "n/1: record 2: what looks like an AWS access key"; err != nil || len(at) == 0 || !strings.HasPrefix(at[0], want) {
		t.Errorf("found %q, %v, want first %q", at, err, want)
	}
}
