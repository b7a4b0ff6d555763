package cluster

import (
	"slices"
	"strings"
)

// Origin is where a run's question and text come from.
type Origin struct {
	Level string
	Query string // id
	Text  string // of the question
	// Corpora is the corpus (with its sample) of the run, or all that a run over memories of
	// several corpora reads.
	Corpora []string
}

// Names are the names of queries and sessions of an evaluation (docs/statistics.md, units):
// corpora that a run joins are one session, and ids whose texts are equal, after trimming,
// lower-casing and folding white space, are one query if they share a session.
type Names struct {
	sessions, queries parents
}

// NewNames takes the origins of all runs. Corpora are joined within a level; ids that are one
// query at one level are one at every level.
func NewNames(origins []Origin) *Names {
	n := &Names{parents{}, parents{}}
	for _, o := range origins {
		for _, c := range o.Corpora {
			n.sessions.join(o.Level+"\x00"+o.Corpora[0], o.Level+"\x00"+c)
		}
	}
	type asked struct{ text, level, session string }
	first := map[asked]string{}
	for _, o := range origins {
		n.queries.join(o.Query, o.Query)
		key := asked{normalized(o.Text), o.Level, n.Session(o.Level, o.Corpora)}
		if other, seen := first[key]; seen && key.text != "" {
			n.queries.join(other, o.Query)
		} else {
			first[key] = o.Query
		}
	}
	return n
}

func normalized(text string) string {
	return strings.Join(strings.Fields(strings.ToLower(text)), " ")
}

// Query is the name of the query of an id: the first id of those that are one query.
func (n *Names) Query(id string) string { return n.queries.root(id) }

// Session is the name of the session of a run's corpora: that of its first corpus among those
// that are joined. It is empty if there are none.
func (n *Names) Session(level string, corpora []string) string {
	if len(corpora) == 0 {
		return ""
	}
	_, name, _ := strings.Cut(n.sessions.root(level+"\x00"+corpora[0]), "\x00")
	return name
}

// Merged are the ids that are one query, by its name; only those of more than one id.
func (n *Names) Merged() map[string][]string {
	merged := map[string][]string{}
	for id := range n.queries {
		root := n.Query(id)
		merged[root] = append(merged[root], id)
	}
	for name, ids := range merged {
		if len(ids) == 1 {
			delete(merged, name)
		}
		slices.Sort(ids)
	}
	return merged
}

// parents is a union–find structure; a root is its own parent.
type parents map[string]string

func (p parents) root(name string) string {
	for {
		parent, known := p[name]
		if !known || parent == name {
			return name
		}
		name = parent
	}
}

// join makes two names one. The root is that of the first.
func (p parents) join(a, b string) {
	for _, name := range []string{a, b} {
		if _, known := p[name]; !known {
			p[name] = name
		}
	}
	p[p.root(b)] = p.root(a)
}
