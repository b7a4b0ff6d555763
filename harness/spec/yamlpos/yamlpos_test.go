package yamlpos_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/poimen-memory/mem/harness/diag"
	"github.com/poimen-memory/mem/harness/spec/yamlpos"
)

// menu has a field of every shape that Decode knows.
type menu struct {
	Name   string                      `yaml:"name" min:"1"`
	Check  string                      `yaml:"check"`
	Count  int                         `yaml:"count" min:"1"`
	Rate   *float64                    `yaml:"rate" min:"0" max:"1"`
	Ratio  float64                     `yaml:"ratio"`
	On     bool                        `yaml:"on"`
	Tiny   int8                        `yaml:"tiny"`
	Tags   []yamlpos.At[string]        `yaml:"tags" min:"1"`
	Levels []string                    `yaml:"levels" enum:"L1,L2"`
	Kind   yamlpos.At[string]          `yaml:"kind" enum:"oracle,noisy_oracle,lexical"`
	Dishes []dish                      `yaml:"dishes"`
	Labels []label                     `yaml:"labels"`
	Memory yamlpos.At[optional]        `yaml:"memory"`
	Aside  map[string]chan interface{} // no tag: not a key
}

type dish struct {
	At    diag.Place `yaml:",pos"`
	Line  diag.Pos   `yaml:",pos"`
	ID    string     `yaml:"id,required"`
	Price int        `yaml:"price" max:"99"`
	Sides []dish     `yaml:"sides"`
}

// label is a union: `r17` or {match: TEXT}.
type label struct {
	ID    string
	Match string
}

func (l *label) DecodeYAML(n yamlpos.Node) {
	switch n.Kind() {
	case yamlpos.Text:
		l.ID = n.Text()
	case yamlpos.Map:
		var m struct {
			Match string `yaml:"match,required"`
		}
		n.Decode(&m)
		l.Match = m.Match
	default:
		n.Want("an id or {match: TEXT}")
	}
}

// optional is text or null.
type optional struct {
	Null bool
	Text string
}

func (o *optional) DecodeYAML(n yamlpos.Node) {
	if o.Null = n.Kind() == yamlpos.Null; !o.Null {
		n.Decode(&o.Text)
	}
}

func decode(s string) (menu, string) {
	var m menu
	if err := yamlpos.Decode("m.yaml", []byte(s), &m); err != nil {
		return m, err.Error()
	}
	return m, ""
}

