package render

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/poimen-memory/mem/harness"
)

// Budget shows what the prompts over each corpus will take in tokens, how large its chunks
// are, and what other packings come to.
func (t Terminal) Budget(w io.Writer, forecasts []harness.Forecast) error {
	p := page{Terminal: t}
	for i, f := range forecasts {
		if i > 0 {
			p.line("")
		}
		p.heading("Prompt tokens over " + f.Corpus + ", counted with " + f.Tokenizer)
		p.table(budgetTable(f.BudgetTable))
		p.paragraph("", "headroom with a full memory and the longest question: "+headroom(f.BudgetTable))
		if f.Verdict.Failed() {
			p.failure(f.Verdict)
		}
		p.sizes(f)
		p.packings(f)
	}
	return p.flush(w)
}

// sizes draws a histogram; a bar is as long as its share of the largest.
func (p *page) sizes(f harness.Forecast) {
	if len(f.Sizes) == 0 {
		return
	}
	const longest = 30
	most := 0
	for _, b := range f.Sizes {
		most = max(most, b.Chunks)
	}
	tokens, chunks, bar := column{head: "tokens", right: true}, column{head: "chunks", right: true}, column{}
	for _, b := range f.Sizes {
		size := strconv.Itoa(b.From)
		if b.To > b.From {
			size += "–" + strconv.Itoa(b.To)
		}
		tokens.cells = append(tokens.cells, size)
		chunks.cells = append(chunks.cells, strconv.Itoa(b.Chunks))
		bar.cells = append(bar.cells, strings.Repeat("█", (b.Chunks*longest+most-1)/most))
	}
	p.section("Chunk sizes of " + f.Corpus)
	p.table(table{tokens, chunks, bar})
}

func (p *page) packings(f harness.Forecast) {
	if len(f.Packings) == 0 {
		return
	}
	t := table{{head: "chunk", key: true}}
	limit, chunks := column{head: "budget.chunk", right: true}, column{head: "chunks", right: true}
	mean, largest := column{head: "mean", right: true}, column{head: "max", right: true}
	filled := column{head: "window filled", right: true}
	for _, k := range f.Packings {
		t[0].cells = append(t[0].cells, packing(k))
		limit.cells = append(limit.cells, strconv.Itoa(k.Limit))
		chunks.cells = append(chunks.cells, strconv.Itoa(k.Chunks))
		mean.cells = append(mean.cells, strconv.Itoa(k.Mean))
		largest.cells = append(largest.cells, strconv.Itoa(k.Max))
		filled.cells = append(filled.cells, fmt.Sprintf("%.0f%%", 100*k.Filled))
	}
	p.section("Packings of " + f.Corpus)
	p.table(append(t, limit, chunks, mean, largest, filled))
	p.paragraph("", advice(f))
}

func advice(f harness.Forecast) string {
	now, best := f.Packings[0], f.Best()
	if best.Chunks == now.Chunks {
		return "no packing of these makes fewer chunks than the first"
	}
	how := "chunk: {" + packing(best) + "}"
	if best.Limit != now.Limit {
		how += fmt.Sprintf(" and budget: {chunk: %d}", best.Limit)
	}
	return fmt.Sprintf("the window is used best with %s: %s in place of %d", how, plural(best.Chunks, "chunk"), now.Chunks)
}

// packing is as a spec has it.
func packing(k harness.Packing) string {
	if k.Records > 0 {
		return "records: " + strconv.Itoa(k.Records)
	}
	return "tokens: " + strconv.Itoa(k.Tokens)
}
