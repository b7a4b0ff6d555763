// Package spec reads experiment specs: YAML files that say which corpora, queries and
// models make up an experiment, and what its runs must show. A Spec that Parse returns is
// valid in itself: defaults are filled in, every name that refers to another part refers
// to something, paths are joined to the spec's folder. No other file is opened here; what
// needs one (does the corpus parse, does a label match) is for others to say, and they
// find the positions for it in the fields of type At and Place.
//
// A spec is refused as a whole, with all that is wrong with it at once.
package spec

import (
	"slices"
	"strings"

	"github.com/poimen-memory/mem/harness/diag"
	"github.com/poimen-memory/mem/harness/spec/yamlpos"
	"github.com/poimen-memory/mem/harness/stat"
)

// Spec is an experiment. It expands to runs: corpora × queries × levels × exit settings ×
// models × variants × trials.
type Spec struct {
	File string // as it was given
	Dir  string // its folder

	At          diag.Place              `yaml:",pos"`
	Experiment  yamlpos.At[string]      `yaml:"experiment,required" min:"1" is:"id"` // names the output folder
	About       string                  `yaml:"about"`                               // what the experiment is to show
	Tokenizer   Tokenizer               `yaml:"tokenizer" enum:"cl100k_base,o200k_base,p50k_base,qwen2.5,r50k_base"`
	Budget      yamlpos.At[Budget]      `yaml:"budget"`
	System      string                  `yaml:"system"`                                  // system message; "" is not sent
	Prompt      *Prompt                 `yaml:"prompt"`                                  // a template that is not the paper's
	Answer      *Answer                 `yaml:"answer"`                                  // ask for the answer when a run has ended
	Corpora     []Corpus                `yaml:"corpora,required" min:"1"`                // what is read
	Queries     []Query                 `yaml:"queries"`                                 // what is asked; may be missing if a corpus brings its own
	Levels      yamlpos.At[Set[Level]]  `yaml:"levels" enum:"L1,L2" min:"1"`             // L1: a memory of each session; L2: one over the L1 memories
	L2Source    string                  `yaml:"l2_source" enum:"memories,chunks"`        // what L2 reads: the memories that L1 left, or the chunks that L1 reads
	ExitGate    yamlpos.At[Set[string]] `yaml:"exit_gate" enum:"record,enforce" min:"1"` // record: reads on after an end; enforce: stops
	Trials      int                     `yaml:"trials" min:"1" max:"10000"`              // runs of each kind
	Models      []Model                 `yaml:"models"`                                  // what answers the prompts; Parse makes of each one for each variant
	Variants    []Variant               `yaml:"variants" min:"1"`                        // prompts, system messages, budgets and packings in which each model is evaluated
	MaxFailures int                     `yaml:"max_failures" min:"1"`                    // incomplete runs after which no other is begun; without it, any number
	Golden      []Golden                `yaml:"golden"`                                  // prompts whose bytes are committed
	Checks      Checks                  `yaml:"checks"`
	Expect      []Expect                `yaml:"expect"`   // what runs must come to
	Decision    *Decision               `yaml:"decision"` // what is decided, and for which models
	Compare     *Compare                `yaml:"compare"`  // baselines that the other models are compared with
}

// Values of Spec.ExitGate and Expect.ExitGate.
const (
	Record  = stat.ExitRecord  // the exit gate is recorded, and reading goes on
	Enforce = stat.ExitEnforce // the exit gate stops the run
)

// ChunkTokens is how full chunks are packed where a corpus does not say so.
const ChunkTokens = 4800

// Values of Spec.L2Source.
const (
	Memories = "memories" // L2 reads the L1 memories of its query, model and trial
	Chunks   = "chunks"   // L2 reads what L1 reads
)

// Tokenizer is the vocabulary that budgets are counted with: a known one by its name (also
// written bare, `qwen2.5`), or that of a tokenizer.json.
type Tokenizer struct {
	At        diag.Place         `yaml:",pos" one:"name,file"`
	Name      yamlpos.At[string] `yaml:"name" enum:"cl100k_base,o200k_base,p50k_base,qwen2.5,r50k_base"` // of a vocabulary
	File      yamlpos.At[string] `yaml:"file" min:"1"`                                                   // a tokenizer.json of Hugging Face's tokenizers: byte-level BPE
	Reference yamlpos.At[bool]   `yaml:"reference"`                                                      // count with tiktoken-go, slowly, to check our own counts of OpenAI's vocabularies; only in a build with -tags reference
}