func TestErrors(t *testing.T) {
	deep := strings.Repeat("[", 70) + strings.Repeat("]", 70)
	for _, tc := range []struct{ name, in, want string }{
		{"unknown key, near", "nmae: x\n", `m.yaml:1:1: found unknown key "nmae", want one of name, check, count, rate, ratio, on, tiny, tags, levels, kind, dishes, labels, memory; did you mean "name"?`},
		{"unknown key, far", "dishes:\n  - {id: a, wholly-other: 1}\n", `m.yaml:2:13: dishes[0]: found unknown key "wholly-other", want one of id, price, sides`},
		{"duplicate key", "name: a\ncount: 1\nname: b\n", `m.yaml:3:1: found the key "name" twice, first on line 1`},
		{"duplicate key where no type leads", "what: [{a: 1, a: 2}]\n", "m.yaml:1:1: found unknown key \"what\", want one of name, check, count, rate, ratio, on, tiny, tags, levels, kind, dishes, labels, memory\nm.yaml:1:15: what[0]: found the key \"a\" twice, first on line 1"},
		{"missing key", "dishes:\n- id: a\n- price: 3\n", `m.yaml:3:3: dishes[1]: "id" is missing`},
		{"fraction for whole", "count: 3.7\n", `m.yaml:1:8: count: found 3.7, want a whole number of at least 1`},
		{"whole float for whole", "tiny: 3.0\n", `m.yaml:1:7: tiny: found 3.0, want a whole number`},
		{"quoted number", "count: \"3\"\n", `m.yaml:1:8: count: found "3", want a whole number of at least 1, without quotes`},
		{"underscores", "tiny: 1_0\n", `m.yaml:1:7: tiny: found "1_0", want a whole number`},
		{"too small", "count: 0\n", `m.yaml:1:8: count: found 0, want a whole number of at least 1`},
		{"too large", "dishes: [{id: a, price: 100}]\n", `m.yaml:1:25: dishes[0].price: found 100, want a whole number of at most 99`},
		{"overflow", "tiny: 128\n", `m.yaml:1:7: tiny: found 128, want a whole number`},
		{"overflow of 64 bits", "count: 9223372036854775808\n", `m.yaml:1:8: count: found 9223372036854775808, want a whole number of at least 1 that fits 64 bits`},
		{"rate out of range", "rate: 1.5\n", `m.yaml:1:7: rate: found 1.5, want a number from 0 to 1`},
		{"not a number", "rate: .nan\n", `m.yaml:1:7: rate: found .nan, want a finite number from 0 to 1`},
		{"infinity", "ratio: -.inf\n", `m.yaml:1:8: ratio: found -.inf, want a finite number`},
		{"beyond float64", "ratio: 1e999\n", `m.yaml:1:8: ratio: found 1e999, want a finite number`},
		{"integer beyond 64 bits for a fraction", "ratio: 99999999999999999999\n", `m.yaml:1:8: ratio: found 99999999999999999999, want a finite number`},
		{"not quite a number", "tiny: 0o8\n", `m.yaml:1:7: tiny: found "0o8", want a whole number`},
		{"quoted fraction", "ratio: '.5'\n", `m.yaml:1:8: ratio: found ".5", want a number, without quotes`},
		{"number for text", "name: 6380\n", `m.yaml:1:7: name: found 6380, want text: put it in quotes, "6380"`},
		{"bool for text", "name: true\n", `m.yaml:1:7: name: found true, want text: put it in quotes, "true"`},
		{"yes for bool", "on: yes\n", `m.yaml:1:5: on: found "yes", want true or false`},
		{"blank text", "name: '  '\n", `m.yaml:1:7: name: found "  ", want text that is not blank`},
		{"list for text", "name: [a]\n", `m.yaml:1:7: name: found a list, want text`},
		{"text for list", "tags: a\n", `m.yaml:1:7: tags: found "a", want a list: ["a"]`},
		{"list for map", "dishes: [[a]]\n", `m.yaml:1:10: dishes[0]: found a list, want a map of id, price, sides`},
		{"list for document", "- a\n", `m.yaml:1:1: found a list, want a map of name, check, count, rate, ratio, on, tiny, tags, levels, kind, dishes, labels, memory`},
		{"empty list", "tags: []\n", `m.yaml:1:7: tags: found a list of 0, want a list of at least 1`},
		{"null for list", "dishes:\nname: a\n", `m.yaml:1:8: dishes: found nothing, want a list`},
		{"null for text", "name: ~\n", `m.yaml:1:7: name: found nothing, want text`},
		{"null for number", "rate: null\n", `m.yaml:1:7: rate: found nothing, want a number from 0 to 1`},
		{"null element", "tags:\n  - a\n  -\n", `m.yaml:3:4: tags[1]: found nothing, want text`},
		{"enum, transposed", "kind: orcale\n", `m.yaml:1:7: kind: found "orcale", want one of oracle, noisy_oracle, lexical; did you mean "oracle"?`},
		{"enum of elements, case", "levels: [L1, l2]\n", `m.yaml:1:14: levels[1]: found "l2", want one of L1, L2; did you mean "L2"?`},
		{"enum, cut short", "kind: noisy\n", `m.yaml:1:7: kind: found "noisy", want one of oracle, noisy_oracle, lexical; did you mean "noisy_oracle"?`},
		{"enum, number", "levels: [1]\n", `m.yaml:1:10: levels[0]: found 1, want one of L1, L2`},
		{"enum, null", "kind:\n", `m.yaml:1:6: kind: found nothing, want one of oracle, noisy_oracle, lexical`},
		{"union, wrong kind", "labels: [a, 3]\n", `m.yaml:1:13: labels[1]: found 3, want an id or {match: TEXT}`},
		{"union, wrong inside", "labels:\n  - {mtch: a}\n", "m.yaml:2:6: labels[0]: found unknown key \"mtch\", want \"match\"; did you mean \"match\"?"},
		{"column counts characters", "tags: [é, 'ü€', 3]\n", `m.yaml:1:17: tags[2]: found 3, want text: put it in quotes, "3"`},
		{"byte order mark", "\ufeffname: 3\n", `m.yaml:1:7: name: found 3, want text: put it in quotes, "3"`},
		{"CRLF", "name: a\r\ncount: x\r\n", `m.yaml:2:8: count: found "x", want a whole number of at least 1`},
		{"long and hostile text", "on: \"\\e[31m" + strings.Repeat("x", 99) + "\"\n", `m.yaml:1:5: on: found "\x1b[31m` + strings.Repeat("x", 42) + `…", want true or false`},

		{"number as key", "dishes: [{id: a, 1: b}]\n", `m.yaml:1:18: dishes[0]: found 1, want a key that is text`},
		{"list as key", "? [a]\n: b\n", `m.yaml:1:3: found a list, want a key that is text`},
		{"tag", "name: !secret x\n", `m.yaml:1:7: name: found the tag "!secret": tags are not used here, remove it`},
		{"standard tag", "name: !!str 3\n", "m.yaml:1:7: name: found the tag \"!!str\": tags are not used here, remove it\nm.yaml:1:7: name: found 3, want text: put it in quotes, \"3\""},
		{"tag on key", "!x name: a\n", `m.yaml:1:1: found the tag "!x": tags are not used here, remove it`},
		{"too deep", "tags: " + deep + "\n", "m.yaml:1:71: tags" + strings.Repeat("[0]", 64) + ": found values nested deeper than 64"},
		{"anchor in itself", "tags: &a [x, *a]\n", `m.yaml:1:14: tags[1]: the anchor "a" contains itself`},
		{"anchor in itself through a merge", "dishes:\n- &a\n  id: x\n  <<: *a\n", `m.yaml:4:7: dishes[0].<<: the anchor "a" contains itself`},
		{"alias bomb", bomb(), `m.yaml:4:84: d[19]: aliases expand to more than 100000 values`},
		{"merge of text", "dishes:\n- <<: x\n  id: a\n", `m.yaml:2:7: dishes[0].<<: found "x", want a map to merge, or a list of maps`},
		{"merge of list in list", "dishes:\n- <<: [[]]\n  id: a\n", `m.yaml:2:8: dishes[0].<<[0]: found a list, want a map to merge`},
		{"wrong value in merged map, once", "dishes:\n- &d {id: a, price: x}\n- {<<: *d, id: b}\n- {<<: *d, id: c}\n", `m.yaml:2:21: dishes[0].price: found "x", want a whole number of at most 99`},

		{"empty", "", `m.yaml:1:1: found an empty file, want a map`},
		{"blank", " \n\n", `m.yaml:1:1: found an empty file, want a map`},
		{"only a byte order mark", "\ufeff", `m.yaml:1:1: found an empty file, want a map`},
		{"only comments", "# nothing\n", `m.yaml:1:1: found only comments, want a map`},
		{"only a document mark", "---\n", `m.yaml:2:1: found nothing, want a map of name, check, count, rate, ratio, on, tiny, tags, levels, kind, dishes, labels, memory`},
		{"second document", "name: 3\n--- # more\nname: b\n", "m.yaml:1:7: name: found 3, want text: put it in quotes, \"3\"\nm.yaml:2:1: found a second document, want one document a file"},
		{"invalid UTF-8", "name: a\ncheck: é\xff\n", `m.yaml:2:9: found the byte 0xff, which is not valid UTF-8`},
		{"UTF-16", "\xff\xfen\x00", `m.yaml:1:1: found UTF-16, want UTF-8`},
		{"all at once, in order", "count: x\nkind: orakle\nname: 1\n", "m.yaml:1:8: count: found \"x\", want a whole number of at least 1\nm.yaml:2:7: kind: found \"orakle\", want one of oracle, noisy_oracle, lexical; did you mean \"oracle\"?\nm.yaml:3:7: name: found 1, want text: put it in quotes, \"1\""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, got := decode(tc.in)
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
}

// bomb expands fourfold with each of its levels.
func bomb() string {
	s := "a: &a [x, x, x, x, x, x, x, x, x, x]\n"
	for i, name := range []string{"b", "c", "d", "e"} {
		from := string("abcd"[i])
		s += name + ": &" + name + " [" + strings.TrimSuffix(strings.Repeat("*"+from+", ", 20), ", ") + "]\n"
	}
	return s
}

// Every complaint of the library gets the place where a writer would look, on the first
// line and on a later one.
func TestSyntaxErrors(t *testing.T) {
	for _, tc := range []struct{ in, at, want string }{
		{"a:\n\tb: 1\n", "2:1", "found a tab in the indentation, want spaces"},
		{"a:\n  b: 1\n\tc: 2\n", "3:1", "found a tab in the indentation, want spaces"},
		{"a: |\n\tx\n", "2:1", "found a tab in the indentation, want spaces"},
		{"a: \"unclosed\nb: 2\nc: 3\n", "1:4", "found a quote that is not closed"},
		{"a: x\nb: 'unclosed\nc: 3\n", "2:4", "found a quote that is not closed"},
		{"a: [1, 2\nb: 3\nc: 4\n", "1:4", `found a list that is not closed, or text in it that needs quotes (for a "?", say): want "," or "]"`},
		{"a: {x: 1\nb: 3\n", "1:4", `found a map that is not closed, or text in it that needs quotes (for a "?", say): want "," or "}"`},
		{"a: {x: Who?}\n", "1:4", `found a map that is not closed, or text in it that needs quotes (for a "?", say): want "," or "}"`},
		{"a: what: now\nc: 3\n", "1:8", `found ":" where no key can be: put text that contains ": " in quotes, or check the indentation`},
		{"a: 1\n  b: 2\nc: 3\n", "2:4", `found ":" where no key can be: put text that contains ": " in quotes, or check the indentation`},
		{"a: 1\nb: *nope\nc: 1\n", "2:4", "found the alias *nope, but no anchor &nope before it"},
		{"a: @x\n", "1:4", `found "@" at the start of a value: put the text in quotes`},
		{"a: 'x' y\nb: 2\n", "1:8", "found something that is no key of this map: check the indentation, and quotes within the text"},
		{"a: 1\n- 2\nc: 3\n", "2:1", "found something that is no key of this map: check the indentation, and quotes within the text"},
		{"a:\n  - b\n c: 1\nd: 1\n", "3:2", "found something that is no key of this map: check the indentation, and quotes within the text"},
		{"- 1\nb: 2\n", "2:1", `found something that is no "- " element of this list: check the indentation`},
		{"a: 1\nb\nc: 2\n", "2:1", "not valid YAML: could not find expected ':'"},
		{"a: ]\nb: 1\n", "1:4", "not valid YAML: did not find expected node content"},
		{"a: é\x01\n", "1:5", "not valid YAML: control characters are not allowed"},
		{"a: \"\\q\"\nb: 1\n", "1:5", "not valid YAML: found unknown escape character"},
		{"a: 1\n--- @\n", "2:5", `found "@" at the start of a value: put the text in quotes`},
	} {
		for _, pad := range []int{0, 7} {
			_, got := decode(strings.Repeat("# é\n", pad) + tc.in)
			var line, col int
			fmt.Sscanf(tc.at, "%d:%d", &line, &col)
			want := fmt.Sprintf("m.yaml:%d:%d: %s", line+pad, col, tc.want)
			if got != want {
				t.Errorf("%q after %d lines\n got %s\nwant %s", tc.in, pad, got, want)
			}
		}
	}
}

func TestValues(t *testing.T) {
	got, msg := decode("\ufeff" + `# a comment
name: 2024-01-01
check: yes
count: 010
rate: 1
ratio: 1e-3
on: True
tiny: -0
tags: [no, "3", 'on', 1_000, 0b1, <<]
kind: lexical
labels: [r17, {match: "a: b"}]
memory: ~
dishes:
  - &soup {id: soup, price: 0x10}
  - {<<: *soup, id: broth}
  - <<: [*soup, {sides: [{id: bread}]}]
  - *soup
...
`)
	if msg != "" {
		t.Fatal(msg)
	}
	at := func(line, col int, path string) diag.Place {
		return diag.Place{Pos: diag.Pos{File: "m.yaml", Line: line, Col: col}, Path: path}
	}
	tag := func(s string, col, i int) yamlpos.At[string] {
		return yamlpos.At[string]{Value: s, Place: at(9, col, fmt.Sprintf("tags[%d]", i))}
	}
	plate := func(line, col int, path, id string, price int, sides ...dish) dish {
		p := at(line, col, path)
		return dish{At: p, Line: p.Pos, ID: id, Price: price, Sides: sides}
	}
	one := 1.0
	want := menu{
		Name: "2024-01-01", Check: "yes", Count: 10, Rate: &one, Ratio: 1e-3, On: true,
		Tags:   []yamlpos.At[string]{tag("no", 8, 0), tag("3", 12, 1), tag("on", 17, 2), tag("1_000", 23, 3), tag("0b1", 30, 4), tag("<<", 35, 5)},
		Kind:   yamlpos.At[string]{Value: "lexical", Place: at(10, 7, "kind")},
		Labels: []label{{ID: "r17"}, {Match: "a: b"}},
		Memory: yamlpos.At[optional]{Value: optional{Null: true}, Place: at(12, 9, "memory")},
		Dishes: []dish{
			plate(14, 5, "dishes[0]", "soup", 16),
			plate(15, 5, "dishes[1]", "broth", 16),
			plate(16, 5, "dishes[2]", "soup", 16, plate(16, 26, "dishes[2].sides[0]", "bread", 0)),
			plate(14, 5, "dishes[3]", "soup", 16),
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

// An absent key leaves the default; so does a wrong value, which must not start a second
// complaint further on.
func TestDefaults(t *testing.T) {
	m := menu{Name: "default", Count: 7}
	err := yamlpos.Decode("m.yaml", []byte("count: many\ncheck: x\n"), &m)
	if m.Name != "default" || m.Count != 7 || m.Check != "x" || err == nil {
		t.Errorf("got %+v, %v", m, err)
	}
	if m.Kind.Present() || m.Rate != nil {
		t.Errorf("absent fields are present: %+v", m)
	}
}

// Reading must end, quickly and without a panic, whatever the file; and every complaint
// must point into the file.
func TestMutations(t *testing.T) {
	base := []byte("name: a\ndishes:\n  - &s {id: \"soup\", price: 3}\n  - {<<: *s, id: 'b'}\ntags: [a, |x, é]\ncheck: |\n  text\n   more\n")
	const bytes = "\t\n\r :-[]{}&*!|>'\"%@`#,?\x00\xff<a1~."
	r := rand.New(rand.NewPCG(1, 2))
	for range 1000 {
		data := append([]byte(nil), base...)
		for range 1 + r.IntN(3) {
			i := r.IntN(len(data))
			data[i] = bytes[r.IntN(len(bytes))]
		}
		check(t, data)
	}
}

func check(t *testing.T, data []byte) {
	t.Helper()
	var m menu
	var all diag.Errors
	if !errors.As(yamlpos.Decode("m.yaml", data, &m), &all) {
		return
	}
	lines := strings.Split(strings.ReplaceAll(string(data), "\r", "\n"), "\n")
	for _, e := range all {
		if e.Pos.Line < 1 || e.Pos.Line > len(lines) || e.Pos.Col < 1 || e.Msg == "" {
			t.Errorf("%q: no such place: %v", data, e)
		}
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte("name: a\ndishes:\n  - &s {id: \"soup\", price: 3}\n  - {<<: *s, id: 'b'}\n"))
	for _, seed := range []string{"---", "---\n", "--- ", "a: b\n---", "--- #", "\ufeff---", "a: &b [*b]", "<<: a", "a: !!binary x", "\"\\x\""} {
		f.Add([]byte(seed))
	}
	f.Add([]byte("? [a]\n: !x *b\n--- |\n x\n"))
	f.Fuzz(func(t *testing.T, data []byte) { check(t, data) })
}

func Example() {
	type Model struct {
		ID     yamlpos.At[string] `yaml:"id,required" min:"1"`
		Policy string             `yaml:"policy" enum:"oracle,noisy_oracle,lexical"`
	}
	spec := struct {
		Trials int     `yaml:"trials" min:"1"`
		Models []Model `yaml:"models"`
	}{Trials: 1} // the default

	err := yamlpos.Decode("spec.yaml", []byte("models:\n  - {id: m, policy: oracle}\n"), &spec)
	fmt.Println(err, spec.Trials, spec.Models[0].ID.Pos)

	err = yamlpos.Decode("spec.yaml", []byte("trials: 3.7\nmodels:\n  - {id: m, policy: orcale}\n  - {idd: n}\n"), &spec)
	fmt.Println(err)
	// Output:
	// <nil> 1 spec.yaml:2:10
	// spec.yaml:1:9: trials: found 3.7, want a whole number of at least 1
	// spec.yaml:3:21: models[0].policy: found "orcale", want one of oracle, noisy_oracle, lexical; did you mean "oracle"?
	// spec.yaml:4:6: models[1]: found unknown key "idd", want one of id, policy; did you mean "id"?
}
