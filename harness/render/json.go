package render

import (
	"encoding/json"
	"io"

	"github.com/poimen-memory/mem/harness/result"
)

// JSON writes all of a result, as summary.json holds it: indented, keys in the order of
// the types, lists never null.
func JSON(w io.Writer, r *result.Result) error { return encode(w, full(r)) }

// AllJSON writes several results, each as JSON does.
func AllJSON(w io.Writer, rs []*result.Result) error {
	all := struct {
		Schema      int             `json:"schema"`
		Experiments []result.Result `json:"experiments"`
	}{result.SchemaVersion, []result.Result{}}
	for _, r := range rs {
		all.Experiments = append(all.Experiments, full(r))
	}
	return encode(w, all)
}

func full(r *result.Result) result.Result {
	full := *r
	full.Checks, full.Gates = list(r.Checks), list(r.Gates)
	full.Budgets, full.Runs = list(r.Budgets), list(r.Runs)
	return full
}

func encode(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

func list[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}
