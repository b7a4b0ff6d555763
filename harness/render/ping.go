package render

import (
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/poimen-memory/mem/harness/render/internal/layout"
	"github.com/poimen-memory/mem/harness/render/internal/view"
)

// PingRow is how a live model answered one turn.
type PingRow struct {
	Model, Server string // id in the spec, and base URL
	Listed        string // whether the server's list has the model
	Gates         string // what the reply decided; "" if it could not be read
	Ours, Theirs  int    // tokens of the prompt, as we and the server count; 0: it does not
	Latency       time.Duration
	Problem       string // why it is no good; "": it is
	Reply         string // that could not be read
}

// Pings shows how live models answered.
func Pings(w io.Writer, as Terminal, rows []PingRow) error {
	text := func(head string, of func(PingRow) string) layout.Column {
		return layout.Column{Head: head, Cells: layout.Each(rows, of)}
	}
	number := func(head string, of func(PingRow) string) layout.Column {
		return layout.Column{Head: head, Right: true, Cells: layout.Each(rows, of)}
	}
	p := screen{Terminal: as}
	p.table(layout.Table{
		{Head: "model", Key: true, Cells: layout.Each(rows, func(r PingRow) string { return r.Model })},
		text("server", func(r PingRow) string { return r.Server }),
		text("listed", func(r PingRow) string { return r.Listed }),
		text("gate turn", func(r PingRow) string { return known(r.Gates) }),
		number("tokens\nours", func(r PingRow) string { return count(r.Ours) }),
		number("tokens\nserver", func(r PingRow) string { return count(r.Theirs) }),
		number("drift %", PingRow.drift),
		number("latency\ns", func(r PingRow) string { return latency(r.Latency) }),
	})
	for _, r := range rows {
		if r.Problem == "" {
			continue
		}
		var body []string
		if r.Reply != "" {
			body = append([]string{"it said:"}, firstLines(r.Reply)...)
		}
		p.item(p.red("✗"), r.Model+": "+r.Problem, body)
	}
	return p.flush(w)
}

// drift has the server's chat template in it: one prompt does not tell them apart.
func (r PingRow) drift() string {
	if r.Ours == 0 || r.Theirs == 0 {
		return view.Undefined
	}
	return fmt.Sprintf("%+.1f", 100*float64(r.Theirs-r.Ours)/float64(r.Ours))
}

func known(text string) string {
	if text == "" {
		return view.Undefined
	}
	return text
}

func count(n int) string {
	if n == 0 {
		return view.Undefined
	}
	return strconv.Itoa(n)
}

func latency(d time.Duration) string {
	if d == 0 {
		return view.Undefined
	}
	return seconds(d)
}
