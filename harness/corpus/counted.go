package corpus

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/poimen-memory/mem/harness/diag"
)

// Counted is things of one kind in a file: entries that are not imported, or differences
// between a session and its source.
type Counted struct {
	Kind  string
	Count int
	First diag.Pos // of the first one; File is the file
}

// String is the number and the kind.
func (c Counted) String() string { return fmt.Sprintf("%d × %s", c.Count, c.Kind) }

// Warnings lists, for sessions together, in what they differ from their source, which labels
// of the source point to what does not exist, and what is not imported.
func Warnings(sessions []*Session) []string {
	var notes, skipped counts
	var list []string
	var missing diag.Errors
	for _, s := range sessions {
		notes.addAll(s.notes)
		skipped.addAll(s.skipped)
		missing = append(missing, s.warnings...)
	}
	for _, n := range notes.sorted() {
		list = append(list, fmt.Sprintf("%s: %s", n.First.File, n))
	}
	for _, m := range missing {
		list = append(list, m.Error())
	}
	for _, s := range skipped.sorted() {
		list = append(list, fmt.Sprintf("%s: not imported: %s, the first at %d:%d", s.First.File, s, s.First.Line, s.First.Col))
	}
	return list
}

// maxKinds is how many kinds are counted apart. A file names kinds as it likes.
const maxKinds = 200

// counts counts things by file and kind.
type counts struct {
	list  []Counted
	index map[countKey]int // in list
}

type countKey struct{ file, kind string }

func (c *counts) add(kind string, n int, at diag.Pos) {
	key := countKey{at.File, kind}
	i, ok := c.index[key]
	if !ok && len(c.list) >= maxKinds {
		key.kind = "entry of further kinds"
		i, ok = c.index[key]
	}
	if !ok {
		if c.index == nil {
			c.index = map[countKey]int{}
		}
		i = len(c.list)
		c.index[key] = i
		c.list = append(c.list, Counted{Kind: key.kind, First: at})
	}
	c.list[i].Count += n
}

func (c *counts) addAll(list []Counted) {
	for _, k := range list {
		c.add(k.Kind, k.Count, k.First)
	}
}

// sorted is by file, in the order in which files came, and kind.
func (c *counts) sorted() []Counted {
	order := map[string]int{}
	for i, k := range c.list {
		if _, seen := order[k.First.File]; !seen {
			order[k.First.File] = i
		}
	}
	list := slices.Clone(c.list)
	slices.SortFunc(list, func(a, b Counted) int {
		return cmp.Or(order[a.First.File]-order[b.First.File], cmp.Compare(a.Kind, b.Kind))
	})
	return list
}

// noRecords refuses a source of which nothing is imported: a run over it would pass every
// check.
func noRecords(file, where string, skipped []Counted) error {
	why := "nothing in it is one"
	if len(skipped) > 0 {
		var list []string
		for _, s := range skipped {
			list = append(list, s.String())
		}
		why = "not imported: " + strings.Join(list, ", ")
	}
	return diag.Errors{{Pos: diag.Pos{File: file}, Path: where, Msg: "no records: " + why}}
}

// TagWarnings are about texts that look like parts of a prompt, a session each.
func TagWarnings(sessions []*Session) (list []string) {
	for _, s := range sessions {
		list = append(list, tagWarning(s)...)
	}
	return list
}

func tagWarning(s *Session) []string {
	var parts []string
	if n := s.Reserved(); n > 0 {
		parts = append(parts, diag.Count(n, "reserved tag")+" escaped when sent")
	}
	if n := s.GateTags(); n > 0 {
		parts = append(parts, diag.Count(n, "gate tag")+" left as text")
	}
	if n := s.Forged(); n > 0 {
		parts = append(parts, diag.Count(n, "record label")+" within texts, which render like further records")
	}
	if parts == nil {
		return nil
	}
	return []string{"corpus " + s.Name() + ": " + strings.Join(parts, ", ")}
}
