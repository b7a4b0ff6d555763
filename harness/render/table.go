package render

import (
	"bytes"
	"strings"

	"github.com/olekukonko/tablewriter"
	"github.com/olekukonko/tablewriter/renderer"
	"github.com/olekukonko/tablewriter/tw"
)

// column is one column of a table, or several that are never parted (see group). Its
// cells are any text; its head is ours and may have several lines.
type column struct {
	head  string
	cells []string
	right bool // aligned
	key   bool // says what a row is of: stands in every part of a folded table
	prose bool // is wrapped where room is short
}

// table is columns of equal length.
type table []column

const (
	gap        = 2  // columns between columns
	leastKey   = 16 // columns to which a key may be cut rather than fold the table
	shortest   = 6  // columns of a key in any case
	leastProse = 24
	narrowest  = 40 // for terminals below this, lines are too long
)

// group sets numeric columns close together under a common title.
func group(title string, columns ...column) column {
	g := column{right: true, cells: make([]string, len(columns[0].cells))}
	var heads string
	for i, c := range columns {
		n := c.width()
		if i > 0 {
			n++ // the space between
		}
		heads += padLeft(c.head, n)
		for row, cell := range c.cells {
			g.cells[row] += padLeft(cell, n)
		}
	}
	room := width(heads) - width(title)
	g.head = title + strings.Repeat(" ", max(room, 0)) + "\n" + heads
	return g
}

func padLeft(s string, n int) string { return strings.Repeat(" ", max(n-width(s), 0)) + s }

func (c column) width() int {
	n := 0
	for _, line := range append(strings.Split(c.head, "\n"), c.cells...) {
		for line := range strings.SplitSeq(line, "\n") { // a wrapped cell
			n = max(n, width(line))
		}
	}
	return n
}

// each is the column with other cells.
func (c column) each(change func(string) string) column {
	cells := make([]string, len(c.cells))
	for i, cell := range c.cells {
		cells[i] = change(cell)
	}
	c.cells = cells
	return c
}

func (c column) cut(n int) column {
	return c.each(func(s string) string { return cut(s, n) })
}

// wrap marks the lines that go on, as a page's gutter does.
func (c column) wrap(n int) column {
	const on = "│ "
	return c.each(func(s string) string {
		if width(s) <= n {
			return s
		}
		return strings.Join(wrap(s, n-width(on)), "\n"+on)
	})
}

func (t table) width() int {
	n := gap * (len(t) - 1)
	for _, c := range t {
		n += c.width()
	}
	return n
}

func (t table) clean() table {
	safe := make(table, len(t))
	for i, c := range t {
		safe[i] = c.each(clean)
	}
	return safe
}

// text is the table within a width in columns; 0: no limit. A table that is too wide has
// its longest key cut a little; if that is not enough, it is folded into parts that all
// begin with the keys.
func (t table) text(limit int) (string, error) {
	var texts []string
	for _, part := range t.clean().fit(limit) {
		text, err := part.draw()
		if err != nil {
			return "", err
		}
		texts = append(texts, text)
	}
	return strings.Join(texts, "\n"), nil
}

func (t table) fit(limit int) []table {
	if limit == 0 || t.width() <= limit {
		return []table{t}
	}
	limit = max(limit, narrowest)
	if !t.hasProse() {
		if cut := t.cutKey(t.width()-limit, leastKey); cut.width() <= limit {
			return []table{cut}
		}
	}
	widest := 0
	for _, c := range t {
		if !c.key {
			widest = max(widest, c.need())
		}
	}
	keys, rest := t.cutKeys(min(limit/2, limit-gap-widest))
	return fold(keys, rest, limit)
}

// need is the columns without which c does not fit beside others.
func (c column) need() int {
	if c.prose {
		return min(c.width(), leastProse)
	}
	return c.width()
}

func (t table) hasProse() bool {
	for _, c := range t {
		if c.prose {
			return true
		}
	}
	return false
}