// DecodeYAML implements yamlpos.Unmarshaler.
func (t *Tokenizer) DecodeYAML(n yamlpos.Node) {
	*t = Tokenizer{} // the default goes
	switch n.Kind() {
	case yamlpos.Map:
		type fields Tokenizer // without this method
		n.Decode((*fields)(t))
	case yamlpos.List, yamlpos.Null:
		n.Want("the name of a vocabulary, {name: NAME} or {file: tokenizer.json}")
	default:
		if like := vocabularyOf(n.Text()); like != "" {
			n.Errorf("found %s, a model, want its vocabulary, %s", diag.Quote(n.Text()), like)
			return
		}
		t.Name.DecodeYAML(n)
		t.At = n.Place()
	}
}

// vocabularyOf is the vocabulary of a well-known model, whose name is often written for it; "" if it
// is none.
func vocabularyOf(model string) string {
	for _, m := range []struct{ prefix, vocabulary string }{
		{"qwen2.5", ""}, {"qwen", "qwen2.5"}, {"gpt-4o", "o200k_base"}, {"gpt-4.", "o200k_base"}, {"gpt-5", "o200k_base"}, {"gpt-oss", "o200k_base"},
		{"o1", "o200k_base"}, {"o3", "o200k_base"}, {"o4", "o200k_base"}, {"gpt-4", "cl100k_base"}, {"gpt-3.5", "cl100k_base"},
		{"text-davinci", "p50k_base"}, {"gpt2", "r50k_base"}, {"gpt-2", "r50k_base"},
		{"llama", anyFile}, {"mistral", anyFile}, {"gemma", anyFile}, {"deepseek", anyFile}, {"phi", anyFile}, {"glm", anyFile},
	} {
		if strings.HasPrefix(strings.ToLower(model), m.prefix) {
			return m.vocabulary
		}
	}
	return ""
}

const anyFile = "{file: tokenizer.json} with the file that comes with the model"

// String is the vocabulary as the spec has it: its name, or its file.
func (t Tokenizer) String() string { return t.Name.Value + t.File.Value }

// Budget is the limits of a prompt's components in tokens (seed M1.3). Their sum is at most
// the window.
//
// The fields are in the order of prompt.Budget, so that the one converts to the other.
type Budget struct {
	Window   int `yaml:"window" min:"1" max:"2147483647"`   // prompt and response together
	Template int `yaml:"template" min:"1" max:"2147483647"` // template and system message together
	Question int `yaml:"question" min:"1" max:"2147483647"` // the query
	Memory   int `yaml:"memory" min:"1" max:"2147483647"`   // the memory; a candidate over it is not written
	Chunk    int `yaml:"chunk" min:"1" max:"2147483647"`    // one chunk as rendered; what it is packed to is another number, a corpus's chunk
	Response int `yaml:"response" min:"1" max:"2147483647"` // the reply, its reasoning included
}

func (b Budget) sum() int { return b.Template + b.Question + b.Memory + b.Chunk + b.Response }

// Corpus is a session, or many from an import or a synth. It has exactly one source.
type Corpus struct {
	At     diag.Place         `yaml:",pos" one:"path,import,synth"`
	ID     yamlpos.At[string] `yaml:"id,required" min:"1" is:"id"` // its name in this spec
	Path   yamlpos.At[string] `yaml:"path" min:"1"`                // JSONL file with a record a line: {"role": "tool", "text": "…", "id": "r17"}
	Import *Import            `yaml:"import"`
	Synth  *Synth             `yaml:"synth"`
	Labels yamlpos.At[string] `yaml:"labels" min:"1"` // file of queries with their evidence, as mem corpus import and label write it
	Chunk  Chunk              `yaml:"chunk"`
}

