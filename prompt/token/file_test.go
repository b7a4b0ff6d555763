package token_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/poimen-memory/mem/prompt/token"
)

func TestFilesCountAsTheReference(t *testing.T) {
	data, err := os.ReadFile("testdata/files.json")
	if err != nil {
		t.Fatal(err)
	}
	var want map[string][]int
	if err := json.Unmarshal(data, &want); err != nil {
		t.Fatal(err)
	}
	all := goldens(t)
	for _, name := range []string{"llama3.json", "gptoss.json", "qwen.json"} {
		c, err := parseFile(filepath.Join("testdata/tokenizers", name))
		if err != nil {
			t.Fatal(err)
		}
		if len(want[name]) != len(all) {
			t.Fatalf("%s: %d counts for %d texts", name, len(want[name]), len(all))
		}
		for i, g := range all {
			if got := c.Count(g.text()); got != want[name][i] {
				t.Errorf("%s: %s %.80q × %d: %d tokens, want %d", name, g.Kind, g.Text+g.Repeat, g.Times, got, want[name][i])
			}
		}
	}
}

// A token that no merge makes is one only where the model ignores merges.
func TestIgnoreMergesTakesAWholePiece(t *testing.T) {
	for name, want := range map[string]int{"llama3.json": 1, "qwen.json": 7} {
		c, err := parseFile(filepath.Join("testdata/tokenizers", name))
		if err != nil {
			t.Fatal(err)
		}
		if got := c.Count(" HTTPServer"); got != want {
			t.Errorf("%s: %d tokens, want %d", name, got, want)
		}
	}
}

// Such a token is one as a piece, but not as a part of one, whichever is counted first.
func TestIgnoreMergesTakesNoPartOfAPiece(t *testing.T) {
	path := edited(t, "llama3.json", func(f object) { f["model"].(object)["vocab"].(object)["ä¸Ń"] = 2000 }) // 中
	c, err := parseFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		for text, want := range map[string]int{"中": 1, "文文文文中文": 6 * 3} {
			if got := c.Count(text); got != want {
				t.Errorf("%s: %d tokens, want %d", text, got, want)
			}
		}
	}
}

func TestFileIsNamedByItsContent(t *testing.T) {
	c, err := parseFile("testdata/tokenizers/qwen.json")
	if err != nil {
		t.Fatal(err)
	}
	if !regexp.MustCompile(`^qwen\.json@[0-9a-f]{12}$`).MatchString(c.Name()) {
		t.Errorf("name %q: want the file's and a hash", c.Name())
	}
	other, err := parseFile("testdata/tokenizers/gptoss.json")
	if err != nil {
		t.Fatal(err)
	}
	if c.Name()[9:] == other.Name()[11:] {
		t.Errorf("%q and %q have the same hash", c.Name(), other.Name())
	}
}

// object is a node of a tokenizer.json.
type object = map[string]any

