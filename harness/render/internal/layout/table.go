package layout

import (
	"bytes"
	"strings"

	"github.com/olekukonko/tablewriter"
	"github.com/olekukonko/tablewriter/renderer"
	"github.com/olekukonko/tablewriter/tw"
)

// Column is one column of a table, or several that are never parted (see Group). Its
// cells are any text; its head is ours and may have several lines.
type Column struct {
	Head  string
	Cells []string
	Right bool // aligned
	Key   bool // says what a row is of: stands in every part of a folded table
	Prose bool // is wrapped where the table is too wide
}

// Table is columns of equal length.
type Table []Column

const (
	gap        = 2  // columns between columns
	leastKey   = 16 // columns to which a key may be cut rather than fold the table
	shortest   = 6  // columns of a key in any case
	leastProse = 24
	MinWidth   = 40 // for terminals below this, lines are too long
)

// Group sets numeric columns close together under a common title.
func Group(title string, columns ...Column) Column {
	g := Column{Right: true, Cells: make([]string, len(columns[0].Cells))}
	var heads string
	for i, c := range columns {
		n := c.width()
		if i > 0 {
			n++ // the space between
		}
		heads += padLeft(c.Head, n)
		for row, cell := range c.Cells {
			g.Cells[row] += padLeft(cell, n)
		}
	}
	free := Width(heads) - Width(title)
	g.Head = title + strings.Repeat(" ", max(free, 0)) + "\n" + heads
	return g
}

func padLeft(s string, n int) string { return strings.Repeat(" ", max(n-Width(s), 0)) + s }

func (c Column) width() int {
	n := 0
	for _, line := range append(strings.Split(c.Head, "\n"), c.Cells...) {
		for line := range strings.SplitSeq(line, "\n") { // a wrapped cell
			n = max(n, Width(line))
		}
	}
	return n
}

// mapCells is the column with other cells.
func (c Column) mapCells(change func(string) string) Column {
	cells := make([]string, len(c.Cells))
	for i, cell := range c.Cells {
		cells[i] = change(cell)
	}
	c.Cells = cells
	return c
}

func (c Column) cut(n int) Column {
	return c.mapCells(func(s string) string { return Cut(s, n) })
}

// wrap marks continuation lines, as the gutter of a terminal does.
func (c Column) wrap(n int) Column {
	const on = "│ "
	return c.mapCells(func(s string) string {
		if Width(s) <= n {
			return s
		}
		return strings.Join(Wrap(s, n-Width(on)), "\n"+on)
	})
}

func (t Table) width() int {
	n := gap * (len(t) - 1)
	for _, c := range t {
		n += c.width()
	}
	return n
}

func (t Table) clean() Table {
	safe := make(Table, len(t))
	for i, c := range t {
		safe[i] = c.mapCells(Clean)
	}
	return safe
}

// Format is the table within a width in columns; 0: no limit. A table that is too wide has
// its longest key cut a little; if that is not enough, it is folded into parts that all
// begin with the keys.
func (t Table) Format(limit int) (string, error) {
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

func (t Table) fit(limit int) []Table {
	if limit == 0 || t.width() <= limit {
		return []Table{t}
	}
	limit = max(limit, MinWidth)
	if !t.hasProse() {
		if cut := t.cutKey(t.width()-limit, leastKey); cut.width() <= limit {
			return []Table{cut}
		}
	}
	widest := 0
	for _, c := range t {
		if !c.Key {
			widest = max(widest, c.need())
		}
	}
	keys, rest := t.cutKeys(min(limit/2, limit-gap-widest))
	return fold(keys, rest, limit)
}

// need is the columns without which c does not fit beside others.
func (c Column) need() int {
	if c.Prose {
		return min(c.width(), leastProse)
	}
	return c.width()
}

func (t Table) hasProse() bool {
	for _, c := range t {
		if c.Prose {
			return true
		}
	}
	return false
}

// cutKey takes excess columns off the longest key that is longer than its heading, but leaves it at
// least so many.
func (t Table) cutKey(excess, least int) Table {
	longest := -1
	for i, c := range t {
		if c.Key && c.width() > (Column{Head: c.Head}).width() && (longest < 0 || c.width() > t[longest].width()) {
			longest = i
		}
	}
	if longest < 0 || excess <= 0 {
		return t
	}
	narrow := append(Table(nil), t...)
	narrow[longest] = narrow[longest].cut(max(narrow[longest].width()-excess, least))
	return narrow
}

// cutKeys parts the keys, cut to a limit, the longest first, from the other columns.
func (t Table) cutKeys(limit int) (keys, rest Table) {
	for _, c := range t {
		if c.Key {
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
func fold(keys, rest Table, limit int) (parts []Table) {
	part := append(Table(nil), keys...)
	for _, c := range rest {
		if part.width()+gap+c.need() > limit && len(part) > len(keys) {
			parts = append(parts, part)
			part = append(Table(nil), keys...)
		}
		if c.Prose {
			c = c.wrap(limit - part.width() - gap)
		}
		part = append(part, c)
	}
	return append(parts, part)
}

// draw sets the table. Its rule has a gap between columns, which no cell crosses.
func (t Table) draw() (string, error) {
	var b bytes.Buffer
	w := tablewriter.NewTable(&b, t.style()...)
	w.Header(t.heads())
	for i := range t[0].Cells {
		row := make([]string, len(t))
		for j, c := range t {
			row[j] = c.Cells[i]
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
func (t Table) heads() []string {
	height := 0
	for _, c := range t {
		height = max(height, strings.Count(c.Head, "\n"))
	}
	heads := make([]string, len(t))
	for i, c := range t {
		heads[i] = strings.Repeat("\n", height-strings.Count(c.Head, "\n")) + c.Head
	}
	return heads
}

// style has tablewriter take cells as they are: no capitals, no wrapping, no trimming, and
// no widths that hang on the locale, as its own default.
func (t Table) style() []tablewriter.Option {
	cell := tw.CellConfig{
		Formatting: tw.CellFormatting{AutoWrap: tw.WrapNone, AutoFormat: tw.Off},
		Padding:    tw.CellPadding{Global: tw.PaddingNone},
	}
	for _, c := range t {
		align := tw.AlignLeft
		if c.Right {
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

func Each[T any](list []T, of func(T) string) []string {
	texts := make([]string, len(list))
	for i, e := range list {
		texts[i] = of(e)
	}
	return texts
}
