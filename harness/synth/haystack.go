package synth

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/poimen-memory/mem/internal/inputfile"
)

// hay is what a record says beside the statements.
type hay struct {
	sentences []string
	hard      bool // each states something of another key
	cycled    bool // they come again and again
}

func (h hay) text() string { return strings.Join(h.sentences, " ") }

// filler is a haystack: its i-th record, from 0.
type filler func(i int) (role string, h hay)

func (f family) hay(s *synthetic, file []string) filler {
	switch s.Haystack {
	case "session":
		return s.session
	case "needles":
		return s.needles(writer{f.key, f.value})
	case "file":
		return cycle(file)
	case "noise":
		return cycle(noise)
	}
	return s.text
}

// cycle is sentences in their order, again and again.
func cycle(list []string) filler {
	return func(i int) (string, hay) {
		h := hay{cycled: true}
		for n := range sentences {
			h.sentences = append(h.sentences, list[(i*sentences+n)%len(list)])
		}
		return "tool", h
	}
}

// needles are statements of other keys and values than those that are asked for.
func (s *synthetic) needles(w writer) filler {
	other := func(k kind, r *random) string {
		for {
			if drawn := k.draw(r); !slices.Contains(s.content.asked, drawn) {
				return drawn
			}
		}
	}
	return func(i int) (string, hay) {
		r, h := s.seed.of(streamHay, i), hay{hard: true}
		for range sentences {
			h.sentences = append(h.sentences, w.sentence(other(w.key, &r), other(w.value, &r)))
		}
		return "tool", h
	}
}

// text is prose about nothing. Nothing in it looks like a needle.
func (s *synthetic) text(i int) (string, hay) {
	r, h := s.seed.of(streamHay, i), hay{}
	for range sentences {
		h.sentences = append(h.sentences, fmt.Sprintf("%s the %s %s %s the %s %s.", r.pick(openings),
			r.pick(adjectives), r.pick(nouns), r.pick(verbs), r.pick(nouns), r.pick(endings)))
	}
	return "tool", h
}

// session is a coding agent at work: a system message, and then rounds of a user, the
// assistant, and tools.
func (s *synthetic) session(i int) (string, hay) {
	r, h := s.seed.of(streamHay, i), hay{}
	role := []string{"user", "assistant", "tool", "assistant", "tool", "assistant"}[max(i-1, 0)%6]
	if i == 0 {
		role = "system"
	}
	for range sentences {
		h.sentences = append(h.sentences, fmt.Sprintf(r.pick(remarks[role]), r.pick(services), r.pick(nouns), r.below(900)+100))
	}
	return role, h
}

var sentenceEnd = regexp.MustCompile(`[.!?]["')\]]*\s+`)

// readSentences reads the sentences of a haystack file, white space between words as one
// space. Without a path there are none.
func readSentences(path string) ([]string, error) {
	if path == "" {
		return nil, nil
	}
	data, err := inputfile.Read(path, inputfile.MaxHaystack)
	if err != nil {
		return nil, err
	}
	text := string(data)
	var list []string
	for from, ends := 0, append(sentenceEnd.FindAllStringIndex(text, -1), []int{0, len(text)}); len(ends) > 0; ends = ends[1:] {
		if words := strings.Fields(strings.ToValidUTF8(text[from:ends[0][1]], "\ufffd")); len(words) > 0 {
			list = append(list, strings.Join(words, " "))
		}
		from = ends[0][1]
	}
	if list == nil {
		return nil, fmt.Errorf("haystack: %s has no text, want sentences", path)
	}
	return list, nil
}
