package render

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/poimen-memory/mem/harness/diag"
	"github.com/poimen-memory/mem/harness/inspect"
	"github.com/poimen-memory/mem/harness/render/internal/layout"
	"github.com/poimen-memory/mem/harness/result"
	"github.com/poimen-memory/mem/loop"
	"github.com/poimen-memory/mem/loop/journal"
)

// Turn shows one turn: what was asked, what the gates said and should have said, the memory
// before and after, the replies, and last the chunk with its evidence marked, for it is long.
func Turn(w io.Writer, as Terminal, t inspect.Turn) error {
	p := screen{Terminal: as}
	p.heading(fmt.Sprintf("%s · turn %d of %d", t.Run.Name, t.Number, t.Run.Chunks))
	if t.Question != "" {
		p.paragraph("question: ", t.Question)
	}
	for _, m := range t.Mistakes {
		p.paragraph(p.red("✗ "), m.Meaning())
	}
	if len(t.Mistakes) == 0 {
		p.line(p.green("✓") + " right")
	}
	p.line("")
	p.table(turnGates(t))
	showMemory(&p, t)
	for _, c := range t.Calls {
		showCall(&p, c)
	}
	showChunk(&p, t)
	return p.flush(w)
}

// turnGates holds what the gates said against the labels.
func turnGates(t inspect.Turn) layout.Table {
	said := func(opened bool, yes, no string) string {
		switch {
		case !t.Parsed:
			return "nothing that could be read"
		case opened:
			return yes
		}
		return no
	}
	update, exit := "no, the chunk is not evidence", fmt.Sprintf("continue, evidence comes until turn %d", t.Last())
	if t.Judged.Evidence {
		update = "yes, the chunk is evidence"
	}
	switch last := t.Last(); {
	case last == 0:
		exit = "not judged, the session has no evidence"
	case t.Number >= last:
		exit = fmt.Sprintf("end, the last evidence is turn %d", last)
	}
	return layout.Table{
		{Head: "gate", Key: true, Cells: []string{"update", "exit"}},
		{Head: "said", Cells: []string{said(t.Update, "yes", "no"), said(t.Exit, "end", "continue")}},
		{Head: "right", Cells: []string{update, exit}},
	}
}

// showMemory shows how the turn changed the memory.
func showMemory(p *screen, t inspect.Turn) {
	before := "(none)"
	if t.Before != nil {
		before = t.Before.Raw
	}
	if !t.Written {
		p.section("Memory, not changed")
		if t.OverBudget != nil {
			p.paragraph("  ", fmt.Sprintf("the candidate had %s, a memory may have %d", diag.Count(t.OverBudget.Tokens, "token"), t.OverBudget.Budget))
		}
		p.quote(before)
		return
	}
	p.section(fmt.Sprintf("Memory, %s after the turn (- before, + after)", diag.Count(t.Memory.Tokens, "token")))
	for _, line := range changes(before, t.Memory.Text) {
		paint := func(s string) string { return s }
		switch line[0] {
		case '-':
			paint = p.red
		case '+':
			paint = p.green
		}
		p.pieces(gutter, line, paint)
	}
}

// changes are the lines of a diff, sentence by sentence, for a memory is often one line.
func changes(before, after string) (lines []string) {
	sentences := func(s string) []byte { return []byte(strings.ReplaceAll(s, ". ", ".\n") + "\n") }
	for i, line := range strings.Split(strings.TrimSuffix(string(diff.Diff("", sentences(before), "", sentences(after))), "\n"), "\n") {
		switch {
		case i < 3: // names of files
		case strings.HasPrefix(line, "@@"):
			if i > 3 {
				lines = append(lines, "…")
			}
		case line != "":
			lines = append(lines, line)
		}
	}
	if len(lines) == 0 {
		return []string{"the same text was written again"}
	}
	return lines
}

func showCall(p *screen, c journal.Call) {
	head := "Reply"
	if c.Attempt > 1 {
		head += " at attempt " + strconv.Itoa(c.Attempt)
	}
	if c.Usage != nil {
		head += fmt.Sprintf(", %d tokens for %d", c.Usage.CompletionTokens, c.Usage.PromptTokens)
	}
	if c.Finish != "" {
		head += ", finish_reason " + c.Finish
	}
	p.section(head)
	if c.Error != "" {
		p.paragraph(p.red("✗ "), c.Error)
		return
	}
	if _, err := loop.Parse(loop.Completion{Text: c.Reply, Reasoning: c.Reasoning, Finish: c.Finish}); err != nil {
		p.paragraph(p.red("✗ "), "it could not be read: "+err.Error())
	}
	if c.Reasoning != "" {
		p.line("  reasoning")
		p.quote(c.Reasoning)
		p.line("  text")
	}
	p.quote(c.Reply)
}

