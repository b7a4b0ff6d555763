package token_test

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
	"unicode"

	"github.com/poimen-memory/mem/prompt/token"
)

// scanned lists the vocabularies that golden.jsonl has counts of.
func scanned() []string { return []string{"cl100k_base", "o200k_base", "qwen2.5"} }

func counter(t testing.TB, name string) *token.Counter {
	t.Helper()
	c, err := token.New(name)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// golden is a line of testdata/golden.jsonl: a text, or a unit and how often it is
// repeated, with the counts that reference tokenizers gave.
type golden struct {
	Kind   string
	Text   string
	Repeat string
	Times  int
	CL100K int `json:"cl100k_base"`
	O200K  int `json:"o200k_base"`
	Qwen   int `json:"qwen2.5"`
}

func (g golden) text() string { return g.Text + strings.Repeat(g.Repeat, g.Times) }

func (g golden) want() map[string]int {
	return map[string]int{"cl100k_base": g.CL100K, "o200k_base": g.O200K, "qwen2.5": g.Qwen}
}

func goldens(t testing.TB) []golden {
	t.Helper()
	f, err := os.Open("testdata/golden.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var all []golden
	for d := json.NewDecoder(f); d.More(); {
		var g golden
		if err := d.Decode(&g); err != nil {
			t.Fatal(err)
		}
		all = append(all, g)
	}
	return all
}

// read is the text of a sample.
func read(t testing.TB, kind string) string {
	t.Helper()
	text, err := os.ReadFile("testdata/samples/" + kind + ".txt")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestCountsAreThoseOfTheReferences(t *testing.T) {
	all := goldens(t)
	if len(all) < 4000 {
		t.Fatalf("%d golden counts: want at least 4000", len(all))
	}
	for _, name := range scanned() {
		c, wrong := counter(t, name), 0
		for _, g := range all {
			if got, want := c.Count(g.text()), g.want()[name]; got != want {
				wrong++
				t.Logf("%s: %s %.80q × %d: %d tokens, want %d", name, g.Kind, g.Text+g.Repeat, g.Times, got, want)
			}
		}
		if wrong > 0 {
			t.Errorf("%s: %d of %d counts differ", name, wrong, len(all))
		}
	}
}

var long = flag.Bool("long", false, "count every code point and whole megabytes, for minutes")

// Every assigned code point, in 30 surroundings that tell the classes of the patterns
// and the normal forms apart. Of ideographs, Hangul and private use, which are alike, it is
// every 32nd block unless -long is given.
func TestEveryCodePointCountsAsInTheReferences(t *testing.T) {
	if testing.Short() {
		t.Skip("slow")
	}
	f, err := os.Open("testdata/codepoints.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Scan()
	var probe string
	if err := json.Unmarshal(lines.Bytes()[2:], &probe); err != nil {
		t.Fatal(err)
	}
	for n := 0; lines.Scan(); n++ {
		var block rune
		var want [3]int
		if _, err := fmt.Sscanf(lines.Text(), "%x %d %d %d", &block, &want[0], &want[1], &want[2]); err != nil {
			t.Fatal(err)
		}
		if !*long && n%32 != 0 && unicode.In(block, unicode.Han, unicode.Hangul, unicode.Co) {
			continue
		}
		text := probes(probe, block)
		for i, name := range scanned() {
			if got := counter(t, name).Count(text); got != want[i] {
				t.Errorf("%s: U+%04X to U+%04X: %d tokens, want %d", name, block, block+63, got, want[i])
			}
		}
	}
}

// probes puts each of 64 code points into the probe; a surrogate is no text.
func probes(probe string, block rune) string {
	var b strings.Builder
	for r := block; r < block+64; r++ {
		if r < 0xD800 || r > 0xDFFF {
			b.WriteString(strings.ReplaceAll(probe, "@", string(r)))
		}
	}
	return b.String()
}
