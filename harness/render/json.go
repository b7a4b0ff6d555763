package render

import (
	"encoding/json"
	"io"

	"github.com/poimen-memory/mem/harness"
)

// JSON writes all of a result, as summary.json holds it: indented, keys in the order of
// the types, lists never null.
func JSON(w io.Writer, r *harness.Result) error {
	full := *r
	full.Checks, full.Gates = list(r.Checks), list(r.Gates)
	full.Budgets, full.Runs = list(r.Budgets), list(r.Runs)
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(full)
}

func list[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}
