package token

import (
	"encoding/binary"
	"slices"
	"sync"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
	"golang.org/x/text/unicode/rangetable"
)

// known is the runes that the reference's NFC knows: Hugging Face's tokenizers
// normalize by Unicode 9.0, and leave alone what was assigned later.
var known = sync.OnceValue(func() *unicode.RangeTable { return rangetable.Assigned("9.0.0") })

// shortSegment bounds the runes of a segment that package norm may normalize. In longer
// ones it would set U+034F after each 30 marks, which no tokenizer does.
const shortSegment = 8

// point is a rune and its canonical combining class.
type point struct {
	rune rune
	ccc  uint8
}

// nfc returns text in NFC: text itself if it is so already, or else memory of s. Only the
// stretches are looked at that have runes that NFC could change, each with the rune before
// it, which they may act on. Text that is normal by a later version of Unicode is so by an
// earlier one.
func nfc(text []byte, s *scratch) []byte {
	out, done := s.norm[:0], 0
	for i := 0; ; {
		start := skipInert(text, i)
		if start == len(text) {
			break
		}
		end := skipActive(text, start)
		if start > i {
			_, n := utf8.DecodeLastRune(text[:start])
			start -= n
		}
		if part := text[start:end]; norm.NFC.QuickSpan(part) < len(part) {
			out = s.appendSegments(append(out, text[done:start]...), part)
			done = end
		}
		i = end
	}
	if done == 0 {
		return text
	}
	s.norm = append(out, text[done:]...)
	return s.norm
}

// appendSegments appends text in NFC.
func (s *scratch) appendSegments(out, text []byte) []byte {
	done := 0
	for i := 0; i < len(text); {
		end, runes, later := segment(text, i)
		if later || runes > shortSegment {
			out = s.appendNFC(out, text[done:i])
			if later {
				out = append(out, text[i:end]...)
			} else {
				out = s.normalize(out, text[i:end])
			}
			done = end
		}
		i = end
	}
	return s.appendNFC(out, text[done:])
}

// skipInert is the first place from i on of a rune that is not inert.
func skipInert(text []byte, i int) int {
	for i < len(text) {
		if i+8 <= len(text) && binary.LittleEndian.Uint64(text[i:])&0x8080808080808080 == 0 {
			i += 8
			continue
		}
		r, n := utf8.DecodeRune(text[i:])
		if !inert(r) {
			break
		}
		i += n
	}
	return i
}

// skipActive is the first place from i on of a rune that is inert.
func skipActive(text []byte, i int) int {
	for i < len(text) {
		r, n := utf8.DecodeRune(text[i:])
		if inert(r) {
			break
		}
		i += n
	}
	return i
}

// inert lists scripts whose runes NFC never changes, and that never act on others.
func inert(r rune) bool {
	switch {
	case r < 0x300, 0x388 <= r && r <= 0x482, // Latin, Greek, Cyrillic
		0x2010 <= r && r <= 0x205F, 0x2400 <= r && r <= 0x27BF, // punctuation, boxes, symbols
		0x3000 <= r && r <= 0x3029, 0x3041 <= r && r <= 0x3096, 0x30A0 <= r && r <= 0x30FF, // kana
		0x3400 <= r && r <= 0x9FFF, 0xAC00 <= r && r <= 0xD7A3, // ideographs, Hangul
		0xFF00 <= r && r <= 0xFFEF, 0x1F000 <= r && r <= 0x1FAFF: // full width, emoji
		return true
	}
	return false
}

// appendNFC appends text in NFC, as if it stood alone. (The Append of package norm would
// let it act on the end of out, and allocates.)
func (s *scratch) appendNFC(out, text []byte) []byte {
	for s.iter.Init(norm.NFC, text); !s.iter.Done(); {
		out = append(out, s.iter.Next()...)
	}
	return out
}

// segment is the end of the runes that may act on each other from i on, and their
// number. A rune that is assigned later than the known ones is a segment of its own.
func segment(text []byte, i int) (end, runes int, later bool) {
	for end = i; end < len(text); runes++ {
		r, n := utf8.DecodeRune(text[end:])
		alone := inert(r)
		later = !alone && !unicode.Is(known(), r)
		switch {
		case later && runes == 0:
			return end + n, 1, true
		case later, runes > 0 && (alone || norm.NFC.Properties(text[end:]).BoundaryBefore()):
			return end, runes, false
		}
		end += n
	}
	return end, runes, false
}

// normalize appends one segment of any length: decomposed, put in order and composed
// again, as UAX #15 defines NFC.
func (s *scratch) normalize(out, text []byte) []byte {
	s.points = decompose(s.points[:0], text)
	for i := 0; i < len(s.points); i++ {
		marks := s.points[i:]
		if end := slices.IndexFunc(marks, func(p point) bool { return p.ccc == 0 }); end >= 0 {
			marks = marks[:end]
		}
		slices.SortStableFunc(marks, func(a, b point) int { return int(a.ccc) - int(b.ccc) })
		i += len(marks)
	}
	for _, p := range s.compose() {
		out = utf8.AppendRune(out, p.rune)
	}
	return out
}

func decompose(points []point, text []byte) []point {
	for len(text) > 0 {
		p := norm.NFD.Properties(text)
		parts := p.Decomposition()
		if parts == nil {
			parts = text[:p.Size()]
		}
		for len(parts) > 0 {
			r, n := utf8.DecodeRune(parts)
			points = append(points, point{r, norm.NFD.Properties(parts).CCC()})
			parts = parts[n:]
		}
		text = text[p.Size():]
	}
	return points
}

// compose joins, in place, each rune to the last starter before it where the two have a
// composite and nothing between them is in the way.
func (s *scratch) compose() []point {
	out, starter, last := s.points[:0], -1, -1
	for _, p := range s.points {
		if starter >= 0 && last < int(p.ccc) {
			if r, ok := s.composite(out[starter].rune, p.rune); ok {
				out[starter].rune = r
				continue
			}
		}
		last = int(p.ccc)
		if p.ccc == 0 {
			starter, last = len(out), -1
		}
		out = append(out, p)
	}
	return out
}

// composite is the one rune that a and b are in NFC, if they are one.
func (s *scratch) composite(a, b rune) (rune, bool) {
	s.pair = utf8.AppendRune(utf8.AppendRune(s.pair[:0], a), b)
	s.iter.Init(norm.NFC, s.pair)
	joint := s.iter.Next()
	r, n := utf8.DecodeRune(joint)
	return r, n == len(joint) && s.iter.Done()
}
