// Package label proposes labels of queries for a person to confirm.
package label

import (
	"context"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/poimen-memory/mem/harness/corpus"
)

// Sought is a query whose evidence is searched for: text that matches Pattern or, without one,
// the answers in any case but as whole words: "no" is not in "Nobel".
type Sought struct {
	corpus.Query
	Pattern *regexp.Regexp
	Index   int // of the query in the list that Select was given
}

// Proposed is what was found for a query: at most the first Limit proposals, and how many
// there were.
type Proposed struct {
	List []corpus.Proposal
	All  int
}

// Propose reads a corpus once and proposes labels for each query, in the order of the corpus.
// A record without an id cannot be named: its label is the text alone.
func Propose(ctx context.Context, cfg corpus.Config, sought []Sought, limit int) ([]Proposed, error) {
	found := make([]Proposed, len(sought))
	patterns := make([]*regexp.Regexp, len(sought))
	for i, s := range sought {
		patterns[i] = s.pattern()
	}
	sources, err := cfg.Sources(ctx)
	if err != nil {
		return nil, err
	}
	err = corpus.Join(sources).Each(ctx, func(r *corpus.Record) error {
		for i, p := range patterns {
			found[i].search(r, p, limit)
		}
		return nil
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

func (f *Proposed) search(r *corpus.Record, pattern *regexp.Regexp, limit int) {
	if pattern == nil {
		return
	}
	for _, at := range pattern.FindAllStringIndex(r.Text, -1) {
		if at[0] == at[1] || !wholeWords(r.Text, at[0], at[1]) {
			continue
		}
		if f.All++; len(f.List) < limit {
			f.List = append(f.List, proposal(r, at[0], at[1]))
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

func proposal(r *corpus.Record, from, to int) corpus.Proposal {
	l := corpus.Label{Match: r.Text[from:to], All: true}
	if r.ID != "" {
		l = r.LabelOf(from, to)
	}
	l.Match, l.ID = strings.Clone(l.Match), strings.Clone(l.ID) // without the whole record
	return corpus.Proposal{Label: l, Context: r.Role + ": " + r.Context(from, to)}
}
