package yamlpos

// Any is the node as JSON would hold it, for parts of a file whose shape is somebody
// else's: nil, bool, int64, float64, string, []any or map[string]any. Keys that are not
// text, and duplicate ones, were reported when the file was read.
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
