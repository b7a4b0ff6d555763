package spec_test

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"gopkg.in/yaml.v3"

	"github.com/poimen-memory/mem/harness/spec"
)

const (
	experiments = "../../experiments/"
	modeline    = "# yaml-language-server: $schema=schema.json\n"
)

// An editor shows a description of every key.
func TestSchemaExplainsEverything(t *testing.T) {
	var root struct {
		definition
		Defs map[string]definition `json:"$defs"`
	}
	if err := json.Unmarshal(spec.Schema(), &root); err != nil {
		t.Fatal(err)
	}
	root.Defs["Spec"] = root.definition
	for name, d := range root.Defs {
		if d.Description == "" {
			t.Errorf("%s has no description", name)
		}
		for key, p := range d.Properties {
			if p.Description == "" && root.Defs[strings.TrimPrefix(p.Ref, "#/$defs/")].Description == "" {
				t.Errorf("%s.%s has no description", name, key)
			}
		}
	}
	if got := root.Properties["levels"].Default; !cmp.Equal(got, any([]any{"L1"})) {
		t.Errorf("default of levels is %v", got)
	}
	if got := root.Defs["Budget"].Properties["window"].Default; got != 32768.0 {
		t.Errorf("default of budget.window is %v", got)
	}
}

type definition struct {
	Description string
	Properties  map[string]struct {
		Description string
		Ref         string `json:"$ref"`
		Default     any
	}
}

// The schema takes every spec that the parser takes.
func TestSchemaTakesSpecs(t *testing.T) {
	examples, err := filepath.Glob(experiments + "*.yaml")
	if err != nil || len(examples) < 5 {
		t.Fatal(examples, err)
	}
	schema := compiled(t)
	for _, path := range append(examples, "testdata/first.yaml", "testdata/full.yaml", "testdata/shared.yaml", "testdata/live.yaml") {
		if err := validate(schema, read(t, path)); err != nil {
			t.Errorf("%s: %v", path, err)
		}
	}
	for _, path := range examples {
		if !bytes.HasPrefix(read(t, path), []byte(modeline)) {
			t.Errorf("%s does not begin with the line by which editors find its schema: %s", path, modeline)
		}
	}
}