// refusals change one thing of a file that is accepted, and name what the error says.
var refusals = []struct {
	want   string
	change func(f object)
}{
	{`model type "Unigram": want BPE`, func(f object) { f["model"].(object)["type"] = "Unigram" }},
	{"byte_fallback", func(f object) { f["model"].(object)["byte_fallback"] = true }},
	{"dropout 0.1", func(f object) { f["model"].(object)["dropout"] = 0.1 }},
	{"end_of_word_suffix", func(f object) { f["model"].(object)["end_of_word_suffix"] = "</w>" }},
	{"continuing_subword_prefix", func(f object) { f["model"].(object)["continuing_subword_prefix"] = "##" }},
	{`no token "!"`, func(f object) { delete(f["model"].(object)["vocab"].(object), "!") }},
	{"byte-level alphabet", func(f object) { f["model"].(object)["vocab"].(object)["a b"] = 5000 }},
	{"has 0 bytes", func(f object) { f["model"].(object)["vocab"].(object)[""] = 5000 }},
	{"has 4097 bytes", func(f object) { f["model"].(object)["vocab"].(object)[strings.Repeat("a", 4097)] = 5000 }},
	{"have the id 5", func(f object) { f["model"].(object)["vocab"].(object)["Ġqqq"] = 5 }},
	{"ids in the order of merges", func(f object) { f["model"].(object)["vocab"].(object)["in"] = 5000 }},
	{"ids in the order of merges", func(f object) {
		merges := f["model"].(object)["merges"].([]any)
		merges[3], merges[4] = merges[4], merges[3]
	}},
	{"that make one", func(f object) { f["model"].(object)["merges"].([]any)[3] = "q q" }},
	{"want two tokens", func(f object) { f["model"].(object)["merges"].([]any)[3] = "a b c" }},
	{"merges: want a list", func(f object) { delete(f["model"].(object), "merges") }},
	{`normalizer "NFKC": want none or NFC`, func(f object) { f["normalizer"].(object)["type"] = "NFKC" }},
	{`normalizer "Sequence"`, func(f object) { f["normalizer"] = object{"type": "Sequence", "normalizers": []any{}} }},
	{"pre_tokenizer: want", func(f object) { f["pre_tokenizer"] = nil }},
	{"pre_tokenizer: want", func(f object) { f["pre_tokenizer"].(object)["type"] = "ByteLevel" }},
	{"pre_tokenizer: want", func(f object) { split(f, 0)["behavior"] = "Removed" }},
	{"pre_tokenizer: want", func(f object) { split(f, 0)["invert"] = true }},
	{"pre_tokenizer: want", func(f object) { split(f, 1)["add_prefix_space"] = true }},
	{"pre_tokenizer: want", func(f object) { split(f, 1)["use_regex"] = true }},
	{"pre_tokenizer: want", func(f object) { delete(split(f, 1), "use_regex") }},
	{`split pattern "\\p{L}+": want that of`, func(f object) { split(f, 0)["pattern"] = object{"Regex": `\p{L}+`} }},
	{`split pattern "": want that of`, func(f object) { split(f, 0)["pattern"] = object{"String": " "} }},
	{`"<|im_start|>": want one without`, func(f object) { special(f, 1)["lstrip"] = true }},
	{`"<|im_start|>": want one without`, func(f object) { special(f, 1)["rstrip"] = true }},
	{`"<|im_start|>": want one without`, func(f object) { special(f, 1)["single_word"] = true }},
	{`"<|im_start|>": want one that is not normalized`, func(f object) { special(f, 1)["normalized"] = true }},
	{"want both normalized, or neither", func(f object) { special(f, 1)["normalized"] = true; f["normalizer"] = nil }},
	{"an added token is empty", func(f object) { special(f, 1)["content"] = "" }},
}

func split(f object, i int) object {
	return f["pre_tokenizer"].(object)["pretokenizers"].([]any)[i].(object)
}

func special(f object, i int) object { return f["added_tokens"].([]any)[i].(object) }

// edited writes a tokenizer file of testdata with a change, and returns its path.
func edited(t *testing.T, name string, change func(f object)) string {
	t.Helper()
	original, err := os.ReadFile("testdata/tokenizers/" + name)
	if err != nil {
		t.Fatal(err)
	}
	var f object
	if err := json.Unmarshal(original, &f); err != nil {
		t.Fatal(err)
	}
	change(f)
	changed, err := json.Marshal(f)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "tokenizer.json")
	if err := os.WriteFile(path, changed, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestFileRefusesWhatItDoesNotScan(t *testing.T) {
	for _, r := range refusals {
		path := edited(t, "qwen.json", r.change)
		_, err := parseFile(path)
		if err == nil || !strings.Contains(err.Error(), r.want) || !strings.Contains(err.Error(), path) {
			t.Errorf("error %v: want one of %s that says %q", err, path, r.want)
		}
	}
}

func TestFileThatIsNone(t *testing.T) {
	if _, err := token.Parse("t.json", []byte("model:")); err == nil || !strings.Contains(err.Error(), "want the JSON of a tokenizer.json") {
		t.Errorf("a file that is no JSON: error %v", err)
	}
}

func TestFileWithTooManyValues(t *testing.T) {
	_, err := token.Parse("t.json", bytes.Repeat([]byte(","), 3_000_001))
	if err == nil || !strings.Contains(err.Error(), "t.json: found 3000001 commas, want at most 3000000") {
		t.Error(err)
	}
}

func parseFile(path string) (*token.Counter, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return token.Parse(path, data)
}
