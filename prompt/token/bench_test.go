//go:build unix

package token_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/poimen-memory/mem/prompt/token"
)

// varied is a megabyte in the manner of a sample: runes follow each other as they do after
// the same one to three runes there. So it has words that the sample does not have, and it is
// the same in every run.
func varied(t testing.TB, kind string) string {
	order := 3
	if kind == "cjk" || kind == "emoji" {
		order = 1
	}
	runes := []rune(read(t, kind))
	next := map[string][]rune{}
	for i, r := range runes {
		if i >= order {
			next[string(runes[i-order:i])] = append(next[string(runes[i-order:i])], r)
		}
	}
	random, last := rand.New(rand.NewPCG(5, 8)), slices.Clone(runes[:order])
	var b strings.Builder
	for b.Len() < 1<<20 {
		choices := next[string(last)]
		if len(choices) == 0 { // the end of the sample
			copy(last, runes)
			continue
		}
		r := choices[random.IntN(len(choices))]
		b.WriteRune(r)
		last = append(last[1:], r)
	}
	return b.String()
}

// BenchmarkCount reports MB per second of processor time, and how many times as fast as
// tiktoken-go that is, on the start of the same text in the same run.
func BenchmarkCount(b *testing.B) {
	for _, name := range scanned() {
		for _, kind := range []string{"prose", "code", "logs", "cjk", "emoji"} {
			b.Run(name+"/"+kind, func(b *testing.B) {
				text := varied(b, kind)
				slow := pace(b, name, text[:1<<16])
				c := counter(b, name)
				c.Count(text)
				b.SetBytes(int64(len(text)))
				start := token.CPU()
				for b.Loop() {
					c.Count(text)
				}
				own := (token.CPU() - start) / float64(b.N)
				b.ReportMetric(float64(len(text))/1e6/own, "MB/cpu-s")
				if slow > 0 {
					b.ReportMetric(16*slow/own, "x-tiktoken-go")
				}
			})
		}
	}
}

// pace is the processor seconds that tiktoken-go takes for text; 0 if it does not know the
// vocabulary.
func pace(b *testing.B, name, text string) float64 {
	open, ok := tiktokenGo[name]
	if !ok {
		return 0
	}
	count, err := open()
	if err != nil {
		b.Fatal(err)
	}
	count(text)
	start := token.CPU()
	count(text)
	return token.CPU() - start
}

// A quadratic count would take minutes, of an eighth of a megabyte still half of one; the
// limit is far above what a loaded machine needs, and BenchmarkCountMegabyte has the times.
func TestMegabyteOfOneClass(t *testing.T) {
	size := 1 << 17
	if *long {
		size = 1 << 20
	}
	for _, name := range scanned() {
		c := counter(t, name)
		for _, unit := range []string{"a", "中", "-", "\u0301", "\xff", "<|im_"} {
			start := token.CPU()
			if got := c.Count(strings.Repeat(unit, size/len(unit))); got < size>>8 {
				t.Errorf("%s: %d bytes of %q have %d tokens: want more", name, size, unit, got)
			}
			if took := token.CPU() - start; took > 20*float64(size>>17)/8 {
				t.Errorf("%s: %d bytes of %q took %.1f s: want less than 1 a megabyte", name, size, unit, took)
			}
		}
	}
}

// BenchmarkCountMegabyte is of one piece of a megabyte, or of a million short ones:
// each has to stay under a second.
func BenchmarkCountMegabyte(b *testing.B) {
	units := [][2]string{
		{"letters", "a"}, {"words", "ab"}, {"ideographs", "中"}, {"symbols", "-="}, {"blanks", " "}, {"lines", " \n"}, {"digits", "7"},
		{"marks", "\u0301"}, {"accents", "\u0301\u0323"}, {"emoji", "👩\u200d"}, {"almost-added", "<|im_"}, {"invalid", "\xff"},
	}
	for _, name := range scanned() {
		for _, unit := range units {
			b.Run(name+"/"+unit[0], func(b *testing.B) {
				text := strings.Repeat(unit[1], 1<<20/len(unit[1]))
				c := counter(b, name)
				b.SetBytes(int64(len(text)))
				start := token.CPU()
				for b.Loop() {
					c.Count(text)
				}
				b.ReportMetric(1e3*(token.CPU()-start)/float64(b.N), "cpu-ms/op")
			})
		}
	}
}

// BenchmarkCountParallel is for -cpu 1,2: counters share nothing that is written.
func BenchmarkCountParallel(b *testing.B) {
	text, c := varied(b, "logs"), counter(b, "o200k_base")
	b.SetBytes(int64(len(text)))
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			c.Count(text)
		}
	})
}
