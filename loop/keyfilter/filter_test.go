package keyfilter_test

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"net/url"
	"strings"
	"testing"

	"github.com/poimen-memory/mem/loop/keyfilter"
)

// awkward has a character of each sort that some encoding escapes.
const (
	plain   = "sk-live_0123456789abcdef"
	awkward = `a"b\c/d&e<f>g'h+i=j%k~l`
)

func filter(keys ...string) *keyfilter.Filter {
	var f keyfilter.Filter
	for _, k := range keys {
		f.Add(k)
	}
	return &f
}

// percent escapes every byte as in a URL.
func percent(key string) string {
	var b strings.Builder
	for i := range len(key) {
		fmt.Fprintf(&b, "%%%02X", key[i])
	}
	return b.String()
}

func unicodes(key string) string {
	var b strings.Builder
	for i := range len(key) {
		fmt.Fprintf(&b, `\u%04x`, key[i])
	}
	return b.String()
}

func encodings(key string) map[string]string {
	quoted, err := json.Marshal(key)
	if err != nil {
		panic(err)
	}
	bare := strings.NewReplacer(`\`, `\\`, `"`, `\"`, "/", `\/`).Replace(key)
	return map[string]string{
		"raw": key, "JSON": string(quoted[1 : len(quoted)-1]), "JSON without HTML's": bare, "JSON by number": unicodes(key),
		"query": url.QueryEscape(key), "path": url.PathEscape(key), "every byte": percent(key), "lower case": strings.ToLower(percent("K" + key)[3:]),
		"HTML": html.EscapeString(key), "Go": strings.Trim(fmt.Sprintf("%q", key), `"`),
		"hex": hex.EncodeToString([]byte(key)), "upper hex": strings.ToUpper(hex.EncodeToString([]byte(key))),
		"base64": base64.StdEncoding.EncodeToString([]byte(key)), "unpadded": base64.RawStdEncoding.EncodeToString([]byte(key)),
		"URL base64": base64.URLEncoding.EncodeToString([]byte(key)), "URL, unpadded": base64.RawURLEncoding.EncodeToString([]byte(key)),
		"base64 in a URL": url.QueryEscape(base64.StdEncoding.EncodeToString([]byte(key))),
	}
}

func TestKeyIsHiddenInEveryForm(t *testing.T) {
	for _, key := range []string{plain, awkward, "8-chars!", "~~~???>>", strings.Repeat("k", 300)} {
		f := filter("another-key", key)
		for name, form := range encodings(key) {
			for _, around := range [][2]string{{"", ""}, {"a ", " b"}, {"Bearer:", "\n"}, {`{"k":"`, `"}`}} {
				text, want := around[0]+form+around[1], around[0]+keyfilter.Hidden+around[1]
				if got := f.Text(text); got != want || !f.Holds(text) {
					t.Errorf("%s of %.20s: %q, want %q", name, key, got, want)
				}
			}
		}
	}
}

// TestKeyInsideLongerBase64: what stands before a key moves its characters, and what stands
// around it changes those at its ends.
func TestKeyInsideLongerBase64(t *testing.T) {
	f := filter(plain)
	for before := range 7 {
		for after := range 4 {
			text := strings.Repeat("x", before) + plain + strings.Repeat("y", after)
			for _, enc := range []*base64.Encoding{base64.StdEncoding, base64.RawURLEncoding} {
				shown := f.Text(enc.EncodeToString([]byte(text)))
				left := strings.Replace(shown, keyfilter.Hidden, "", 1)
				if !strings.Contains(shown, keyfilter.Hidden) || len(left) > (before+after)*4/3+6 {
					t.Errorf("%d before, %d after: %s", before, after, shown)
				}
			}
		}
	}
}

func TestOtherTextIsLeftAlone(t *testing.T) {
	f := filter(plain, awkward)
	for _, text := range []string{"", "sk-", plain[:len(plain)-1], plain[1:], "a\"b", "%", `\`, "\xff\x00" + plain[:8], "naïve"} {
		if got := f.Text(text); got != text || f.Holds(text) {
			t.Errorf("%q became %q", text, got)
		}
	}
	if got, want := f.Text(plain+plain+plain[:3]), keyfilter.Hidden+keyfilter.Hidden+plain[:3]; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestShortKeysAndPlaceholdersAreNotFiltered(t *testing.T) {
	for key, want := range map[string]bool{
		"": false, "EMPTY": false, "ollama": false, "none": false, "1234567": false, "12345678": true,
		"token-abc123": false, "NOT-NEEDED": false, plain: true,
	} {
		if got := filter(key).Holds("it is " + key); got != want || keyfilter.Filtered(key) != want {
			t.Errorf("%q: hidden is %v, want %v", key, got, want)
		}
	}
}

// TestWriterSeesKeysAcrossWrites, wherever they are cut.
func TestWriterSeesKeysAcrossWrites(t *testing.T) {
	for name, form := range encodings(awkward) {
		text, want := "s a"+form+"b a", "s a"+keyfilter.Hidden+"b a"
		for size := 1; size <= len(text); size++ {
			var b bytes.Buffer
			w := filter(awkward).Writer(&b)
			for rest := text; rest != ""; rest = rest[min(size, len(rest)):] {
				if n, err := w.Write([]byte(rest[:min(size, len(rest))])); n != min(size, len(rest)) || err != nil {
					t.Fatal(n, err)
				}
			}
			if err := w.Flush(); err != nil || b.String() != want {
				t.Fatalf("%s in writes of %d: %q, want %q", name, size, b.String(), want)
			}
		}
	}
}

func TestWriterKeepsBackNoMoreThanAKeysBeginning(t *testing.T) {
	var b bytes.Buffer
	w := filter(plain).Writer(&b)
	w.Write([]byte("a line\nand " + plain[:5]))
	if b.String() != "a line\nand " {
		t.Errorf("wrote %q", b.String())
	}
	w.Write([]byte("!"))
	if want := "a line\nand " + plain[:5] + "!"; b.String() != want {
		t.Errorf("wrote %q, want %q", b.String(), want)
	}
	if w.Unwrap() != &b {
		t.Error("it does not unwrap")
	}
}

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, errors.New("full") }

func TestWriterReportsErrors(t *testing.T) {
	w := filter(plain).Writer(broken{})
	if _, err := w.Write([]byte("x")); err == nil {
		t.Error("no error of Write")
	}
}

// FuzzWriter: however text is cut into writes, the same is shown, and never the key.
func FuzzWriter(f *testing.F) {
	for _, form := range encodings(awkward) {
		f.Add("x"+form+"y", 3)
	}
	f.Add(`a"b\\c/d&e<f>g'h+i=j%25k~`, 1)
	f.Fuzz(func(t *testing.T, text string, size int) {
		keys := filter(awkward, plain)
		size = max(size, 1)
		var b bytes.Buffer
		w := keys.Writer(&b)
		for rest := text; rest != ""; rest = rest[min(size, len(rest)):] {
			w.Write([]byte(rest[:min(size, len(rest))]))
		}
		w.Flush()
		if b.String() != keys.Text(text) {
			t.Errorf("in writes of %d %q, at once %q", size, b.String(), keys.Text(text))
		}
		if strings.Contains(b.String(), awkward) || strings.Contains(b.String(), plain) {
			t.Errorf("shows the key: %q", b.String())
		}
	})
}

func BenchmarkText(b *testing.B) {
	f := filter(plain)
	text := strings.Repeat("2026-01-12 [tool] <line> of a \"log\" at step 17, id=skdjf\n", 1<<20/56)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		f.Text(text)
	}
}
