package render

import (
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/poimen-memory/mem/harness/render/internal/layout"
)

// ServiceRow is how a live model's server did in one session: what a clock saw, so that it
// stands in no report but the terminal's.
type ServiceRow struct {
	Model           string
	Calls           int           // answered
	P50, P95        time.Duration // of attempts that brought a reply
	TokensPerSecond float64       // of completions, all calls together
	TurnsPerMinute  float64
	Retries         int // after failures in transport
	Limit, Most     int // calls in flight: the adaptive limit at the end, and its ceiling
}

// Service shows how the servers of live models did.
func Service(w io.Writer, as Terminal, rows []ServiceRow) error {
	if len(rows) == 0 || as.Detail == Quiet {
		return nil
	}
	text := func(head string, of func(ServiceRow) string) layout.Column {
		return layout.Column{Head: head, Right: true, Cells: layout.Each(rows, of)}
	}
	p := screen{Terminal: as}
	p.line("")
	p.heading("Servers in this session")
	p.table(layout.Table{
		{Head: "model", Key: true, Cells: layout.Each(rows, func(r ServiceRow) string { return r.Model })},
		text("calls", func(r ServiceRow) string { return strconv.Itoa(r.Calls) }),
		text("latency\np50, s", func(r ServiceRow) string { return seconds(r.P50) }),
		text("latency\np95, s", func(r ServiceRow) string { return seconds(r.P95) }),
		text("tokens/s", func(r ServiceRow) string { return fmt.Sprintf("%.1f", r.TokensPerSecond) }),
		text("turns/min", func(r ServiceRow) string { return fmt.Sprintf("%.1f", r.TurnsPerMinute) }),
		text("retries", func(r ServiceRow) string { return strconv.Itoa(r.Retries) }),
		text("limit", func(r ServiceRow) string { return fmt.Sprintf("%d of %d", r.Limit, r.Most) }),
	})
	p.paragraph("  ", "latency: of attempts that brought a reply. retries: of transport, after "+
		"refusals, timeouts and server errors. limit: calls in flight at the end, of those asked for.")
	return p.flush(w)
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.2f", d.Seconds()) }
