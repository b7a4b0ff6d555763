package spec_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/poimen-memory/mem/harness/diag"
	"github.com/poimen-memory/mem/harness/spec"
	"github.com/poimen-memory/mem/harness/spec/yamlpos"
	"github.com/poimen-memory/mem/prompt"
	"github.com/poimen-memory/mem/prompt/token"
)

var update = flag.Bool("update", false, "rewrite the expected complaints in testdata/wrong.txtar")

// wrong is a spec that is refused, and what is said of it.
type wrong struct{ name, data, want string }

const wrongFile = "testdata/wrong.txtar"

// wrongs are the pairs of `-- NAME --` and `-- want --` in the archive, below its heading.
func wrongs(t testing.TB) (heading string, list []wrong) {
	t.Helper()
	parts := strings.Split("\n"+string(read(t, wrongFile)), "\n-- ")
	cut := func(part string) (name, data string) {
		name, data, _ = strings.Cut(part, " --\n")
		return name, data + "\n"
	}
	for i := 1; i+1 < len(parts); i += 2 {
		name, data := cut(parts[i])
		_, want := cut(parts[i+1])
		list = append(list, wrong{name, data, strings.TrimRight(want, "\n")})
	}
	return strings.TrimPrefix(parts[0], "\n"), list
}

func read(t testing.TB, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// Each wrong spec draws exactly its complaints.
func TestWrong(t *testing.T) {
	heading, list := wrongs(t)
	for i, w := range list {
		t.Run(w.name, func(t *testing.T) {
			s, err := spec.Parse(w.name, []byte(w.data))
			if err == nil || s != nil {
				t.Fatalf("accepted:\n%s", w.data)
			}
			list[i].want = err.Error()
			if diff := cmp.Diff(w.want, err.Error()); diff != "" && !*update {
				t.Errorf("%s-want +got\n%s", w.data, diff)
			}
		})
	}
	if !*update {
		return
	}
	text := heading + "\n"
	for _, w := range list {
		text += "-- " + w.name + " --\n" + w.data + "-- want --\n" + w.want + "\n"
	}
	if err := os.WriteFile(wrongFile, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func at(line, col int, path string) diag.Place {
	return diag.Place{Pos: diag.Pos{File: "testdata/first.yaml", Line: line, Col: col}, Path: path}
}

func text(value string, line, col int, path string) yamlpos.At[string] {
	return yamlpos.At[string]{Value: value, Place: at(line, col, path)}
}

// The first spec of a newcomer, with every default that it leaves to us.
func TestFirst(t *testing.T) {
	got, err := spec.Load("testdata/first.yaml")
	if err != nil {
		t.Fatal(err)
	}
	want := &spec.Spec{
		File: "testdata/first.yaml", Dir: "testdata",
		At:         at(1, 1, ""),
		Experiment: text("redis-port", 1, 13, "experiment"),
		Tokenizer:  spec.Tokenizer{Name: yamlpos.At[string]{Value: "o200k_base"}},
		Corpora: []spec.Corpus{{
			At:    at(3, 5, "corpora[0]"),
			ID:    text("staging", 3, 10, "corpora[0].id"),
			Path:  text(filepath.FromSlash("testdata/corpora/staging.jsonl"), 3, 25, "corpora[0].path"),
			Chunk: spec.Chunk{Tokens: yamlpos.At[int]{Value: 4800}},
		}},
		Queries: []spec.Query{{
			At:       at(5, 5, "queries[0]"),
			ID:       text("port", 5, 10, "queries[0].id"),
			Text:     text("Which port does the staging Redis listen on?", 5, 22, "queries[0].text"),
			Corpora:  []yamlpos.At[string]{text("staging", 3, 10, "corpora[0].id")},
			Evidence: []spec.Evidence{{At: at(5, 81, "queries[0].evidence[0]"), ID: text("r17", 5, 81, "queries[0].evidence[0]")}},
		}},
		Levels:   yamlpos.At[spec.Set[spec.Level]]{Value: spec.Set[spec.Level]{1}},
		L2Source: spec.Memories,
		ExitGate: yamlpos.At[spec.Set[string]]{Value: spec.Set[string]{spec.Record}},
		Trials:   1,
		Models: []spec.Model{{
			At:     at(7, 5, "models[0]"),
			ID:     text("oracle", 7, 10, "models[0].id"),
			Policy: text("oracle", 7, 26, "models[0].policy"),
		}},
		Checks: spec.Checks{Retain: "bytes", Log: "verify", Budget: yamlpos.At[spec.BudgetCheck]{Value: spec.BudgetCheck{Percentile: 95}},
			Tokenizer: yamlpos.At[spec.TokenizerCheck]{Value: spec.TokenizerCheck{MaxUndercount: 0.05}}},
		Expect: []spec.Expect{{
			At:         at(9, 5, "expect[0]"),
			Model:      text("oracle", 9, 13, "expect[0].model"),
			ChunksUsed: yamlpos.At[int]{Value: 1, Place: at(9, 34, "expect[0].chunks_used")},
		}},
	}
	want.Budget.Value = spec.Budget(prompt.Budget{}.WithDefaults())
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

// The reference spec uses every section; nothing is wrong with it.
func TestReference(t *testing.T) {
	_, err := spec.Parse("reference.yaml", read(t, "testdata/reference.yaml"))
	if err != nil {
		t.Error(err)
	}
}

// Without these parts the reference spec is valid, and all that it says arrives.
func TestFull(t *testing.T) {
	s, err := spec.Parse("dir/full.yaml", read(t, "testdata/full.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	type values struct {
		Levels, Exit, Paths, Evidence, Expect, Queries any
		Decision                                       any
		Trials                                         int
		Budget                                         spec.Budget
		Check                                          spec.BudgetCheck
		Noisy                                          []float64
	}
	noisy, hotpot := s.Models[1], s.Corpora[1]
	label := s.Queries[0].Evidence[1]
	row := s.Expect[0]
	got := values{
		Levels: s.Levels.Value, Exit: s.ExitGate.Value, Trials: s.Trials, Budget: s.Budget.Value, Check: s.Checks.Budget.Value,
		Paths: []string{hotpot.Import.Path.Value, s.Models[2].Script.Value, s.Golden[0].File.Value, s.Golden[1].Memory.Value},
		Noisy: []float64{noisy.WrongUpdate.Value, noisy.WrongExit.Value, noisy.Malformed.Value, float64(noisy.Seed.Value)},
		Evidence: []any{s.Queries[0].Evidence[0].ID.Value, label.Match.Value, label.Corpus.Value, label.All.Value,
			label.Match.Pos.String() + " " + label.Match.Path},
		Expect:  []any{row.FinalMemory.Value, row.ChunksUsed.Value, s.Expect[1].FinalMemory.Value.Text, s.Expect[1].Level.Value},
		Queries: []int{len(s.Queries[0].Corpora), len(s.Queries[1].Corpora)},
		Decision: []any{s.Decision.ID.Value, s.Decision.For.Models[0].Value, s.Decision.For.Levels.Value, s.Decision.Require[1].Metric.Value,
			s.Decision.Require[1].Threshold.Value, s.Decision.Require[1].By.Value, s.Decision.Require[1].Floor.Value,
			s.Decision.Unit.Value, s.Decision.Looks[1].Value, s.Decision.Pick.Value, s.Decision.MissingAtMost.Value, s.Compare.Baselines[0].Value, s.Compare.Metrics[0].Value, s.Compare.Unit.Value, s.Prompt.Template.Value},
	}
	want := values{
		Levels: spec.Set[spec.Level]{1, 2}, Exit: spec.Set[string]{"record", "enforce"}, Trials: 3,
		Budget:   spec.Budget{Window: 32000, Template: 500, Question: 256, Memory: 1000, Chunk: 5000, Response: 2000},
		Check:    spec.BudgetCheck{Percentile: 99, MinHeadroom: 100},
		Paths:    []string{"dir/corpora/hotpotqa.json", "dir/scripts/retain.yaml", "expected/prompt-t1.txt", "dir/memories/redis.txt"},
		Noisy:    []float64{0.1, 0.05, 0, 7},
		Evidence: []any{"r17", "listening on 6380", "staging", true, "dir/full.yaml:17:29 queries[0].evidence[1].match"},
		Expect:   []any{spec.Memory{None: true}, 0, "yes", spec.Level(2)},
		Queries:  []int{1, 3},
		Decision: []any{"M1.8", "oracle", s.Levels.Value, "exit_safe", spec.Threshold(0.9), "type", spec.Threshold(0.7), "query", 50, "each", 0.02, "noisy", "recall_strict", "session", "dir/prompts/short.txt"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

// What is shared by anchors and merged by `<<` is where it was written, also in complaints.
func TestShared(t *testing.T) {
	s, err := spec.Parse("s.yaml", read(t, "testdata/shared.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	place := func(p diag.Place) string { return p.Pos.String() + " " + p.Path }
	tuesday, noisier, row := s.Corpora[1], s.Models[1], s.Expect[1]
	got := []any{
		tuesday.ID.Value, place(tuesday.At), tuesday.Path.Value, tuesday.Chunk.Tokens.Value, place(tuesday.Chunk.Tokens.Place),
		s.Corpora[2].Chunk.Tokens.Value, place(s.Corpora[2].Chunk.Tokens.Place),
		s.Queries[1].Evidence[0].ID.Value, place(s.Queries[1].Evidence[0].At),
		noisier.Policy.Value, noisier.WrongUpdate.Value, place(noisier.WrongUpdate.Place), place(noisier.Price.Completion.Place),
		s.Models[2].Price.Prompt.Value, row.Model.Value, row.Trial.Value, row.ChunksUsed.Value, place(row.ChunksUsed.Place),
	}
	want := []any{
		"tuesday", "s.yaml:4:5 corpora[1]", "tuesday.jsonl", 500, "s.yaml:3:71 corpora[1].chunk.tokens",
		500, "s.yaml:3:71 corpora[2].chunk.tokens",
		"r17", "s.yaml:7:62 queries[1].evidence[0]",
		"noisy_oracle", 0.3, "s.yaml:17:19 models[1].wrong_update", "s.yaml:14:45 models[1].price.completion",
		0.1, "noisier", 1, 1, "s.yaml:20:38 expect[1].chunks_used",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

func TestLoadAll(t *testing.T) {
	dir := t.TempDir()
	write := func(name, experiment string) string {
		path := filepath.Join(dir, name)
		body := "experiment: " + experiment + "\ncorpora: [{id: a, path: a.jsonl}]\nqueries: [{id: q, text: Why}]\n"
		if err := os.WriteFile(path, []byte(body), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	a, b, same, bad := write("a.yaml", "one"), write("b.yaml", "two"), write("same.yaml", "ONE"), write("bad.yaml", "a/b")

	specs, err := spec.LoadAll([]string{b, a})
	if err != nil || len(specs) != 2 || specs[0].Experiment.Value != "two" {
		t.Errorf("got %v, %v", specs, err)
	}
	specs, err = spec.LoadAll([]string{bad, dir + "/none.yaml", dir, a, same})
	want := bad + `:1:13: experiment: found "a/b", want 1 to 64 letters a-z or A-Z, digits and . _ -, the first a letter or a digit
` + dir + `/none.yaml: no such file or directory
` + dir + `: is a directory, want a regular file
` + same + `:1:13: experiment: found "ONE", which is also the experiment of ` + a + `:1:13: want a name of its own (case does not count)`
	if err == nil || err.Error() != want || specs != nil {
		t.Errorf("got %v\n%v\nwant\n%s", specs, err, want)
	}
}

// Whatever is done to a spec, reading it ends in a spec or in complaints with a place.
func TestMutations(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	lines := strings.SplitAfter(string(read(t, "testdata/full.yaml")), "\n")
	for range 500 {
		mutant := append([]string(nil), lines...)
		i, j := r.IntN(len(mutant)), r.IntN(len(mutant))
		mutant[i] = strings.Replace(mutant[i], []string{":", "[", "{", "1", " "}[r.IntN(5)], []string{"", "[", "~", "1.5", "&"}[r.IntN(5)], 1)
		mutant[i], mutant[j] = mutant[j], mutant[i]
		data := strings.Join(mutant, "")
		s, err := spec.Parse("m.yaml", []byte(data))
		if (s == nil) == (err == nil) || err != nil && !strings.HasPrefix(err.Error(), "m.yaml:") {
			t.Errorf("%s\ngot %v, %v", data, s, err)
		}
	}
}

// A spec may name all vocabularies that there are counters of, bare or in a map, and no
// other. Those of OpenAI have a reference.
func TestTokenizersAreThoseThatCount(t *testing.T) {
	field, _ := reflect.TypeFor[spec.Spec]().FieldByName("Tokenizer")
	name, _ := reflect.TypeFor[spec.Tokenizer]().FieldByName("Name")
	for _, tag := range []reflect.StructTag{field.Tag, name.Tag} {
		if diff := cmp.Diff(token.Names(), strings.Split(tag.Get("enum"), ",")); diff != "" {
			t.Errorf("-counters +spec\n%s", diff)
		}
	}
	for _, name := range token.Names() {
		hasReference := name != "qwen2.5"
		_, err := spec.Parse("t.yaml", fmt.Appendf(nil, tokenized, fmt.Sprintf("{name: %s, reference: true}", name)))
		if hasReference != (err == nil) {
			t.Errorf("%s: reference %v, spec %v", name, hasReference, err)
		}
	}
}

const tokenized = `experiment: x
tokenizer: %s
corpora: [{id: a, path: a.jsonl}]
queries: [{id: q, text: "Q?"}]
`

func TestTokenizer(t *testing.T) {
	for text, want := range map[string]spec.Tokenizer{
		"qwen2.5":                               {Name: yamlpos.At[string]{Value: "qwen2.5"}},
		"{name: qwen2.5}":                       {Name: yamlpos.At[string]{Value: "qwen2.5"}},
		"{file: t/tokenizer.json}":              {File: yamlpos.At[string]{Value: "dir/t/tokenizer.json"}},
		"{name: cl100k_base, reference: true}":  {Name: yamlpos.At[string]{Value: "cl100k_base"}, Reference: yamlpos.At[bool]{Value: true}},
		"{name: cl100k_base, reference: false}": {Name: yamlpos.At[string]{Value: "cl100k_base"}},
	} {
		s, err := spec.Parse("dir/t.yaml", fmt.Appendf(nil, tokenized, text))
		if err != nil {
			t.Error(err)
			continue
		}
		if s.Tokenizer.At.Pos.String() != "dir/t.yaml:2:12" {
			t.Errorf("%s: at %v", text, s.Tokenizer.At.Pos)
		}
		if diff := cmp.Diff(want, s.Tokenizer, cmpopts.IgnoreTypes(diag.Place{})); diff != "" {
			t.Errorf("%s: -want +got\n%s", text, diff)
		}
	}
}
