package yamlpos

import "github.com/poimen-memory/mem/harness/diag"

// Any is the node as JSON would hold it, for parts of a file whose shape others define: nil,
// bool, int64, float64, string, []any or map[string]any. Keys that are not text, and duplicate
// ones, were reported when the file was read.
func (n Node) Any() any {
	switch n.Kind() {
	case Map:
		m := map[string]any{}
		for _, e := range n.file.entries(n.yaml, n.path) {
			m[e.key.Value] = n.under(e, rules{}).Any()
		}
		return m
	case List:
		list := make([]any, len(n.yaml.Content))
		for i := range list {
			list[i] = n.element(i).Any()
		}
		return list
	case Bool:
		var b bool
		n.Decode(&b)
		return b
	case Int:
		var i int64
		n.Decode(&i)
		return i
	case Float:
		var f float64
		n.Decode(&f)
		return f
	case Null:
		return nil
	}
	return n.Text()
}

// Pair is a key of a map that names something, with its value.
type Pair struct {
	Key   At[string]
	Value Node // under the bounds and the enum of the map's field
}

// Pairs are the entries of a map whose keys are the writer's own, in their order. What is
// no map is reported and has none. Keys that are not text, and duplicate ones, were
// reported when the file was read.
func (n Node) Pairs() (pairs []Pair) {
	if n.Kind() != Map {
		n.Want("a map")
		return nil
	}
	for _, e := range n.file.entries(n.yaml, n.path) {
		value := n.under(e, n.rules)
		key := At[string]{Value: e.key.Value, Place: diag.Place{Pos: n.file.pos(e.key), Path: value.path}}
		pairs = append(pairs, Pair{key, value})
	}
	return pairs
}

// Texts are names and values of the writer's own, as {category: "2"}.
type Texts map[string]string

// DecodeYAML implements Unmarshaler.
func (t *Texts) DecodeYAML(n Node) {
	*t = Texts{}
	for _, pair := range n.Pairs() {
		var value string
		switch {
		case pair.Key.Value == "":
			n.Report(pair.Key.Errorf("found an empty name, want one, as in {category: multi-hop}"))
		case pair.Value.Decode(&value) && value == "":
			pair.Value.Errorf("found an empty text, want one, as in {category: multi-hop}")
		}
		(*t)[pair.Key.Value] = value
	}
}
