package spec

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/poimen-memory/mem/harness/diag"
	"github.com/poimen-memory/mem/harness/spec/yamlpos"
)

// validator judges what a type cannot: names, references, and fields that need or
// exclude each other. What did not decode has been reported and is passed over, so that
// one mistake is one complaint.
type validator struct {
	*Spec
	errs diag.Errors

	decoded                            bool // all of the spec was understood
	corpora, queries, models, variants names
}

// validate judges a spec; decoded is whether all of it was understood. If not, what is
// missing may be what was not.
func validate(s *Spec, decoded bool) diag.Errors {
	v := &validator{Spec: s, decoded: decoded}
	v.ids()
	v.models.open = v.models.open || !decoded && len(s.Models) == 0
	v.tokenizer()
	v.budget()
	v.variantSettings()
	v.answer()
	v.levels()
	v.paths()
	each(v, s.Corpora, (*validator).packing)
	each(v, s.Corpora, (*validator).synth)
	each(v, s.Queries, (*validator).query)
	each(v, s.Models, (*validator).model)
	each(v, s.Golden, (*validator).golden)
	each(v, s.Expect, (*validator).expect)
	v.goldenFiles()
	v.decision()
	v.compare()
	return v.errs
}

func each[T any](v *validator, list []T, judge func(*validator, T)) {
	for _, e := range list {
		judge(v, e)
	}
}

func (v *validator) errorf(at diag.Place, format string, args ...any) {
	v.errs = append(v.errs, at.Errorf(format, args...))
}

// names are the ids that a reference may name.
type names struct {
	known []string
	open  bool // there are, or may be, ids that the spec does not show
}

// refer wants ref, where it is given, to be one of the names.
func (v *validator) refer(ref yamlpos.At[string], to names) {
	if ref.Value != "" && !to.open && !slices.Contains(to.known, ref.Value) {
		v.errorf(ref.Place, "%s", diag.OneOf(ref.Value, to.known))
	}
}

// referCorpus is refer for a corpus; a sample of an import is corpus/sample.
func (v *validator) referCorpus(ref yamlpos.At[string]) {
	id, _, sample := strings.Cut(ref.Value, "/")
	if sample && slices.ContainsFunc(v.Corpora, func(c Corpus) bool { return c.ID.Value == id && (c.Import.sampled() || c.Synth != nil) }) {
		return
	}
	v.refer(ref, v.corpora)
}

// ids checks all names that the spec gives, and collects them.
func (v *validator) ids() {
	v.id(v.Experiment)
	v.corpora = v.unique("corpora", ids(v.Corpora, func(c Corpus) entry { return entry{c.At, c.ID} }))
	v.queries = v.unique("queries", ids(v.Queries, func(q Query) entry { return entry{q.At, q.ID} }))
	v.models = v.unique("models", ids(v.Models, func(m Model) entry { return entry{m.At, m.ID} }))
	v.collectVariants()
	imports := slices.ContainsFunc(v.Corpora, func(c Corpus) bool { return c.Import.asks() || c.Synth != nil || c.Labels.Present() })
	if len(v.Queries) == 0 && len(v.Corpora) > 0 && !imports {
		if v.decoded {
			v.errorf(v.At, `"queries" is missing: none of the corpora brings its own`)
		}
		v.queries.open = true
	}
	v.queries.open = v.queries.open || imports
	v.corpora.open = v.corpora.open || len(v.Corpora) == 0
}

// entry is an element of a section: a map and its id.
type entry struct {
	at diag.Place
	id yamlpos.At[string]
}

func ids[T any](list []T, of func(T) entry) (found []entry) {
	for _, e := range list {
		found = append(found, of(e))
	}
	return found
}

func (v *validator) unique(section string, entries []entry) (n names) {
	first := map[string]diag.Pos{}
	for _, e := range entries {
		key := strings.ToLower(e.id.Value)
		before, again := first[key]
		switch {
		case key == "":
			n.open = true
			continue
		case again && before == e.id.Pos: // merged: the second has no place of its own
			v.errorf(e.at, "found no id but the merged %q of line %d: want an id of its own", e.id.Value, before.Line)
		case again:
			v.errorf(e.id.Place, "found %q, which is also an id on line %d: want ids of %s that differ in more than case", e.id.Value, before.Line, section)
		default:
			first[key] = e.id.Pos
			v.id(e.id)
		}
		n.known = append(n.known, e.id.Value)
	}
	return n
}