// Import is a data set in its published form, which brings its own queries and labels, or
// a session in another format than ours.
type Import struct {
	At     diag.Place         `yaml:",pos"`
	Format string             `yaml:"format,required" enum:"aider,anthropic-messages,claude-code,claude-web,codex,gemini-cli,hotpotqa,jsonl,langchain,locomo,longmemeval,markdown,musique,openai-chat,openai-responses,openhands,otel,sharegpt,squad,swe-agent,text"` // of the file
	Path   yamlpos.At[string] `yaml:"path,required" min:"1"`                                                                                                                                                                                                          // the file
	Join   bool               `yaml:"join"`                                                                                                                                                                                                                           // one session of all samples; else one each, named corpus/sample
}

// asks reports whether the data set brings queries.
func (i *Import) asks() bool {
	return i != nil && !i.oneSession() && !slices.Contains([]string{"anthropic-messages", "claude-web", "gemini-cli", "langchain",
		"openai-chat", "openai-responses", "openhands", "sharegpt"}, i.Format)
}

// sampled reports whether the corpus is many sessions, named corpus/sample.
func (i *Import) sampled() bool {
	return i != nil && !i.Join && !i.oneSession()
}

// oneSession reports whether a file of the format is always one session.
func (i *Import) oneSession() bool {
	return slices.Contains([]string{"aider", "claude-code", "codex", "jsonl", "markdown", "otel", "swe-agent", "text"}, i.Format)
}

// Chunk is how a corpus is packed, by exactly one measure. It is another number than the
// limit Budget.Chunk.
type Chunk struct {
	At      diag.Place      `yaml:",pos" one:"tokens,records"`
	Tokens  yamlpos.At[int] `yaml:"tokens" min:"1"`  // whole records up to so many tokens, at most budget.chunk; 4800, or budget.chunk if that is less, if neither is given
	Records yamlpos.At[int] `yaml:"records" min:"1"` // so many records
}

// String says how full a chunk is, as in 4800 tokens.
func (c Chunk) String() string {
	if c.Records.Present() {
		return diag.Count(c.Records.Value, "record")
	}
	return diag.Count(c.Tokens.Value, "token")
}

// Query is a standing question.
type Query struct {
	At       diag.Place           `yaml:",pos"`
	ID       yamlpos.At[string]   `yaml:"id,required" min:"1" is:"id"` // its name in this spec
	Text     yamlpos.At[string]   `yaml:"text,required" min:"1"`       // as models read it
	Corpora  []yamlpos.At[string] `yaml:"corpora" min:"1"`             // ids of those it is asked of; all, if none are named
	Evidence []Evidence           `yaml:"evidence"`                    // where the answer stands, for counting how often the gates are right
	Answers  []string             `yaml:"answers"`                     // wordings of the right answer, of which an answer holds one

	AllAnswers yamlpos.At[bool] `yaml:"all_answers"` // answers are the parts of the right answer: it holds them all
	Answerable yamlpos.At[bool] `yaml:"answerable"`  // false: the corpora do not hold the answer, and nothing is evidence
	Tags       yamlpos.Texts    `yaml:"tags"`        // what the query is grouped by, as {category: multi-hop}
}

func (q Query) unanswerable() bool { return q.Answerable.Present() && !q.Answerable.Value }

// Evidence is a label: a record by its id (also written bare, `r17`), or the places where
// a text stands.
type Evidence struct {
	At     diag.Place         `yaml:",pos" one:"id,match"`
	ID     yamlpos.At[string] `yaml:"id" min:"1"`     // of the record
	Match  yamlpos.At[string] `yaml:"match" min:"1"`  // the text; it must stand in the corpora exactly once, unless all is true
	Corpus yamlpos.At[string] `yaml:"corpus" min:"1"` // where to look; any corpus of the query, if not given
	All    yamlpos.At[bool]   `yaml:"all"`            // match may hit more than once, and every place is evidence
}

// DecodeYAML implements yamlpos.Unmarshaler.
func (e *Evidence) DecodeYAML(n yamlpos.Node) {
	switch n.Kind() {
	case yamlpos.Map:
		type fields Evidence // without this method
		n.Decode((*fields)(e))
	case yamlpos.List, yamlpos.Null:
		n.Want("a record's id, {id: ID} or {match: TEXT}")
	default:
		e.ID.DecodeYAML(n)
		e.At = n.Place()
	}
}

