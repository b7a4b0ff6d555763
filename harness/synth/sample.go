package synth

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"

	"github.com/poimen-memory/mem/harness/corpus"
	"github.com/poimen-memory/mem/harness/diag"
	"github.com/poimen-memory/mem/prompt"
)

// synthetic is one sample. Its records are made when they are read, each from its number
// alone, so that a session of any length takes no memory.
type synthetic struct {
	Config
	meter
	name     string
	fullName string // its name with that of the corpus
	tokens   int
	seed     random
	content  content
	hay      filler
	records  int
	placed   []placed // in the order of the text
}

// placed is a statement before a sentence of the haystack, both counted from 0.
type placed struct {
	statement
	at int
}

// The streams of a sample's seed.
const (
	streamTask = iota
	streamPlace
	streamHay
)

func (s *synthetic) make(f family, seed random, file []string) {
	s.seed = seed
	task := seed.of(streamTask)
	s.content = f.write(s.Config, &task)
	s.hay = f.hay(s, file)
}

// fit finds how many records of the haystack fit beside all statements.
func (s *synthetic) fit(ctx context.Context) error {
	needles, left := 0, s.tokens
	for _, st := range s.content.statements() {
		needles += max(s.measure(" "+st.text), s.measure(" "+st.tool))
	}
	for left -= needles; ctx.Err() == nil; s.records++ {
		role, hay := s.hay(s.records)
		if left -= s.cost(role, hay.text()); left < 0 {
			break
		}
	}
	if s.records == 0 && ctx.Err() == nil {
		return wrong("tokens", "found %d, want at least the %d tokens of the needles and one record", s.tokens, needles)
	}
	return ctx.Err()
}

// meter counts tokens.
type meter struct{ prompts *prompt.Builder }

func (m meter) measure(text string) int { return m.prompts.Measure(text).Tokens }

// cost is what a record adds to a session. It ends where the next one begins, for some
// vocabularies count a blank line by what follows it.
func (m meter) cost(role, text string) int {
	return m.measure(prompt.Render(prompt.Record{Role: role, Text: text})+"\n\n[") - m.measure("[")
}

// gridDepths is how many depths RULER has.
const gridDepths = 40

// place draws where the statements stand. Those of a chain keep their order.
func (s *synthetic) place() {
	draw := s.seed.of(streamPlace)
	last := s.records*sentences - 1
	grid := draw.shuffle(gridDepths, min(len(s.content.statements()), gridDepths))
	percent, fixed := strconv.ParseFloat(s.Depth, 64)
	for _, chain := range s.content.chains {
		at := make([]int, len(chain))
		for i, st := range chain {
			switch {
			case s.Depth == "grid":
				at[i], grid = grid[0]*last/(gridDepths-1), grid[1:]
			case fixed == nil && st.queried:
				at[i] = int(percent / 100 * float64(last))
			default:
				at[i] = draw.below(last + 1)
			}
		}
		slices.Sort(at)
		for i, st := range chain {
			s.placed = append(s.placed, placed{st, at[i]})
		}
	}
	slices.SortStableFunc(s.placed, func(a, b placed) int { return cmp.Compare(a.at, b.at) })
}

func (s *synthetic) source() corpus.Source {
	return corpus.Source{Name: s.name, Records: s.read, Queries: []corpus.SourceQuery{{Query: s.content.query}}, Tokens: s.tokens, Depth: s.depth()}
}

// depth is where the first queried statement stands, in percent of the text.
func (s *synthetic) depth() float64 {
	i := slices.IndexFunc(s.placed, func(p placed) bool { return p.queried })
	return 100 * float64(s.placed[i].at) / float64(max(1, s.records*sentences-1))
}

func (s *synthetic) read() iter.Seq2[*corpus.Record, error] {
	return func(yield func(*corpus.Record, error) bool) {
		left := s.placed
		for i := range s.records {
			n := 0
			for n < len(left) && left[n].at < (i+1)*sentences {
				n++
			}
			if !yield(s.record(i, left[:n], len(s.placed)-len(left)), nil) {
				return
			}
			left = left[n:]
		}
	}
}

// record is the i-th record with its statements; before is how many stand before it. Only
// a record with statements has an id: labels need it, and ids take memory.
func (s *synthetic) record(i int, with []placed, before int) *corpus.Record {
	role, hay := s.hay(i)
	r := &corpus.Record{At: diag.Pos{File: s.fullName}, Number: i + 1, Filler: hay.cycled && len(with) == 0}
	r.Role = role
	if len(with) > 0 {
		r.ID = fmt.Sprintf("needle-%d", before+1)
	}
	var text strings.Builder
	add := func(sentence string) corpus.Span {
		if text.Len() > 0 {
			text.WriteByte(' ')
		}
		from := text.Len()
		text.WriteString(sentence)
		return corpus.Span{From: from, To: text.Len()}
	}
	for n, sentence := range hay.sentences {
		for len(with) > 0 && with[0].at == i*sentences+n {
			if at := add(with[0].in(role)); with[0].queried {
				r.Gold = append(r.Gold, at)
			} else {
				r.Hard = append(r.Hard, at)
			}
			with = with[1:]
		}
		if at := add(sentence); hay.hard {
			r.Hard = append(r.Hard, at)
		}
	}
	r.Text = text.String()
	return r
}
