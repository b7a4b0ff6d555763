package corpus

import (
	"slices"
	"sort"

	"github.com/poimen-memory/mem/prompt"
)

// piece is the bytes from..to of a record's text, most often all of them.
type piece struct {
	*Record
	from, to int
}

func (p piece) text() string { return p.Text[p.from:p.to] }

// packer fills chunks with records.
//
// The size of a chunk is counted on its rendering. While a chunk fills, the sum of its
// records' counts stands in for that, and the rendering is counted when the sum reaches
// the limit: so a record is counted a few times, however many share a chunk.
type packer struct {
	pack     Pack
	prompts  *prompt.Builder
	emit     func([]piece, prompt.Text)
	between  int // tokens of the blank line between two records
	open     []piece
	sum      int          // of the tokens of open, about
	measured *prompt.Text // the rendering of open, once it is counted
	density  float64      // bytes a token, of what was counted last
}

func newPacker(pack Pack, prompts *prompt.Builder, emit func([]piece, prompt.Text)) packer {
	between := max(1, prompts.Measure("\n\n").Tokens) // never 0, so that open stays bounded
	return packer{pack: pack, prompts: prompts, emit: emit, between: between, density: 4}
}

// add takes the next record. The error is a diag.Errors: no chunk can hold any of it.
func (p *packer) add(r *Record) error {
	rest := piece{r, 0, len(r.Text)}
	if p.pack.Records > 0 {
		if p.open = append(p.open, rest); len(p.open) == p.pack.Records {
			p.flush()
		}
		return nil
	}
	for {
		head, alone, err := p.head(rest)
		if err != nil {
			return err
		}
		if head.to == rest.to {
			p.join(head, alone)
			return nil
		}
		p.flush()
		p.emit([]piece{head}, alone)
		rest.from = head.to
	}
}

// flush emits all that is open.
func (p *packer) flush() {
	for len(p.open) > 0 {
		p.spill()
	}
}

// join puts a piece, whose rendering alone is known, into the open chunk or a new one.
func (p *packer) join(next piece, alone prompt.Text) {
	for len(p.open) > 0 && !p.fits(next, alone.Tokens) {
		p.spill()
	}
	if len(p.open) == 0 {
		p.sum, p.measured = alone.Tokens, &alone
	}
	p.open = append(p.open, next)
}

// fits reports whether the open chunk can take a piece that has so many tokens alone, and
// if so counts it.
func (p *packer) fits(next piece, tokens int) bool {
	limit, more := p.pack.Tokens, p.between+tokens
	if p.sum+more > limit {
		p.sum = p.rendering().Tokens // the sum may have been too high
	}
	switch {
	case p.sum+more <= limit:
		p.sum, p.measured = p.sum+more, nil
		return true
	case p.sum+tokens > limit+2: // tokens that grow together at the seam do not spare more
		return false
	}
	with := p.measure(append(p.open, next))
	if with.Tokens > limit {
		return false
	}
	p.sum, p.measured = with.Tokens, &with
	return true
}

// spill emits the open chunk, or as many of its records as fit when their sum misled.
func (p *packer) spill() {
	n, text := len(p.open), p.rendering()
	if limit := p.pack.Tokens; limit > 0 && text.Tokens > limit {
		n = 1 + sort.Search(n-2, func(i int) bool { return p.measure(p.open[:i+2]).Tokens > limit })
		text = p.measure(p.open[:n])
	}
	p.emit(p.open[:n], text)
	p.open, p.sum, p.measured = slices.Delete(p.open, 0, n), 0, nil
	if len(p.open) > 0 {
		p.sum = p.rendering().Tokens
	}
}

// rendering is the open chunk as it would be sent, counted.
func (p *packer) rendering() prompt.Text {
	if p.measured == nil {
		t := p.measure(p.open)
		p.measured = &t
	}
	return *p.measured
}

func (p *packer) measure(pieces []piece) prompt.Text {
	records := make([]prompt.Record, len(pieces))
	for i, c := range pieces {
		records[i] = prompt.Record{Role: c.Role, Text: c.text()}
	}
	return p.prompts.Measure(prompt.Render(records...))
}
