package spec

import (
	"math"
	"strconv"
	"strings"

	"github.com/poimen-memory/mem/harness/diag"
	"github.com/poimen-memory/mem/harness/spec/yamlpos"
)

// Synth is a corpus that is made: needles in a haystack, documents among distractors, or a
// coding agent's session. It brings its own queries and labels; sessions are named
// corpus/sample. What is not given is as the task has it.
type Synth struct {
	At       diag.Place              `yaml:",pos" one:"tokens,lengths"`
	Task     yamlpos.At[string]      `yaml:"task,required" enum:"niah_multikey_1,niah_multikey_2,niah_multikey_3,niah_multiquery,niah_multivalue,niah_single_1,niah_single_2,niah_single_3,qa,session,vt"` // what is hidden in what (RULER, arXiv 2404.06654)
	Tokens   yamlpos.At[Length]      `yaml:"tokens"`                                                                                                                                                       // of a session, at most: 65536, or 64k
	Lengths  yamlpos.At[Set[Length]] `yaml:"lengths" min:"1"`                                                                                                                                              // several lengths in tokens, with so many samples of each: [8k, 32k, 128k, 1m]
	Samples  yamlpos.At[int]         `yaml:"samples" min:"1"`                                                                                                                                              // sessions of a length, each with its own places, keys and values; 1 if not given
	Needles  yamlpos.At[int]         `yaml:"needles" min:"1"`                                                                                                                                              // keys; of vt: chains
	Values   yamlpos.At[int]         `yaml:"values" min:"1"`                                                                                                                                               // of a key; of vt: hops of a chain; of session: over time, the newest counts
	Queries  yamlpos.At[int]         `yaml:"queries" min:"1"`                                                                                                                                              // keys that the question asks for
	Depth    yamlpos.At[Depth]       `yaml:"depth"`                                                                                                                                                        // uniform, if not given; grid: places of 40, each at most once; or a percentage of the text
	Seed     yamlpos.At[int64]       `yaml:"seed"`                                                                                                                                                         // what all is drawn from
	Haystack Haystack                `yaml:"haystack" enum:"needles,noise,text"`                                                                                                                           // what the needles are hidden in
	From     *From                   `yaml:"from"`                                                                                                                                                         // of qa: the data set with the questions and documents
}

// From is the data set that task qa takes questions, their gold documents and distractors from.
type From struct {
	At     diag.Place         `yaml:",pos"`
	Format yamlpos.At[string] `yaml:"format,required" enum:"hotpotqa,jsonl,musique,squad"` // of the file; jsonl: what mem corpus import wrote of one
	Path   yamlpos.At[string] `yaml:"path,required" min:"1"`                               // the file
	Labels yamlpos.At[string] `yaml:"labels" min:"1"`                                      // of jsonl: the labels file with its questions
}

// Length is a number of tokens, also written 8k (8 × 1024) or 1m (1024 × 1024).
type Length int

// ParseLength reads a length as it is written; ok is false if it is none.
func ParseLength(s string) (l Length, ok bool) {
	digits, unit := strings.ToLower(s), 1
	for suffix, of := range map[string]int{"k": 1 << 10, "m": 1 << 20} {
		if rest, cut := strings.CutSuffix(digits, suffix); cut {
			digits, unit = rest, of
		}
	}
	tokens, err := strconv.Atoi(digits)
	return Length(tokens * unit), err == nil && 0 < tokens && tokens <= math.MaxInt32/unit
}

// DecodeYAML implements yamlpos.Unmarshaler.
func (l *Length) DecodeYAML(n yamlpos.Node) {
	tokens, ok := ParseLength(n.Text())
	if !ok {
		n.Want("a number of tokens up to 2147483647, such as 8192, 8k or 1m")
		return
	}
	*l = tokens
}

// Depth is where needles stand: uniform, grid, or a percentage as it is written.
type Depth string

// DecodeYAML implements yamlpos.Unmarshaler.
func (d *Depth) DecodeYAML(n yamlpos.Node) {
	percent, err := strconv.ParseFloat(n.Text(), 64)
	if number := err == nil && 0 <= percent && percent <= 100; !number && n.Text() != "uniform" && n.Text() != "grid" {
		n.Want("uniform, grid or a percentage from 0 to 100")
		return
	}
	*d = Depth(n.Text())
}

// Haystack is what needles are hidden in: noise, which repeats itself, text, or other
// needles, by name (also written bare), or a text file whose sentences are repeated.
type Haystack struct {
	At   diag.Place         `yaml:",pos" one:"name,file"`
	Name yamlpos.At[string] `yaml:"name" enum:"needles,noise,text"` // of what is made
	File yamlpos.At[string] `yaml:"file" min:"1"`                   // a text in sentences
}

// DecodeYAML implements yamlpos.Unmarshaler.
func (h *Haystack) DecodeYAML(n yamlpos.Node) {
	switch n.Kind() {
	case yamlpos.Map:
		type fields Haystack // without this method
		n.Decode((*fields)(h))
	case yamlpos.List, yamlpos.Null:
		n.Want("noise, text, needles or {file: FILE}")
	default:
		h.Name.DecodeYAML(n)
		h.At = n.Place()
	}
}