// What the schema refuses, the parser refuses too: all wrong specs are refused by the
// parser, and any that the schema takes has to be known here, with the reason.
func TestSchemaRefusesWhatItCan(t *testing.T) {
	beyond := map[string]string{
		"budget-over-window":               "a sum",
		"corpus-path-backslash":            "a text's meaning",
		"corpus-path-variable":             "a text's meaning",
		"compare-baselines":                "references",
		"compare-with-nobody":              "references",
		"decision-on-enforced":             "fields that need each other",
		"decision-one-metric-twice":        "not YAML that a library would read",
		"decision-subjects":                "references",
		"prompt-variable":                  "a text's meaning",
		"evidence-all-without-match":       "fields that need each other",
		"evidence-corpus-not-asked":        "a reference",
		"evidence-corpus-unknown":          "a reference",
		"expect-nothing":                   "one of several",
		"expect-selectors":                 "references",
		"golden-answer-without-one":        "fields that need each other",
		"golden-file-twice":                "two paths to one file",
		"golden-memory-at-first-turn":      "fields that exclude each other",
		"golden-no-memory-later":           "fields that need each other",
		"golden-is-the-ledger":             "a name in any case, as of the ledger",
		"golden-references":                "references",
		"id-final-dot":                     "names of folders on Windows",
		"id-twice":                         "ids that are new",
		"id-twice-by-merge":                "ids that are new",
		"id-windows-device":                "names of folders on Windows",
		"import-sample-of-joined":          "a reference",
		"import-sample-of-one-session":     "a reference",
		"import-without-queries":           "what a format is",
		"key-duplicate":                    "not YAML that a library would read",
		"level-2-alone":                    "fields that need each other",
		"level-2-of-enforced":              "fields that need each other",
		"live-command-with-a-key":          "fields that exclude each other",
		"live-timeout-of-nothing":          "a text's meaning",
		"live-with-a-key-for-a-variable":   "a text's meaning",
		"live-with-a-key-in-the-url":       "a text's meaning",
		"live-with-a-query":                "a text's meaning",
		"live-without-a-model":             "fields that need each other",
		"live-without-a-scheme":            "a text's meaning",
		"merged-into-two":                  "references",
		"merged-nothing":                   "not YAML that a library would read",
		"model-noise-without-noisy-oracle": "fields that need each other",
		"model-script-variable":            "a text's meaning",
		"queries-missing":                  "fields that need each other",
		"models-none":                      "a reference",
		"query-corpus-unknown":             "a reference",
		"query-sample-of-no-import":        "a reference",
		"synth-from-labels-missing":        "fields that need each other",
		"synth-from-labels-too-many":       "fields that exclude each other",
		"synth-from-of-another-task":       "fields that need each other",
		"synth-from-path-variable":         "a text's meaning",
		"synth-qa-needles":                 "fields that exclude each other",
		"synth-qa-without-from":            "fields that need each other",
		"tokenizer-file-backslash":         "a text's meaning",
		"tokenizer-reference-of-file":      "fields that exclude each other",
		"tokenizer-reference-of-qwen":      "fields that exclude each other",
		"trials-float":                     "1.0 is an integer to a schema",
		"variant-budget":                   "a sum",
		"variant-models-twice":             "references",
		"variant-response":                 "fields that need each other",
		"variant-same":                     "variants that differ",
		"variant-twice":                    "ids that are new",
		"variant-unknown":                  "references",
		"variant-without-variants":         "a reference",
		"syntax":                           "not YAML",
	}
	schema, taken := compiled(t), []string(nil)
	_, list := wrongs(t)
	for _, w := range list {
		if validate(schema, []byte(w.data)) == nil {
			taken = append(taken, strings.TrimSuffix(w.name, ".yaml"))
		}
	}
	slices.Sort(taken)
	for _, name := range taken {
		if beyond[name] == "" {
			t.Errorf("the schema takes %s", name)
		}
		delete(beyond, name)
	}
	for name := range beyond {
		t.Errorf("the schema refuses %s, which is said to be beyond it", name)
	}
}

// Whatever is done to a valid spec, what the schema refuses the
// parser refuses.
func TestSchemaIsNoStricter(t *testing.T) {
	words := []string{"1", "1.0", "-1", `""`, "~", "yes", "true", "[]", "{}", "a/b", "L1", "1e3", "0x10", "+1.5h", ".5s"}
	schema, values := compiled(t), 0
	for _, file := range []string{"testdata/full.yaml", "testdata/live.yaml"} {
		for _, mutant := range mutants(string(read(t, file)), words) {
			_, err := spec.Parse("m.yaml", []byte(mutant))
			if refused := validate(schema, []byte(mutant)); refused != nil && err == nil {
				t.Errorf("the parser takes what the schema refuses: %v\n%s", refused, mutant)
			}
			values++
		}
	}
	if values < 1000 {
		t.Errorf("only %d mutants", values)
	}
}

// mutants are a spec with each word in place of each value.
func mutants(valid string, words []string) (list []string) {
	for at, r := range valid {
		if r != ':' {
			continue
		}
		end := at + 1 + strings.IndexAny(valid[at+1:], ",}\n")
		for _, w := range words {
			list = append(list, valid[:at+1]+" "+w+valid[end:])
		}
	}
	return list
}

// validate is the schema's complaint about a spec. Text that is not YAML is beyond it.
func validate(s *jsonschema.Schema, data []byte) error {
	var instance any
	if yaml.Unmarshal(data, &instance) != nil {
		return nil
	}
	return s.Validate(instance)
}

func compiled(t *testing.T) *jsonschema.Schema {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(spec.Schema()))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft4) // the schema has to name its own
	if err := c.AddResource("schema.json", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("schema.json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}
