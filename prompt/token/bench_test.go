//go:build unix

package token_test

import (
	"strings"
	"testing"

	"github.com/poimen-memory/mem/prompt/token"
)

// sample is 24 KB or more of one kind of text.
func sample(b *testing.B, kind string) string {
	text := read(b, kind)
	return strings.Repeat(text, 1+24_000/len(text))
}

// BenchmarkCount reports MB per second of processor time, and how many times as fast as
// tiktoken-go that is, on the same text in the same run.
func BenchmarkCount(b *testing.B) {
	for _, name := range scanned() {
		for _, kind := range []string{"prose", "code", "logs", "cjk", "emoji"} {
			b.Run(name+"/"+kind, func(b *testing.B) {
				text := sample(b, kind)
				slow := pace(b, name, text)
				c := counter(b, name)
				b.SetBytes(int64(len(text)))
				start := token.CPU()
				for b.Loop() {
					c.Count(text)
				}
				own := (token.CPU() - start) / float64(b.N)
				b.ReportMetric(float64(len(text))/1e6/own, "MB/cpu-s")
				if slow > 0 {
					b.ReportMetric(slow/own, "x-tiktoken-go")
				}
			})
		}
	}
}

// pace is the processor seconds that tiktoken-go takes for text, of eight; 0 if it does
// not know the vocabulary.
func pace(b *testing.B, name, text string) float64 {
	c, err := token.Reference(name)
	if err != nil {
		return 0
	}
	c.Count(text)
	start := token.CPU()
	for range 8 {
		c.Count(text)
	}
	return (token.CPU() - start) / 8
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
	text, c := sample(b, "logs"), counter(b, "o200k_base")
	b.SetBytes(int64(len(text)))
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			c.Count(text)
		}
	})
}
