package prompt

import (
	"fmt"
	"slices"
	"strings"
)

// place is what a template shows, in the order of the values of substitute.
type place int

const (
	problemPlace place = iota
	memoryPlace
	sectionPlace
)

// String is the place as it is written in a template.
func (p place) String() string { return [...]string{"{prompt}", "{memory}", "{chunk}"}[p] }

// tag is the name of the tags around the place.
func (p place) tag() string { return [...]string{"problem", "memory", "section"}[p] }

// template is a template's text around its places.
type template struct {
	pieces []string
	order  []place // which value stands after pieces[i]; one fewer than pieces
}

// parseTemplate cuts a template at its places, each of which it must hold once, between
// its tags, and no other.
func parseTemplate(text string, places ...place) (t template, err error) {
	for _, p := range []place{problemPlace, memoryPlace, sectionPlace} {
		n := strings.Count(text, p.String())
		switch wanted := slices.Contains(places, p); {
		case wanted && n != 1:
			return t, fmt.Errorf("template has %d of %s, want exactly one", n, p)
		case !wanted && n > 0:
			return t, fmt.Errorf("template has %s, want none: there is no chunk to show", p)
		}
	}
	for _, p := range places {
		switch body, err := between(text, p.tag()); {
		case err != nil:
			return t, fmt.Errorf("template: %w", err)
		case !strings.Contains(body, p.String()):
			return t, fmt.Errorf("template has %s outside of its tags, want it between <%s> and </%[2]s>", p, p.tag())
		}
	}
	t.order = slices.Clone(places)
	slices.SortFunc(t.order, func(a, b place) int { return strings.Index(text, a.String()) - strings.Index(text, b.String()) })
	for _, p := range t.order {
		before, after, _ := strings.Cut(text, p.String())
		t.pieces, text = append(t.pieces, before), after
	}
	t.pieces = append(t.pieces, text)
	return t, nil
}

func (t template) count(c Counter) (tokens int) {
	for _, piece := range t.pieces {
		tokens += c.Count(piece)
	}
	return tokens
}

// substitute allocates once: a chunk is some 20 KB and is sent at every turn.
func (t template) substitute(values [3]string) string {
	last := len(t.order)
	size := len(t.pieces[last])
	for i, at := range t.order {
		size += len(t.pieces[i]) + len(values[at])
	}
	var s strings.Builder
	s.Grow(size)
	for i, at := range t.order {
		s.WriteString(t.pieces[i])
		s.WriteString(values[at])
	}
	s.WriteString(t.pieces[last])
	return s.String()
}

// Parts are the bytes between the pairs of tags of a prompt, exactly as sent: the
// template's surrounding spaces are part of them.
type Parts struct{ Problem, Memory, Section string }

// Split reads a turn's prompt as a model does, by its tags, each of which must stand in it
// exactly once (M1.3 a4).
func Split(user string) (Parts, error) {
	p, err := SplitAnswer(user)
	if err == nil {
		p.Section, err = between(user, sectionPlace.tag())
	}
	if err != nil {
		return Parts{}, err
	}
	return p, nil
}

// SplitAnswer is Split for a prompt that asks for the answer, which has no section.
func SplitAnswer(user string) (p Parts, err error) {
	if p.Problem, err = between(user, problemPlace.tag()); err == nil {
		p.Memory, err = between(user, memoryPlace.tag())
	}
	if err != nil {
		return Parts{}, err
	}
	return p, nil
}

func between(s, name string) (string, error) {
	open, closing := "<"+name+">", "</"+name+">"
	for _, tag := range []string{open, closing} {
		if n := strings.Count(s, tag); n != 1 {
			return "", fmt.Errorf("prompt has %d of %s, want exactly one", n, tag)
		}
	}
	from, to := strings.Index(s, open)+len(open), strings.Index(s, closing)
	if to < from {
		return "", fmt.Errorf("prompt has %s before %s", closing, open)
	}
	return s[from:to], nil
}
