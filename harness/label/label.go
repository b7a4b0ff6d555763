package label

import (
	"errors"
	"fmt"
	"regexp"
	"slices"

	"github.com/poimen-memory/mem/harness/corpus"
)

// Merge adds a query to a list, or changes the text and the answers of the one with its id.
func Merge(list []corpus.Labelled, q corpus.Query) []corpus.Labelled {
	i := slices.IndexFunc(list, func(l corpus.Labelled) bool { return l.ID == q.ID })
	if i < 0 {
		return append(list, corpus.Labelled{Query: q})
	}
	if q.Text != "" {
		list[i].Text = q.Text
	}
	if q.Answers != nil {
		list[i].Answers, list[i].All = q.Answers, q.All
	}
	return list
}

// Select returns the queries of a list to propose labels for: those that have answers but no
// labels, and the query id, for which pattern is searched if it is not nil.
func Select(list []corpus.Labelled, id string, pattern *regexp.Regexp) (sought []Sought, err error) {
	for i, q := range list {
		s := Sought{Query: q.Query, Index: i}
		if q.ID == id {
			s.Pattern = pattern
		} else if len(q.Labels) > 0 {
			continue
		}
		switch {
		case s.Pattern != nil || len(s.Answers) > 0:
			sought = append(sought, s)
		case q.ID == id:
			return nil, fmt.Errorf("query %q: want an answer or a pattern to look for", q.ID)
		}
	}
	if sought == nil {
		return nil, errors.New("no query to look for: want one that has answers, or one with a pattern")
	}
	return sought, nil
}

// Apply puts what was found into the list: as proposed labels or, if accept, as the labels. With
// accept, a query for which nothing was found keeps its labels.
func Apply(list []corpus.Labelled, sought []Sought, found []Proposed, accept bool) {
	for i, f := range found {
		q := &list[sought[i].Index]
		if q.Proposed = f.List; !accept || f.All == 0 {
			continue
		}
		q.Proposed, q.Labels = nil, nil
		for _, p := range f.List {
			q.Labels = append(q.Labels, p.Label)
		}
	}
}
