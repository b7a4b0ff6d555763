package page

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"iter"

	"github.com/poimen-memory/mem/harness/result"
	"github.com/poimen-memory/mem/loop"
	"github.com/poimen-memory/mem/loop/journal"
)

// turnDetail is one turn as the page's script opens it. Its texts are not escaped: the
// script shows them as text.
type turnDetail struct {
	Parsed     bool         `json:"p,omitempty"`
	Update     bool         `json:"u,omitempty"` // as said
	Exit       bool         `json:"x,omitempty"` // as said
	Written    bool         `json:"w,omitempty"`
	OverBudget bool         `json:"o,omitempty"`
	Tokens     int          `json:"t,omitempty"` // of the memory after the turn
	Memory     *string      `json:"m,omitempty"` // the new memory, where one was written
	Prompt     string       `json:"q,omitempty"` // what was sent, where the journal holds it
	Digest     string       `json:"d,omitempty"` // of the first request
	Calls      []callDetail `json:"c,omitempty"`
}

// callDetail is one attempt at a turn.
type callDetail struct {
	Reply     string `json:"r,omitempty"`
	Reasoning string `json:"s,omitempty"`
	Error     string `json:"e,omitempty"` // transport: no reply came
	Wrong     string `json:"w,omitempty"` // why the reply does not parse, and where
}

// readRun draws a run and packs its turns. Without a record, turns is nil and nothing is
// packed, nor where texts are left out. The checks report what is wrong with a record; the page shows the turns before it.
func readRun(z *packer, run result.Run, turns iter.Seq2[result.JudgedTurn, error], budget int, texts bool) (timeline, string, error) {
	d := newDrawing(run, budget)
	if turns == nil {
		return d.timeline(), "", nil
	}
	z.begin()
	for t, err := range turns {
		if err != nil {
			break
		}
		d.add(t.Judged)
		if texts {
			z.add(newDetail(t))
		}
	}
	packed, err := z.end()
	if !texts {
		packed = ""
	}
	return d.timeline(), packed, err
}

// packer compresses the turns of one run after another: a JSON list as gzip in base64, which
// a browser inflates when the run is opened.
type packer struct {
	packed bytes.Buffer
	gzip   *gzip.Writer
	json   *json.Encoder
	turns  int
	err    error // the first
}

// compression is a gzip level: 9 costs 2.6 times the time of 5 and saves 8 % of the size.
const compression = 5

func newPacker() *packer {
	z, _ := gzip.NewWriterLevel(nil, compression) // an error is about another level
	return &packer{gzip: z, json: json.NewEncoder(z)}
}

func (z *packer) begin() {
	z.packed.Reset()
	z.gzip.Reset(&z.packed)
	z.turns, z.err = 0, nil
	z.write("[")
}

func (z *packer) add(t turnDetail) {
	if z.turns++; z.turns > 1 {
		z.write(",")
	}
	z.check(z.json.Encode(t))
}

func (z *packer) end() (string, error) {
	z.write("]")
	z.check(z.gzip.Close())
	return base64.URLEncoding.EncodeToString(z.packed.Bytes()), z.err
}

func (z *packer) write(s string) {
	_, err := z.gzip.Write([]byte(s))
	z.check(err)
}

func (z *packer) check(err error) { z.err = cmp.Or(z.err, err) }

func newDetail(t result.JudgedTurn) turnDetail {
	d := turnDetail{
		Parsed: t.Parsed, Update: t.Update, Exit: t.Exit, Written: t.Written,
		OverBudget: t.OverBudget != nil, Tokens: t.Judged.MemoryTokens,
	}
	if t.Written {
		d.Memory = &t.Memory.Text
	}
	for _, c := range t.Calls {
		if d.Digest == "" {
			d.Digest, d.Prompt = c.Digest, c.User
		}
		if n := c.Attempt - 1; n < len(d.Calls) { // asked again after a call without a reply
			d.Calls[n] = newCall(c)
			continue
		}
		d.Calls = append(d.Calls, newCall(c))
	}
	return d
}

func newCall(c journal.Call) callDetail {
	d := callDetail{Reply: c.Reply, Reasoning: c.Reasoning, Error: c.Error}
	if c.Error != "" {
		return d
	}
	if _, err := loop.Parse(loop.Completion{Text: c.Reply, Reasoning: c.Reasoning, Finish: c.Finish}); err != nil {
		d.Wrong = err.Error()
	}
	return d
}