// cutKey takes excess columns off the longest key, but leaves it at least so many.
func (t table) cutKey(excess, least int) table {
	longest := -1
	for i, c := range t {
		if c.key && (longest < 0 || c.width() > t[longest].width()) {
			longest = i
		}
	}
	if longest < 0 || excess <= 0 {
		return t
	}
	narrow := append(table(nil), t...)
	narrow[longest] = narrow[longest].cut(max(narrow[longest].width()-excess, least))
	return narrow
}

// cutKeys parts the keys, cut to a limit, the longest first, from the other columns.
func (t table) cutKeys(limit int) (keys, rest table) {
	for _, c := range t {
		if c.key {
			keys = append(keys, c)
		} else {
			rest = append(rest, c)
		}
	}
	for range keys {
		keys = keys.cutKey(keys.width()-limit, shortest)
	}
	return keys, rest
}

// fold puts as many columns as fit beside the keys, the next ones below, and so on.
func fold(keys, rest table, limit int) (parts []table) {
	part := append(table(nil), keys...)
	for _, c := range rest {
		if part.width()+gap+c.need() > limit && len(part) > len(keys) {
			parts = append(parts, part)
			part = append(table(nil), keys...)
		}
		if c.prose {
			c = c.wrap(limit - part.width() - gap)
		}
		part = append(part, c)
	}
	return append(parts, part)
}

// draw sets the table. Its rule has a gap between columns, which no cell crosses.
func (t table) draw() (string, error) {
	var b bytes.Buffer
	w := tablewriter.NewTable(&b, t.style()...)
	w.Header(t.heads())
	for i := range t[0].cells {
		row := make([]string, len(t))
		for j, c := range t {
			row[j] = c.cells[i]
		}
		if err := w.Append(row); err != nil {
			return "", err
		}
	}
	if err := w.Render(); err != nil {
		return "", err
	}
	return trimLines(b.String()), nil
}

// heads stand on the rule, whatever their height.
func (t table) heads() []string {
	height := 0
	for _, c := range t {
		height = max(height, strings.Count(c.head, "\n"))
	}
	heads := make([]string, len(t))
	for i, c := range t {
		heads[i] = strings.Repeat("\n", height-strings.Count(c.head, "\n")) + c.head
	}
	return heads
}

// style has tablewriter take cells as they are: no capitals, no wrapping, no trimming, and
// no widths that hang on the locale, as its own default.
func (t table) style() []tablewriter.Option {
	cell := tw.CellConfig{
		Formatting: tw.CellFormatting{AutoWrap: tw.WrapNone, AutoFormat: tw.Off},
		Padding:    tw.CellPadding{Global: tw.PaddingNone},
	}
	for _, c := range t {
		align := tw.AlignLeft
		if c.right {
			align = tw.AlignRight
		}
		cell.Alignment.PerColumn = append(cell.Alignment.PerColumn, align)
	}
	between := strings.Repeat(" ", gap)
	return []tablewriter.Option{
		tablewriter.WithEastAsian(tw.Off),
		tablewriter.WithConfig(tablewriter.Config{Header: cell, Row: cell}),
		tablewriter.WithTrimSpace(tw.Off), tablewriter.WithTrimLine(tw.Off),
		tablewriter.WithTrimTab(tw.Off), tablewriter.WithAutoHide(tw.Off),
		tablewriter.WithRenderer(renderer.NewBlueprint(tw.Rendition{
			Borders: tw.BorderNone,
			Symbols: tw.NewSymbolCustom("gaps").WithRow("─").WithColumn(between).WithCenter(between),
			Settings: tw.Settings{
				Separators: tw.Separators{ShowHeader: tw.Off, ShowFooter: tw.Off, BetweenRows: tw.Off, BetweenColumns: tw.On},
				Lines:      tw.Lines{ShowTop: tw.Off, ShowBottom: tw.Off, ShowHeaderLine: tw.On, ShowFooterLine: tw.Off},
			},
		})),
	}
}

func trimLines(s string) string {
	lines := strings.Split(s, "\n")
	for i, line := range lines {
		lines[i] = strings.TrimRight(line, " ")
	}
	return strings.Join(lines, "\n")
}
