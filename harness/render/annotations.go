package render

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"github.com/poimen-memory/mem/harness/check"
	"github.com/poimen-memory/mem/harness/diag"
	"github.com/poimen-memory/mem/harness/render/internal/layout"
	"github.com/poimen-memory/mem/harness/render/internal/view"
	"github.com/poimen-memory/mem/harness/result"
	"github.com/poimen-memory/mem/harness/stat/decide"
)

// Annotations writes GitHub Actions' error commands: one for each failed check, at the
// spec's line that asked for it, else at the spec as a whole; one for each decision that
// is not GO; and one for each reason for which runs did not complete.
func Annotations(w io.Writer, rs []*result.Result) error {
	var out bytes.Buffer
	for _, r := range rs {
		for _, d := range r.Decisions {
			if d.Skipped == "" && d.Verdict != decide.Go {
				out.WriteString(annotation(place(r, check.Result{Pos: d.Pos}), r.Experiment, view.DecisionHead(d)+": "+d.Reason))
			}
		}
		for _, f := range view.Failures(r.Checks) {
			out.WriteString(annotation(place(r, f), r.Experiment+": "+f.Check+" "+f.Subject, f.Detail))
		}
		for _, state := range view.UnfinishedStates() {
			for _, g := range view.RunsByReason(r.Runs, state) {
				message := diag.Count(len(g.Subjects), "run") + " " + g.Text + ": " + strings.Join(g.Examples(), ", ")
				out.WriteString(annotation("file="+property(r.Spec), r.Experiment+": runs "+string(state), message))
			}
		}
	}
	_, err := out.WriteTo(w)
	return err
}

func place(r *result.Result, f check.Result) string {
	switch {
	case f.Pos.File == "":
		return "file=" + property(r.Spec)
	case f.Pos.Line == 0:
		return "file=" + property(f.Pos.File)
	}
	return fmt.Sprintf("file=%s,line=%d,col=%d", property(f.Pos.File), f.Pos.Line, f.Pos.Col)
}

func annotation(place, title, message string) string {
	return "::error " + place + ",title=" + property(title) + "::" + data(message) + "\n"
}

// data is any text as a command's message: the runner reads %0A as a newline, and so on.
func data(s string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A").Replace(layout.Clean(s))
}

// property is any text as the value of a command's property.
func property(s string) string {
	return strings.NewReplacer(":", "%3A", ",", "%2C").Replace(data(s))
}
