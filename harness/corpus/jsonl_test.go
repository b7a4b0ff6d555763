package corpus_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/poimen-memory/mem/harness/corpus"
	"github.com/poimen-memory/mem/harness/corpus/corpustest"
	"github.com/poimen-memory/mem/harness/diag"
	"github.com/poimen-memory/mem/prompt"
)

const good = `{"role":"a","text":"x"}` + "\n"

func loadText(t *testing.T, content string) (*corpus.Session, error) {
	t.Helper()
	cfg := corpus.Config{ID: "c", Path: corpustest.WriteFile(t, "c.jsonl", content), Pack: corpus.Pack{Records: 100}, Prompts: corpustest.Builder(t, corpustest.BytesCounter{})}
	sessions, err := corpus.Load(t.Context(), cfg)
	if err != nil {
		return nil, err
	}
	return sessions[0], nil
}

func TestJSONL(t *testing.T) {
	for name, content := range map[string]string{
		"plain":              `{"role":"tool","text":"x\ny","id":"1"}` + "\n" + `{"role":"user","text":""}` + "\n",
		"no newline at end":  `{"role":"tool","text":"x\ny"}` + "\n" + `{"role":"user","text":""}`,
		"CRLF":               `{"role":"tool","text":"x\ny"}` + "\r\n" + `{"role":"user","text":""}` + "\r\n",
		"byte order mark":    "\ufeff" + `{"role":"tool","text":"x\ny"}` + "\n" + `{"role":"user","text":""}` + "\n",
		"blank lines":        "\n \t\r\n" + `{"role":"tool","text":"x\ny"}` + "\n\n" + `{"role":"user","text":""}` + "\n\n\n",
		"other fields":       `{"ts":1e9,"role":"tool","x":{"role":["}",{}],"e":{}},"text":"x\ny","n":null,"b":true}` + "\n" + `{"role":"user","text":"","content":[]}`,
		"white space":        " {\t\"role\" : \"tool\" ,\"text\":\"x\\ny\" } \n" + `{"role":"user","text":"" }`,
		"escapes in keys":    `{"r\u006fle":"tool","text":"x\u000ay"}` + "\n" + `{"\u0022}":1,"role":"user","text":""}`,
		"same text elsewere": `{"role":"tool","text":"x\ny","more":{"text":"z"}}` + "\n" + `{"role":"user","text":""}`,
	} {
		s, err := loadText(t, content)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if diff := cmp.Diff([]string{"[tool] x\ny\n\n[user] "}, corpustest.Renderings(t, s)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		if s.Name() != "c" || s.Records() != 2 {
			t.Errorf("%s: session %q of %d records", name, s.Name(), s.Records())
		}
	}
}

// A text is what its JSON says, to the byte.
func TestJSONLText(t *testing.T) {
	for raw, want := range map[string]string{
		`"\ud83d\ude42 \\ud800 \\"`:  "🙂 \\ud800 \\",
		`"\ufffd` + "\ufffd" + `"`:   "\ufffd\ufffd",
		`"a\u0000b\/\"\t\b\f\n\r\\"`: "a\x00b/\"\t\b\f\n\r\\",
		`"\u2028` + "\u2028" + `"`:   "\u2028\u2028",
	} {
		s, err := loadText(t, `{"role":"a","text":`+raw+`}`)
		if err != nil {
			t.Errorf("%s: %v", raw, err)
			continue
		}
		if diff := cmp.Diff([]string{"[a] " + want}, corpustest.Renderings(t, s)); diff != "" {
			t.Errorf("%s: %s", raw, diff)
		}
	}
}

const want = `one record a line, as {"role": "tool", "text": "…", "id": "r17"}`

func TestJSONLErrors(t *testing.T) {
	for _, c := range []struct{ name, content, want string }{
		{"empty", "", "c.jsonl: no records: want " + want},
		{"blank", "\n\n", "c.jsonl: no records: want " + want},
		{"role missing", good + `{"text":"x"}`, "2:1: role is missing: want " + want},
		{"both missing", good + ` {"content":"x","Ts":1}`, "2:2: role is missing (found content, Ts): want " + want + "\n2:2: text is missing (found content, Ts): want " + want},
		{"role of another kind", `{"role":7,"text":"x"}`, "1:9: role: found a number, want a string"},
		{"role in capitals", `{"role":"Tool","text":"x"}`, `1:9: role: found "Tool", want system, user, assistant, tool or another word of lower-case letters, digits, _ and -; did you mean "tool"?`},
		{"role of two words", `{"role":"two words","text":"x"}`, `1:9: role: found "two words", want system, user, assistant, tool or another word of lower-case letters, digits, _ and -`},
		{"text null", `{"role":"a","text":null}`, "1:20: text: found null, want a string"},
		{"text a list", `{"role":"a","text":["x"]}`, "1:20: text: found a list, want a string"},
		{"key in another case", `{"Role":"a","text":"x"}`, `1:2: role: found the key "Role", want "role"`},
		{"id in another case", `{"role":"a","text":"ü","ID":"x"}`, `1:24: id: found the key "ID", want "id"`},
		{"id a number", `{"role":"a","text":"x","id":7}`, "1:29: id: found a number, want a string"},
		{"id empty", `{"role":"a","text":"x","id":""}`, "1:29: id: is empty: want a name, or no id at all"},
		{"key twice", `{"role":"a","text":"x","text":"y"}`, "1:24: text: given twice"},
		{"id twice", `{"role":"a","text":"x","id":"r"}` + "\n\n" + `{"id":"r","role":"a","text":"x"}`, `3:7: id: "r" is the id of the record on line 1 already: want a unique one`},
		{"list at the top", "[\n" + good + "]", "1:1: found a list, want " + want + "; a published data set is imported by its format, as import: {format: hotpotqa, path: …}"},
		{"number", good + " 7", "2:2: found a number, want " + want},
		{"string", good + `"x"`, "2:1: found a string, want " + want},
		{"null", good + `null`, "2:1: found null, want " + want},
		{"garbage after the record", `{"role":"a","text":"x"} x`, "1:25: not JSON: invalid character 'x' after top-level value"},
		{"two on a line", strings.TrimSpace(good) + good, "1:24: not JSON: invalid character '{' after top-level value"},
		{"not JSON", good + `{role:"a"}`, "2:2: not JSON: invalid character 'r' looking for beginning of object key string"},
		{"cut short", good + `{"role":"a","text":"x`, "2:22: the file ends within a record: it is cut short"},
		{"cut short between", good + `{"role":"a",`, "2:13: the file ends within a record: it is cut short"},
		{"pretty-printed", "{\n\"role\": \"a\", \"text\": \"x\"}\n", "1:2: the line ends within a record: want " + want + "\n2:7: not JSON: invalid character ':' after top-level value"},
		{"invalid UTF-8", good + `{"role":"a","text":"ü` + "\xff" + `"}`, "2:22: 0xff is not UTF-8: want the whole file in UTF-8 (byte 23 of the line)"},
		{"Latin-1 in another field", `{"x":"` + "\xe4" + `b"}`, "1:7: 0xe4 is not UTF-8: want the whole file in UTF-8 (byte 7 of the line)"},
		{"half a pair", `{"role":"a","text":"\\\ud83d\u0041"}`, `1:23: \ud83d is half of a surrogate pair, which is no character`},
		{"half a pair at the end", `{"role":"a","text":"\ude42"}`, `1:21: \ude42 is half of a surrogate pair, which is no character`},
		{"control character", `{"role":"a","text":"` + "\x01" + `"}`, `1:21: not JSON: invalid character '\x01' in string literal`},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := loadText(t, c.content)
			var es diag.Errors
			if !errors.As(err, &es) {
				t.Fatalf("got %v, want a diag.Errors", err)
			}
			if diff := cmp.Diff(c.want, corpustest.Short(es)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestJSONLErrorsAllAtOnce(t *testing.T) {
	_, err := loadText(t, strings.Repeat(good+`{"text":7}`+"\n", 17))
	var es diag.Errors
	if !errors.As(err, &es) || len(es) != 21 {
		t.Fatalf("got %v, want 20 errors and a last line", err)
	}
	if got, want := corpustest.Short(es[19:]), "20:9: text: found a number, want a string\n22:9: and 14 more errors from here on"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestJSONLLongLine(t *testing.T) {
	line := func(n int) string { return `{"role":"a","text":"` + strings.Repeat("x", n-23) + `"}` + "\n" }
	s, err := loadText(t, line(16<<20))
	if err != nil || s.Records() != 1 {
		t.Fatalf("a line of 16 MiB: %v", err)
	}
	_, err = loadText(t, good+line(16<<20+1)+good+`{}`)
	var es diag.Errors
	if !errors.As(err, &es) {
		t.Fatal(err)
	}
	long := "the line is over 16 MiB, the longest that is read: split the record"
	if want := fmt.Sprintf("2:1: %s\n4:1: role is missing: want %s\n4:1: text is missing: want %[2]s", long, want); corpustest.Short(es) != want {
		t.Errorf("got  %s\nwant %s", corpustest.Short(es), want)
	}
}

// A line that is refused is not held either.
func TestJSONLLongLineIsNotHeld(t *testing.T) {
	cfg := tokens(50)
	cfg.Path, cfg.Prompts = corpustest.WriteFile(t, "c.jsonl", good), corpustest.Builder(t, corpustest.BytesCounter{})
	if err := os.Truncate(cfg.Path, 256<<20); err != nil { // with zeros up to there
		t.Fatal(err)
	}
	peak := corpustest.PeakHeld(func() {
		if _, err := corpus.Load(t.Context(), cfg); err == nil || !strings.Contains(err.Error(), "c.jsonl:2:1: the line is over 16 MiB") {
			t.Error(err)
		}
	})
	if peak > 64<<20 {
		t.Errorf("peak heap of %d MB for a line of 256 MB", peak>>20)
	}
}

func TestConfigErrors(t *testing.T) {
	prompts := corpustest.Builder(t, corpustest.BytesCounter{})
	pack := corpus.Pack{Records: 1}
	for _, c := range []struct {
		cfg  corpus.Config
		want string
	}{
		{corpus.Config{Pack: pack}, "corpus c: a prompt builder is required"},
		{corpus.Config{Prompts: prompts}, "corpus c: chunk has tokens 0 and records 0: want exactly one, above 0"},
		{corpus.Config{Prompts: prompts, Pack: corpus.Pack{Tokens: 5, Records: 5}}, "corpus c: chunk has tokens 5 and records 5: want exactly one, above 0"},
		{corpus.Config{Prompts: prompts, Pack: corpus.Pack{Tokens: 5, Records: -1}}, "corpus c: chunk has tokens 5 and records -1: want exactly one, above 0"},
		{corpus.Config{Prompts: prompts, Pack: pack, Queries: []corpus.Query{{ID: "q"}, {ID: "q"}}}, `corpus c: query "q" is given twice`},
		{corpus.Config{Prompts: prompts, Pack: pack, Queries: []corpus.Query{{ID: "q", Labels: []corpus.Label{{Pos: diag.Pos{File: "s.yaml", Line: 3, Col: 4}}}}}},
			"corpus c: s.yaml:3:4: an evidence label wants the id of a record or a text to match"},
		{corpus.Config{Prompts: prompts, Pack: pack, Path: "none.jsonl"}, "corpus c: open none.jsonl: no such file or directory"},
		{corpus.Config{Prompts: prompts, Pack: pack, Path: "."}, "corpus c: read .: is a directory, want a regular file"},
	} {
		c.cfg.ID = "c"
		if _, err := corpus.Load(t.Context(), c.cfg); err == nil || err.Error() != c.want {
			t.Errorf("got  %v\nwant %s", err, c.want)
		}
	}
}

// FuzzJSONL: whatever is read is what encoding/json reads, and nothing panics.
func FuzzJSONL(f *testing.F) {
	f.Add(good)
	f.Add(`{"role":"tool","text":"\ud83d\ude42\\u00e4\"","id":"r1","x":[{"text":"]}"},-1e9]}` + "\r\n\n" + good)
	f.Add("[" + good)
	f.Add(`{"role":"a","text":"\ud800` + "\xff")
	f.Fuzz(func(t *testing.T, content string) {
		s, err := loadText(t, content)
		if err != nil {
			return
		}
		var records []prompt.Record
		for line := range strings.Lines(strings.TrimPrefix(content, "\ufeff")) {
			if strings.TrimSpace(line) == "" {
				continue
			}
			var r corpustest.Record
			if err := json.Unmarshal([]byte(line), &r); err != nil {
				t.Fatalf("%q was read: %v", line, err)
			}
			records = append(records, prompt.Record{Role: r.Role, Text: r.Text})
		}
		var want []string
		for hundred := range slices.Chunk(records, 100) {
			want = append(want, prompt.Render(hundred...))
		}
		if diff := cmp.Diff(want, corpustest.Renderings(t, s)); diff != "" {
			t.Error(diff)
		}
	})
}
