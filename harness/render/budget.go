package render

import (
	"fmt"
	"io"
	"strconv"

	"github.com/poimen-memory/mem/harness/diag"
	"github.com/poimen-memory/mem/harness/forecast"
	"github.com/poimen-memory/mem/harness/render/internal/layout"
	"github.com/poimen-memory/mem/harness/render/internal/view"
)

// Budget shows what the prompts over each corpus will take in tokens, how large its chunks
// are, and what other packings come to.
func Budget(w io.Writer, as Terminal, forecasts []forecast.Forecast) error {
	p := screen{Terminal: as}
	for i, f := range forecasts {
		if i > 0 {
			p.line("")
		}
		p.heading("Prompt tokens over " + f.Corpus + ", counted with " + f.Tokenizer)
		p.table(view.BudgetTable(f.BudgetTable))
		p.paragraph("", "headroom with a full memory and the longest question: "+view.Headroom(f.BudgetTable))
		if f.Verdict.Failed() {
			p.failure(f.Verdict)
		}
		if len(f.Sizes) > 0 {
			p.section("Chunk sizes of " + f.Corpus)
			p.table(Histogram("tokens", "chunks", f.Sizes, ""))
		}
		if len(f.Packings) > 0 {
			p.section("Packings of " + f.Corpus)
			p.table(packingsTable(f))
			p.paragraph("", advice(f))
		}
	}
	return p.flush(w)
}

func packingsTable(f forecast.Forecast) layout.Table {
	t := layout.Table{{Head: "chunk", Key: true}}
	limit, chunks := layout.Column{Head: "budget.chunk", Right: true}, layout.Column{Head: "chunks", Right: true}
	mean, largest := layout.Column{Head: "mean", Right: true}, layout.Column{Head: "max", Right: true}
	filled := layout.Column{Head: "window filled", Right: true}
	for _, k := range f.Packings {
		t[0].Cells = append(t[0].Cells, packing(k))
		limit.Cells = append(limit.Cells, strconv.Itoa(k.Limit))
		chunks.Cells = append(chunks.Cells, strconv.Itoa(k.Chunks))
		mean.Cells = append(mean.Cells, strconv.Itoa(k.Mean))
		largest.Cells = append(largest.Cells, strconv.Itoa(k.Max))
		filled.Cells = append(filled.Cells, fmt.Sprintf("%.0f%%", 100*k.Filled))
	}
	return append(t, limit, chunks, mean, largest, filled)
}

func advice(f forecast.Forecast) string {
	now, best := f.Packings[0], f.Best()
	if best.Chunks == now.Chunks {
		return "no packing of these makes fewer chunks than the first"
	}
	how := "chunk: {" + packing(best) + "}"
	if best.Limit != now.Limit {
		how += fmt.Sprintf(" and budget: {chunk: %d}", best.Limit)
	}
	return fmt.Sprintf("the window is used best with %s: %s in place of %d", how, diag.Count(best.Chunks, "chunk"), now.Chunks)
}

// packing is as a spec has it.
func packing(k forecast.Packing) string {
	if k.Records > 0 {
		return "records: " + strconv.Itoa(k.Records)
	}
	return "tokens: " + strconv.Itoa(k.Tokens)
}