// id wants a name that is good as a folder's on every system.
func (v *validator) id(id yamlpos.At[string]) {
	if err := CheckName(id.Value); err != nil && id.Value != "" { // else reported
		v.errorf(id.Place, "%v", err)
	}
}

// CheckName says why s cannot be the name of a folder on every system, as ids and the
// names of samples have to be, for they make up the paths of runs.
func CheckName(s string) error {
	switch {
	case !isID(s):
		return fmt.Errorf("found %s, want 1 to 64 letters a-z or A-Z, digits and . _ -, the first a letter or a digit", diag.Quote(s))
	case isReserved(s):
		return fmt.Errorf("found %q, which cannot be the name of a folder on Windows", s)
	}
	return nil
}

func isID(s string) bool {
	const alnum = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
	return s != "" && len(s) <= 64 && strings.Trim(s, alnum+"._-") == "" && strings.Trim(s[:1], alnum) == ""
}

// isReserved knows the names that Windows keeps for devices, with any extension, and that
// it drops a dot at the end.
func isReserved(s string) bool {
	base, _, _ := strings.Cut(strings.ToLower(s), ".")
	port := len(base) == 4 && (strings.HasPrefix(base, "com") || strings.HasPrefix(base, "lpt")) && base[3] <= '9'
	return port || slices.Contains([]string{"con", "prn", "aux", "nul"}, base) || strings.HasSuffix(s, ".")
}

// tokenizer: the reference knows OpenAI's vocabularies.
func (v *validator) tokenizer() {
	t := v.Tokenizer
	if t.Reference.Value && (t.File.Present() || t.Name.Value == "qwen2.5") {
		v.errorf(t.Reference.Place, "found reference: true for %s, want it for cl100k_base, o200k_base, p50k_base or r50k_base", diag.Quote(t.String()))
	}
}

// packing: a chunk that is filled above the budget would be sent by no run.
func (v *validator) packing(c Corpus) {
	if n, most := c.Chunk.Tokens, v.Budget.Value.Chunk; n.Present() && n.Value > most && most > 0 {
		v.errorf(n.Place, "found %d, which is above budget.chunk, %d: want at most that, or budget: {chunk: %d}", n.Value, most, n.Value)
	}
}

func (v *validator) budget() {
	b := v.Budget.Value
	if b.sum() > b.Window {
		v.errorf(v.Budget.Place, "found template %d + question %d + memory %d + chunk %d + response %d = %d tokens, want at most the window of %d",
			b.Template, b.Question, b.Memory, b.Chunk, b.Response, b.sum(), b.Window)
	}
}

// answer: the window keeps only budget.response free for a reply.
func (v *validator) answer() {
	a, most := v.Answer, v.Budget.Value.Response
	if a != nil && a.MaxTokens.Value > most {
		v.errorf(a.MaxTokens.Place, "found %d, want at most budget.response, %d", a.MaxTokens.Value, most)
	}
}

// goldenOf: a golden is of a turn, with the memory before it, or of the answer.
func (v *validator) goldenOf(g Golden) {
	switch {
	case g.Answer.Present() && !g.Answer.Value:
		v.errorf(g.Answer.Place, "found false, want true, or a turn in its place")
	case g.Answer.Value && v.Answer == nil:
		v.errorf(g.Answer.Place, "found answer, but the spec asks for none: want answer: {} in it")
	case g.Answer.Value:
	case g.Turn.Value > 1 && !g.Memory.Present():
		v.errorf(g.Turn.Place, "found turn %d without memory, want the file with the memory before it", g.Turn.Value)
	case g.Turn.Value == 1 && g.Memory.Present():
		v.errorf(g.Memory.Place, "found a memory at turn 1, where there is none yet")
	}
}

