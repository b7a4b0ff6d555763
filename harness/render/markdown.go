package render

import (
	"io"

	"github.com/poimen-memory/mem/harness"
)

// Markdown writes a report, fit for a pull request's comment.
func Markdown(w io.Writer, rs ...*harness.Result) error { return nil }
