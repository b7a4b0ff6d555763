package jsonpos_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/poimen-memory/mem/harness/diag"
	"github.com/poimen-memory/mem/harness/jsonpos"
)

func TestParseRefuses(t *testing.T) {
	for text, want := range map[string]string{
		`{"a": "` + "\xff" + `"}`: "7: 0xff is not UTF-8: want the whole file in UTF-8",
		`["\ud800"]`:              `2: \ud800 is half of a surrogate pair, which is no character`,
		`{"a": x}`:                "6: not JSON: invalid character 'x' looking for beginning of value",
		`{"a": 1`:                 "7: cut",
	} {
		_, f := jsonpos.Parse([]byte(text), "cut")
		if f == nil || fmt.Sprintf("%d: %s", f.At, f.Msg) != want {
			t.Errorf("%s: %+v, want %s", text, f, want)
		}
	}
}

// Offsets count from the start of the text; strings are decoded as encoding/json does.
func TestValues(t *testing.T) {
	v, f := jsonpos.Parse([]byte(`  {"k": [1, null], "s" : "\u00e4\ud83d\ude42\n"}`), "")
	if f != nil {
		t.Fatal(f)
	}
	var got []string
	for key, member := range v.Members() {
		got = append(got, fmt.Sprintf("%d %s %d %s", key.At, key.Text(), member.At, member.Kind()))
		if member.IsString() {
			got = append(got, member.Text())
			continue
		}
		for e := range member.Elements() {
			got = append(got, fmt.Sprintf("%d %s", e.At, e.Raw))
		}
	}
	if diff := cmp.Diff([]string{"3 k 8 a list", "9 1", "12 null", "19 s 25 a string", "ä🙂\n"}, got); diff != "" {
		t.Error(diff)
	}
}

func TestParserCollectsFaults(t *testing.T) {
	v, _ := jsonpos.Parse([]byte(`{"n": 1.5, "t": 7, "list": {}}`), "")
	p := jsonpos.Parser{}
	fields := p.Fields(v, "", "n", "t")
	p.Number(fields["n"], "n")
	p.Text(fields["t"], "t")
	p.List(fields["list"], "list")
	if p.Fields(v, "", "absent") != nil {
		t.Error("fields without a required one")
	}
	var got []string
	for _, f := range p.Bad {
		got = append(got, fmt.Sprintf("%d %s %s", f.At, f.Field, f.Msg))
	}
	want := []string{"6 n found 1.5, want a whole number", "16 t found a number, want a string",
		"27 list found an object, want a list", "0  absent is missing: want absent"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// Elements come with their positions, of a list in an object too, and can be read again there.
func TestItems(t *testing.T) {
	for content, file := range map[string]jsonpos.File{
		"[{\"a\": 1},\n {\"a\": 2}]":                         {},
		"{\"a\": 1}\n {\"a\": 2}":                            {},
		"{\"v\": 2, \"data\": [{\"a\": 1},\n {\"a\": 2}]}\n": {Within: "data"},
	} {
		file.Path = filepath.Join(t.TempDir(), "f.json")
		if err := os.WriteFile(file.Path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
		n := 0
		for it, err := range file.Items() {
			if err != nil {
				t.Fatal(err)
			}
			n++
			want := fmt.Sprintf(`{"a": %d}`, n)
			if string(it.Raw) != want || content[it.Offset:it.Offset+int64(len(want))] != want || it.Number != n || it.At.Line != n {
				t.Errorf("%q: item %+v, want %s on line %d", content, it, want, n)
			}
		}
		if n != 2 {
			t.Errorf("%q: %d items, want 2", content, n)
		}
	}
}

// A value a line: torn lines are items, blank lines are not, and reading goes on after a line that
// is too long.
func TestLineItems(t *testing.T) {
	long := `"` + strings.Repeat("x", 17<<20) + `"`
	content := "\ufeff{\"a\": 1}\n\n{\"a\":\n" + long + "\n 2"
	path := filepath.Join(t.TempDir(), "f.jsonl")
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
	var got []string
	for it, err := range (jsonpos.File{Path: path, Lines: true}).Items() {
		if err != nil {
			got = append(got, strings.TrimPrefix(err.Error(), path))
			continue
		}
		if at := content[it.Offset:]; !strings.HasPrefix(at, string(it.Raw)) {
			t.Errorf("item %d is not at %d", it.Number, it.Offset)
		}
		got = append(got, fmt.Sprintf("%d %d:%d %s %v", it.Number, it.At.Line, it.At.Col, it.Raw, it.Torn))
	}
	want := []string{`1 1:1 {"a": 1} false`, `2 3:1 {"a": true`, ":4:1: the line is over 16 MiB, the longest that is read: split the record", "3 5:1  2 false"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestPlaces(t *testing.T) {
	p := jsonpos.NewPlaces([]byte("ää\nb\n\nc"), diag.Pos{File: "f", Line: 3, Col: 5})
	for _, c := range []struct {
		offset int
		want   string
	}{{0, "f:3:5"}, {4, "f:3:7"}, {6, "f:4:2"}, {8, "f:6:1"}, {2, "f:3:6"}, {5, "f:4:1"}} {
		if got := p.At(c.offset).String(); got != c.want {
			t.Errorf("offset %d is at %s, want %s", c.offset, got, c.want)
		}
	}
}

func TestIsEmpty(t *testing.T) {
	for text, want := range map[string]bool{`""`: true, `[ ]`: true, `{}`: true, "null": true, "false": true, `"x"`: false, `[0]`: false, `{"a":0}`: false, "true": false, "0": false} {
		v, _ := jsonpos.Parse([]byte(text), "")
		if v.IsEmpty() != want {
			t.Errorf("%s: IsEmpty is %v, want %v", text, !want, want)
		}
	}
}
