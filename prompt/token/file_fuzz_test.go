package token_test

import (
	"encoding/json"
	"os"
	"testing"
	"unicode/utf8"

	"github.com/poimen-memory/mem/prompt/token"
)

// small is a tokenizer.json with a few merges: of many, a fuzzer changes only the middle.
func small(f *testing.F, name string) []byte {
	f.Helper()
	data, err := os.ReadFile("testdata/tokenizers/" + name)
	if err != nil {
		f.Fatal(err)
	}
	var file object
	if err := json.Unmarshal(data, &file); err != nil {
		f.Fatal(err)
	}
	model := file["model"].(object)
	merges := model["merges"].([]any)
	model["merges"] = merges[:min(4, len(merges))]
	data, err = json.Marshal(file)
	if err != nil {
		f.Fatal(err)
	}
	return data
}

// FuzzTokenizerFile: a file is refused, or counts at most a token a byte (of the text as NFC).
func FuzzTokenizerFile(f *testing.F) {
	for _, name := range []string{"llama3.json", "gptoss.json", "qwen.json"} {
		f.Add(small(f, name), "Redis listens on port 6380.")
	}
	f.Add([]byte(`{"model":{"type":"BPE","vocab":{},"merges":[["a","b"]]},"added_tokens":[{"content":"a"}]}`), "a b")
	f.Fuzz(func(t *testing.T, data []byte, text string) {
		c, err := token.Parse("t.json", data)
		if err != nil || !utf8.ValidString(text) {
			return
		}
		if n := c.Count(text); n < 0 || n > 3*len(text) || (n == 0) != (text == "") {
			t.Errorf("%d tokens of %d bytes", n, len(text))
		}
	})
}