// mark stands before a line with evidence in place of the gutter.
const mark = "  ▶ "

func showChunk(p *screen, t inspect.Turn) {
	if t.Chunk == nil {
		p.section("Chunk")
		p.paragraph("  ", "not shown: "+t.NoChunk)
		return
	}
	head := fmt.Sprintf("Chunk, %s, %s", diag.Count(t.Chunk.Records, "record"), diag.Count(t.Chunk.Tokens, "token"))
	if t.Judged.Evidence {
		head += ", evidence at ▶"
	}
	p.section(head)
	evidence := layout.CleanLines(t.Excerpt)
	for _, line := range layout.CleanLines(t.Chunk.Raw) {
		before, paint := gutter, func(s string) string { return s }
		if holdsAny(line, evidence) {
			before, paint = mark, p.bold
		}
		for _, piece := range layout.Wrap(line, p.textWidth()) {
			p.line(before + paint(piece))
		}
	}
}

// holdsAny tells whether a line of the chunk shows a line of the evidence.
func holdsAny(line string, evidence []string) bool {
	for _, e := range evidence {
		if strings.TrimSpace(e) != "" && strings.Contains(line, e) {
			return true
		}
	}
	return false
}

// Turns shows the turns of a run, a line each, and says how to see one.
func Turns(w io.Writer, as Terminal, run result.Run, turns []inspect.Turn, command string) error {
	p := screen{Terminal: as}
	p.heading(fmt.Sprintf("%s · %s", run.Name, diag.Count(len(turns), "turn")))
	if len(turns) > 0 && turns[0].Question != "" {
		p.paragraph("question: ", turns[0].Question)
	}
	p.line("")
	cells := func(of func(inspect.Turn) string) []string { return layout.Each(turns, of) }
	p.table(layout.Table{
		{Head: "turn", Right: true, Key: true, Cells: cells(func(t inspect.Turn) string { return strconv.Itoa(t.Number) })},
		{Head: "evidence", Cells: cells(func(t inspect.Turn) string { return either(t.Judged.Evidence, "yes", "") })},
		{Head: "update", Cells: cells(func(t inspect.Turn) string { return either(!t.Parsed, "?", either(t.Update, "yes", "no")) })},
		{Head: "exit", Cells: cells(func(t inspect.Turn) string { return either(!t.Parsed, "?", either(t.Exit, "end", "")) })},
		{Head: "attempts", Right: true, Cells: cells(func(t inspect.Turn) string { return strconv.Itoa(t.Attempts) })},
		{Head: "memory", Right: true, Cells: cells(func(t inspect.Turn) string { return strconv.Itoa(t.Judged.MemoryTokens) })},
		{Head: "wrong", Cells: cells(func(t inspect.Turn) string {
			return strings.Join(layout.Each(t.Mistakes, func(m result.Mistake) string { return string(m) }), ", ")
		})},
	})
	p.paragraph("  ", "memory: tokens after the turn. ?: no reply could be read.")
	p.line("")
	p.paragraph("a turn: ", command+" --turn N")
	return p.flush(w)
}

func either(cond bool, yes, no string) string {
	if cond {
		return yes
	}
	return no
}

// Worst lists runs, a line each, with how many of their turns are wrong in which way.
func Worst(w io.Writer, as Terminal, runs []result.Run, command string) error {
	p := screen{Terminal: as}
	table := layout.Table{{Head: "turns", Right: true, Cells: layout.Each(runs, func(r result.Run) string { return strconv.Itoa(r.ChunksSeen) })}}
	for _, m := range result.Mistakes() {
		if m == result.OverBudget {
			continue // the summary does not count these by run
		}
		table = append(table, layout.Column{Head: strings.ReplaceAll(string(m), "-", "\n"), Right: true, Cells: layout.Each(runs, func(r result.Run) string {
			return either(r.Troubles.Count(m) == 0, "", strconv.Itoa(r.Troubles.Count(m)))
		})})
	}
	table = append(table, layout.Column{Head: "run", Cells: layout.Each(runs, func(r result.Run) string { return r.Name })})
	p.table(table)
	p.line("")
	p.paragraph("a run: ", command+" RUN")
	p.paragraph("all wrong turns: ", command+" --wrong")
	return p.flush(w)
}

// wrongTurns heads the turns that are wrong in one way.
func wrongTurns(w io.Writer, as Terminal, way result.Mistake) error {
	p := screen{Terminal: as}
	p.heading(fmt.Sprintf("== %s: %s", way, way.Meaning()))
	p.line("")
	return p.flush(w)
}
