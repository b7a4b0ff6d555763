package corpus

import (
	"context"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Proposal is a label that a person may confirm.
type Proposal struct {
	Label
	Context string // the text around its match, and the record's role
}

// Sought is a query with what its evidence may look like. Without a Pattern its answers
// are looked for, in any case but as whole words: "no" is not in "Nobel".
type Sought struct {
	Query
	Pattern *regexp.Regexp
}

// Proposed is what was found for a query: at most the first Limit proposals, and how many
// there were.
type Proposed struct {
	List []Proposal
	All  int
}

// aside is how much context stands on each side of a match, in bytes.
const aside = 40

// Propose passes over a corpus once and proposes labels for each query, in the order of
// the corpus. A record without an id cannot be named: its label is the text alone.
func Propose(ctx context.Context, cfg Config, sought []Sought, limit int) ([]Proposed, error) {
	found := make([]Proposed, len(sought))
	patterns := make([]*regexp.Regexp, len(sought))
	for i, s := range sought {
		patterns[i] = s.pattern()
	}
	parts, err := parts(ctx, cfg)
	if err != nil {
		return nil, err
	}
	err = each(ctx, join(parts), func(r *record) {
		for i, p := range patterns {
			found[i].in(r, p, limit)
		}
	})
	return found, err
}

// pattern is nil when there is nothing to look for.
func (s Sought) pattern() *regexp.Regexp {
	if s.Pattern != nil {
		return s.Pattern
	}
	var answers []string
	for _, a := range s.Answers {
		if a = strings.TrimSpace(a); a != "" {
			answers = append(answers, regexp.QuoteMeta(a))
		}
	}
	if answers == nil {
		return nil
	}
	return regexp.MustCompile("(?i)(?:" + strings.Join(answers, "|") + ")")
}

func (f *Proposed) in(r *record, pattern *regexp.Regexp, limit int) {
	if pattern == nil {
		return
	}
	for _, at := range pattern.FindAllStringIndex(r.Text, -1) {
		if at[0] == at[1] || !wholeWords(r.Text, at[0], at[1]) {
			continue
		}
		if f.All++; len(f.List) < limit {
			f.List = append(f.List, r.proposal(span{from: at[0], to: at[1]}))
		}
	}
}

// wholeWords reports whether a word neither begins before from nor ends after to.
func wholeWords(s string, from, to int) bool {
	before, _ := utf8.DecodeLastRuneInString(s[:from])
	first, _ := utf8.DecodeRuneInString(s[from:])
	last, _ := utf8.DecodeLastRuneInString(s[:to])
	after, _ := utf8.DecodeRuneInString(s[to:])
	return !(isWord(before) && isWord(first)) && !(isWord(last) && isWord(after))
}

func isWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

func (r *record) proposal(s span) Proposal {
	l := Label{Match: r.Text[s.from:s.to], All: true}
	if r.id != "" {
		l = r.label(s)
	}
	l.Match, l.ID = strings.Clone(l.Match), strings.Clone(l.ID) // without the whole record
	return Proposal{Label: l, Context: r.Role + ": " + around(r.Text, s.from, s.to)}
}

// around is a match with some of the text on both sides.
func around(s string, from, to int) string {
	begin, end := max(from-aside, 0), min(to+aside, len(s))
	for begin > 0 && !utf8.RuneStart(s[begin]) {
		begin--
	}
	for end < len(s) && !utf8.RuneStart(s[end]) {
		end++
	}
	text := strings.Join(strings.Fields(s[begin:end]), " ")
	if begin > 0 {
		text = "…" + text
	}
	if end < len(s) {
		text += "…"
	}
	return text
}