// Level is a tier of memory: 1 is memory of one session, 2 is memory over L1 memories.
type Level int

// DecodeYAML implements yamlpos.Unmarshaler; the names are in the field's enum tag.
func (l *Level) DecodeYAML(n yamlpos.Node) {
	var name string
	if n.Decode(&name) {
		*l = Level(name[1] - '0')
	}
}

// String is L1 or L2.
func (l Level) String() string { return "L" + string(rune('0'+l)) }

// Set is a list in which nothing stands twice.
type Set[T comparable] []T

// DecodeYAML implements yamlpos.Unmarshaler.
func (s *Set[T]) DecodeYAML(n yamlpos.Node) {
	var list []yamlpos.At[T]
	if !n.Decode(&list) {
		return
	}
	seen, set := map[T]bool{}, Set[T]{}
	for _, e := range list {
		if seen[e.Value] {
			n.Report(e.Errorf("found %v twice", e.Value))
			continue
		}
		seen[e.Value] = true
		set = append(set, e.Value)
	}
	*s = set
}

// Model answers the prompts of a run. It has exactly one of policy, script, replay, live.
type Model struct {
	At      diag.Place           `yaml:",pos" one:"policy,script,replay,live,command"`
	ID      yamlpos.At[string]   `yaml:"id,required" min:"1" is:"id"`                                          // its name in this spec
	Policy  yamlpos.At[string]   `yaml:"policy" enum:"oracle,noisy_oracle,always_update,never_update,lexical"` // a rule in place of a model
	Script  yamlpos.At[string]   `yaml:"script" min:"1"`                                                       // a gate script: a file that says what is answered at each turn
	Replay  *Replay              `yaml:"replay"`                                                               // a folder of live results, whose calls are answered again
	Live    *Live                `yaml:"live"`                                                                 // a model behind an OpenAI-compatible server
	Command []yamlpos.At[string] `yaml:"command" min:"1"`                                                      // short for live: {command: …}
	Price   *Price               `yaml:"price"`

	WrongUpdate yamlpos.At[float64] `yaml:"wrong_update" min:"0" max:"1"` // of noisy_oracle: the probability of a wrong update gate
	WrongExit   yamlpos.At[float64] `yaml:"wrong_exit" min:"0" max:"1"`   // of noisy_oracle: the probability of a wrong exit gate
	Malformed   yamlpos.At[float64] `yaml:"malformed" min:"0" max:"1"`    // of noisy_oracle: the probability of a reply that does not parse
	Seed        yamlpos.At[int64]   `yaml:"seed"`                         // of noisy_oracle: what its errors are drawn from

	Variant *Variant // with which the model is evaluated, and which ID names after an @; nil: the spec has none
}

// Price is what a model's tokens cost, in USD per million.
type Price struct {
	At         diag.Place          `yaml:",pos"`
	Prompt     yamlpos.At[float64] `yaml:"prompt,required" min:"0"`     // tokens that are sent
	Completion yamlpos.At[float64] `yaml:"completion,required" min:"0"` // tokens that come back, reasoning included
}

// Base is the id that the spec gives the model, without a variant.
func (m *Model) Base() string {
	base, _ := SplitModel(m.ID.Value)
	return base
}

// ReadsLabels reports whether the model is a policy that is told where the evidence is.
func (m *Model) ReadsLabels() bool {
	return m.Policy.Value == Oracle || m.Policy.Value == NoisyOracle
}

// Oracle is the policy that follows the labels.
const Oracle = "oracle"

// NoisyOracle is the policy that takes error probabilities.
const NoisyOracle = "noisy_oracle"

