package yamlpos

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
		key := At[string]{Value: e.key.Value, Place: Place{Pos: n.file.pos(e.key), Path: value.path}}
		pairs = append(pairs, Pair{key, value})
	}
	return pairs
}
