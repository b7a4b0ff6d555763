package token_test

import (
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/pkoukk/tiktoken-go"
	loader "github.com/pkoukk/tiktoken-go-loader"
)

// tiktokenGo has the counter of each vocabulary that tiktoken-go knows, each loaded once.
var tiktokenGo = map[string]func() (func(string) int, error){
	"cl100k_base": openTiktokenGo("cl100k_base"),
	"o200k_base":  openTiktokenGo("o200k_base"),
	"p50k_base":   openTiktokenGo("p50k_base"),
	"r50k_base":   openTiktokenGo("r50k_base"),
}

var offline = sync.OnceFunc(func() { tiktoken.SetBpeLoader(loader.NewOfflineLoader()) })

func openTiktokenGo(name string) func() (func(string) int, error) {
	return sync.OnceValues(func() (func(string) int, error) {
		offline()
		enc, err := tiktoken.GetEncoding(name)
		if err != nil {
			return nil, err
		}
		return func(text string) int { return len(enc.EncodeOrdinary(text)) }, nil
	})
}

// comparable says that tiktoken-go is right about text: it is quadratic, does not know
// that the long s folds to s, and knows the characters of Go's version of Unicode.
func comparable(text string) bool {
	if len(text) > 8<<10 || strings.Contains(text, "'ſ") {
		return false
	}
	for _, r := range text {
		if r >= utf8.RuneSelf && !unicode.In(r, unicode.L, unicode.M, unicode.N, unicode.P, unicode.S, unicode.Z, unicode.C) {
			return false
		}
	}
	return true
}

func differs(t *testing.T, text string) {
	t.Helper()
	for name, open := range tiktokenGo {
		count, err := open()
		if err != nil {
			t.Fatal(err)
		}
		if got, want := counter(t, name).Count(text), count(text); got != want {
			t.Errorf("%s: %q has %d tokens, want %d", name, text, got, want)
		}
	}
}

func TestSamplesCountAsInTheReference(t *testing.T) {
	for _, kind := range []string{"prose", "code", "logs", "cjk", "emoji", "template", "added"} {
		text := read(t, kind)
		differs(t, text[:min(len(text), 8<<10)])
	}
}

func TestGoldenTextsCountAsInTheReference(t *testing.T) {
	for _, g := range goldens(t) {
		if text := g.text(); len(text) < 1000 && comparable(text) {
			differs(t, text)
		}
	}
}

// Runs of letters drawn from tokens' own alphabets reach merges that real text does not.
func TestRandomRunsCountAsInTheReference(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		var b strings.Builder
		letters := []rune("etaoinETAéß中日の한א0 .-=\n")[random.IntN(12):][:4+random.IntN(8)]
		for range 1 + random.IntN(300) {
			b.WriteRune(letters[random.IntN(len(letters))])
		}
		differs(t, b.String())
	}
}

// Long texts fill the caches of counters, and have pieces that take each other's places there.
func TestVariedTextCountsAsInTheReference(t *testing.T) {
	for _, kind := range []string{"prose", "code", "logs", "cjk", "emoji"} {
		text := varied(t, kind)[:1<<18]
		for len(text) > 0 {
			n := min(len(text), 8<<10)
			for !utf8.RuneStart((text + "a")[n]) {
				n--
			}
			differs(t, text[:n])
			text = text[n:]
		}
	}
}

func FuzzCountAgainstTheReference(f *testing.F) {
	for i, g := range goldens(f) {
		if i%40 == 0 {
			f.Add(g.text())
		}
	}
	f.Add("it's I'LL we'Ve  \n \r\n\x7f 12345 // x\xff\xfe")
	f.Fuzz(func(t *testing.T, text string) {
		if comparable(text) {
			differs(t, text)
		}
	})
}