// levels: L2 is fed by L1 runs, unless it reads chunks.
func (v *validator) levels() {
	if v.L2Source != Memories || !slices.Contains(v.Levels.Value, 2) {
		return
	}
	if !slices.Contains(v.Levels.Value, 1) {
		v.errorf(v.Levels.Place, "found L2 without L1, whose memories it reads: want [L1, L2], or l2_source: chunks")
	}
	if !slices.Contains(v.ExitGate.Value, Record) {
		v.errorf(v.ExitGate.Place, "found %v, but L2 reads the memories of L1 runs with the exit gate recorded: want record too, or l2_source: chunks", v.ExitGate.Value)
	}
}

func (v *validator) paths() {
	for _, p := range v.Spec.paths() {
		switch {
		case strings.Contains(p.Value, "${"):
			v.errorf(p.Place, "found %q, want a plain path: variables are for live models only", p.Value)
		case strings.Contains(p.Value, `\`):
			v.errorf(p.Place, "found %q, want / between folders, which every system reads", p.Value)
		}
	}
}

// synth: a task with documents of a data set, and the tasks with statements.
func (v *validator) synth(c Corpus) {
	s := c.Synth
	switch {
	case s == nil || s.Task.Value == "": // reported
	case s.Task.Value != "qa":
		if s.From != nil {
			v.errorf(s.From.At, "found it with task %s, want it with task qa only", s.Task.Value)
		}
	case s.From == nil:
		v.errorf(s.At, `"from" is missing: task qa wants {format: hotpotqa, path: FILE}, or another data set`)
	default:
		v.from(s)
	}
}

func (v *validator) from(s *Synth) {
	for _, field := range []diag.Place{s.Needles.Place, s.Values.Place, s.Queries.Place, s.Haystack.At} {
		if field.Present() {
			v.errorf(field, "found it with task qa, want it with another task: qa hides the documents of its data set")
		}
	}
	switch format := s.From.Format.Value; {
	case format == "jsonl" && !s.From.Labels.Present():
		v.errorf(s.From.At, `"labels" is missing: a jsonl wants the labels file with its questions`)
	case format != "jsonl" && format != "" && s.From.Labels.Present():
		v.errorf(s.From.Labels.Place, "found it with format %s, which brings its own, want it with jsonl only", format)
	}
}

func (v *validator) query(q Query) {
	if q.AllAnswers.Value && len(q.Answers) == 0 {
		v.errorf(q.AllAnswers.Place, "found all_answers without answers, which it is about")
	}
	if q.unanswerable() && len(q.Evidence)+len(q.Answers) > 0 {
		v.errorf(q.Answerable.Place, "found answerable: false with evidence or answers, want one of them")
	}
	for _, c := range q.Corpora {
		v.referCorpus(c)
	}
	for _, e := range q.Evidence {
		v.evidence(q, e)
	}
}

// evidence: a label's corpus is one that the query is asked of.
func (v *validator) evidence(q Query, e Evidence) {
	if e.All.Present() && !e.Match.Present() {
		v.errorf(e.All.Place, "found all without match, whose hits it is about")
	}
	if q.Corpora == nil {
		v.referCorpus(e.Corpus)
		return
	}
	asked := names{}
	for _, c := range q.Corpora {
		asked.known = append(asked.known, c.Value)
		asked.open = asked.open || c.Value == ""
	}
	v.refer(e.Corpus, asked)
}

func (v *validator) model(m Model) {
	if m.Live != nil {
		v.live(m.Live)
	}
	if m.Policy.Value == NoisyOracle && !m.WrongUpdate.Present() && !m.WrongExit.Present() && !m.Malformed.Present() {
		v.errorf(m.Policy.Place, "found noisy_oracle without errors, which is the oracle: want at least one of wrong_update, wrong_exit, malformed, as in wrong_update: 0.1")
	}
	if m.Policy.Value == NoisyOracle || m.Policy.Present() && m.Policy.Value == "" {
		return
	}
	for _, field := range []diag.Place{m.WrongUpdate.Place, m.WrongExit.Place, m.Malformed.Place, m.Seed.Place} {
		if field.Present() {
			v.errorf(field, "found a field of policy noisy_oracle, want it there only")
		}
	}
}

func (v *validator) golden(g Golden) {
	v.referVariant(g.Variant)
	v.refer(g.Query, v.queries)
	v.referCorpus(g.Corpus)
	switch {
	case g.L1Memory.Present() && (g.Corpus.Present() || g.Answer.Present()):
		v.errorf(g.L1Memory.Place, "found l1_memory beside corpus or answer: want it with a turn alone, it is the chunk of an L2 prompt")
	case !g.L1Memory.Present() && !g.Corpus.Present():
		v.errorf(g.At, "corpus is missing: want the corpus whose chunk the prompt shows, or l1_memory: FILE for the prompt of L2")
	}
	v.goldenOf(g)
}

// goldenFiles: two prompts cannot both be the bytes of one file.
func (v *validator) goldenFiles() {
	first := map[string]diag.Place{}
	for _, g := range v.Golden {
		key := path.Clean(g.File.Value)
		if strings.EqualFold(path.Base(key), "LEDGER.jsonl") {
			v.errorf(g.File.Place, "found %q, which is the ledger of its folder's goldens: want another name", g.File.Value)
		}
		if before, again := first[key]; again && g.File.Value != "" {
			v.errorf(g.File.Place, "found %q, which is also the file of the golden on line %d", g.File.Value, before.Pos.Line)
		}
		first[key] = g.File.Place
	}
}

// expect: a selector that selects nothing would be an expectation that is never judged.
func (v *validator) expect(e Expect) {
	v.refer(e.Model, v.models)
	v.referVariant(e.Variant)
	v.refer(e.Query, v.queries)
	v.referCorpus(e.Corpus)
	if l := e.Level.Value; l != 0 && !slices.Contains(v.Levels.Value, l) {
		v.errorf(e.Level.Place, "found %v, want one of the spec's levels %v", l, v.Levels.Value)
	}
	if x := e.ExitGate.Value; x != "" && !slices.Contains(v.ExitGate.Value, x) {
		v.errorf(e.ExitGate.Place, "found %s, want one of the spec's exit_gate %v", x, v.ExitGate.Value)
	}
	if e.Trial.Value > v.Trials {
		v.errorf(e.Trial.Place, "found trial %d, want at most the spec's trials %d", e.Trial.Value, v.Trials)
	}
	if v.decoded && e.At.Present() && !e.expects() {
		v.errorf(e.At, "found no expectation, want at least one of chunks_seen, chunks_used, final_memory, calls, exits, budget_exceeded, parse_failed, stopped_by, sub_em")
	}
	if e.SubEM.Present() && v.Answer == nil {
		v.errorf(e.SubEM.Place, "found sub_em, but the spec asks for no answer: want answer: {} in it")
	}
}

func (e Expect) expects() bool {
	return slices.ContainsFunc([]diag.Place{e.ChunksSeen.Place, e.ChunksUsed.Place, e.FinalMemory.Place, e.Calls.Place,
		e.Exits.Place, e.BudgetExceeded.Place, e.ParseFailed.Place, e.StoppedBy.Place, e.SubEM.Place}, diag.Place.Present)
}

// live checks what can be without the environment.
func (v *validator) live(l *Live) {
	if l.BaseURL.Present() && l.Command == nil && !l.Model.Present() {
		v.errorf(l.At, `"model" is missing: want the model's name at the server`)
	}
	if l.Command != nil && l.APIKeyEnv.Present() {
		v.errorf(l.APIKeyEnv.Place, "found api_key_env beside command: a program inherits the environment, want no key here")
	}
	if !strings.Contains(l.BaseURL.Value, "${") && l.BaseURL.Value != "" {
		v.errs = append(v.errs, checkURL(l.BaseURL)...)
	}
	if name := l.APIKeyEnv; name.Present() && !isVariable(name.Value) {
		v.errorf(name.Place, "want the name of an environment variable, never a key itself")
	}
}