// Golden is a committed file that holds a prompt's exact bytes.
type Golden struct {
	At       diag.Place         `yaml:",pos" one:"turn,answer"`
	File     yamlpos.At[string] `yaml:"file,required" min:"1"`  // written by mem golden update
	Query    yamlpos.At[string] `yaml:"query,required" min:"1"` // id of a query
	Variant  yamlpos.At[string] `yaml:"variant" min:"1"`        // id of the variant whose prompt it is; the spec's own, if not given
	Corpus   yamlpos.At[string] `yaml:"corpus" min:"1"`         // id of a corpus; of an import: corpus/sample
	Turn     yamlpos.At[int]    `yaml:"turn" min:"1"`           // the chunk that the prompt shows, counted from 1
	Answer   yamlpos.At[bool]   `yaml:"answer"`                 // true: the prompt that asks for the answer
	Memory   yamlpos.At[string] `yaml:"memory" min:"1"`         // file with the memory before the turn, from turn 2 on; of an answer, the final one
	L1Memory yamlpos.At[string] `yaml:"l1_memory" min:"1"`      // file with the L1 memory that is the chunk of an L2 turn, in place of corpus
}

// Checks tunes the checks that judge every experiment.
type Checks struct {
	Tokenizer yamlpos.At[TokenizerCheck] `yaml:"tokenizer"`
	Budget    yamlpos.At[BudgetCheck]    `yaml:"budget"`
	Retain    string                     `yaml:"retain" enum:"bytes"` // bytes: compare what was sent
	Log       string                     `yaml:"log" enum:"verify"`   // verify: recompute the event log
}

// BudgetCheck wants so many tokens free in a prompt made of a chunk of the given
// percentile (nearest rank), the longest question and a full memory.
type BudgetCheck struct {
	Percentile  int `yaml:"percentile" min:"1" max:"100"` // of the chunks' sizes, nearest rank
	MinHeadroom int `yaml:"min_headroom" min:"0"`         // tokens that must be free
}

// TokenizerCheck bounds how much more a live model's server may count in a prompt than we
// do, at p95, after what its chat template adds is taken off.
type TokenizerCheck struct {
	MaxUndercount float64 `yaml:"max_undercount" min:"0" max:"1"` // a share of our count
}

// Expect says what the selected runs must show. A selector that is not given selects all;
// the corpus of an import selects all its samples.
type Expect struct {
	At diag.Place `yaml:",pos"`

	Model    yamlpos.At[string] `yaml:"model" min:"1"`                   // selects by id, all variants of the model
	Variant  yamlpos.At[string] `yaml:"variant" min:"1"`                 // selects by id
	Query    yamlpos.At[string] `yaml:"query" min:"1"`                   // selects by id
	Corpus   yamlpos.At[string] `yaml:"corpus" min:"1"`                  // selects by id; a sample of an import is corpus/sample
	Level    yamlpos.At[Level]  `yaml:"level" enum:"L1,L2"`              // selects
	ExitGate yamlpos.At[string] `yaml:"exit_gate" enum:"record,enforce"` // selects
	Trial    yamlpos.At[int]    `yaml:"trial" min:"1"`                   // selects; counts from 1

	ChunksSeen     yamlpos.At[int]    `yaml:"chunks_seen" min:"0"`                    // turns
	ChunksUsed     yamlpos.At[int]    `yaml:"chunks_used" min:"0"`                    // turns that changed the memory
	FinalMemory    yamlpos.At[Memory] `yaml:"final_memory"`                           // its text, or null for none
	Calls          yamlpos.At[int]    `yaml:"calls" min:"0"`                          // of the model, parse retries included
	Exits          yamlpos.At[int]    `yaml:"exits" min:"0"`                          // turns whose gate said end
	BudgetExceeded yamlpos.At[int]    `yaml:"budget_exceeded" min:"0"`                // turns whose candidate was over the memory budget
	ParseFailed    yamlpos.At[int]    `yaml:"parse_failed" min:"0"`                   // turns of which no reply parsed
	StoppedBy      yamlpos.At[string] `yaml:"stopped_by" enum:"source_end,exit_gate"` // what ended the run

	SubEM yamlpos.At[float64] `yaml:"sub_em" min:"0" max:"1"` // of the answer: 1 if it holds the query's answers
}

// Memory is the text of a memory, or that there is none (written null).
type Memory struct {
	None bool
	Text string
}

// DecodeYAML implements yamlpos.Unmarshaler.
func (m *Memory) DecodeYAML(n yamlpos.Node) {
	if m.None = n.Kind() == yamlpos.Null; !m.None {
		n.Decode(&m.Text)
	}
}
