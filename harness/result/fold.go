package result

import (
	"errors"
	"io/fs"
	"iter"
	"slices"

	"github.com/poimen-memory/mem/harness/check"
	"github.com/poimen-memory/mem/harness/plan"
	"github.com/poimen-memory/mem/harness/record"
	"github.com/poimen-memory/mem/harness/spec"
	"github.com/poimen-memory/mem/harness/stat"
	"github.com/poimen-memory/mem/harness/stat/confidence"
	"github.com/poimen-memory/mem/internal/digest"
	"github.com/poimen-memory/mem/loop"
	"github.com/poimen-memory/mem/loop/journal"
	"github.com/poimen-memory/mem/prompt"
)

// runData is a run with what checks, metrics and tables need of its record.
type runData struct {
	Run
	planned  *plan.Run
	checks   []check.Result
	turns    []stat.Turn
	sure     []confidence.Turn
	sent     check.Usage    // tokens of its input's chunks and of what was sent
	outcome  record.Outcome // for runs that depend on it
	usage    usage          // of its turns
	answered usage          // of its answer
	asked    [][2]int       // turn and attempt of each call
	other    string         // why the record is not the plan's, and what mends it; "" if it is

	referenced bool // an answer is asked for, and there are references to score it by
}

// folding folds the records of one plan.
type folding struct {
	plan       *plan.Plan
	folder     record.Folder
	unrecorded map[string]record.Unrecorded
}

// run is a run as its record tells it, or why it has none. outcomes are those of the runs
// that it depends on.
func (f *folding) run(r *plan.Run, outcomes map[string]record.Outcome) *runData {
	d := &runData{planned: r, referenced: r.Setup.Answers != nil && len(r.References.Answers) > 0}
	in, blocked := f.input(r, outcomes)
	d.Run = Run{
		Cell: r.Cell, Tags: r.References.Tags, Chunks: len(in.Tokens), Evidence: in.Turns(), Hard: in.Hard, Cut: in.Cut,
		Length: in.Length, Depth: in.Depth, Input: in.Digest(r.Question), Packing: f.plan.Packing(r),
	}
	if query, session := f.plan.Unit(r); query != r.Query || session != r.Cell.Session {
		d.CountedQuery, d.CountedSession = query, session
	}
	noted, unrecorded := f.unrecorded[r.Name]
	rec, err := f.folder.Open(r.Name)
	switch {
	case r.Live() && err != nil && f.absent(r).State == record.Skipped && !unrecorded:
		d.withoutRecord(f.absent(r))
	case blocked.State != record.Complete:
		d.withoutRecord(blocked)
	case unrecorded && (err != nil || !noted.Begun):
		d.withoutRecord(noted.End)
	case errors.Is(err, fs.ErrNotExist):
		d.withoutRecord(f.absent(r))
	case err != nil:
		d.withoutRecord(record.End{State: record.Incomplete, Reason: err.Error()})
	default:
		f.fold(d, in, rec)
	}
	if unrecorded {
		d.State, d.Reason = noted.State, noted.Reason
		d.outcome.End = noted.End
	}
	return d
}

// input is what a run reads, or why it could not be executed.
func (f *folding) input(r *plan.Run, outcomes map[string]record.Outcome) (plan.Input, record.End) {
	if !r.OverMemories() {
		return r.Input(), record.End{State: record.Complete}
	}
	var sources []record.Outcome
	for _, name := range r.Sources {
		sources = append(sources, outcomes[name])
	}
	return f.plan.MemoryInput(r, sources)
}

// withoutRecord ends a run of which nothing is read.
func (d *runData) withoutRecord(e record.End) {
	d.State, d.Reason, d.outcome.End = e.State, e.Reason, e
	d.Chunks = d.planned.Turns
}

// absent is the end of a run that has no record. If any record of a live model exists, or a
// shard says that the model was to be asked, all its runs are expected.
func (f *folding) absent(r *plan.Run) record.End {
	if !r.Live() {
		return record.End{State: record.Incomplete, Reason: "no record of it: run mem eval"}
	}
	recorded := func(other *plan.Run) bool { return other.Model == r.Model && f.folder.HoldsLive(other.Name) }
	if record.Expects(f.folder, r.Model) || slices.ContainsFunc(f.plan.Runs, recorded) {
		return record.End{State: record.Incomplete, Reason: "no record of it: run mem eval --live --resume"}
	}
	return record.End{State: record.Skipped, Reason: "a live model is run with --live only"}
}

// runFold is the state of folding one record.
type runFold struct {
	*folding
	*runData
	header   journal.Header
	input    plan.Input
	evidence map[int]bool
	retain   check.RetainJudge
	problem  prompt.Text

	memory   *prompt.Text  // M_{t-1} of the turn being folded; nil: none
	chunk    prompt.Chunk  // of that turn
	readable bool          // chunk is the source's
	expected prompt.Prompt // that log and corpus give for it
	explains bool          // expected is set
	foreign  int           // the first turn whose chunk_sha is not the chunk's; 0: none

	otherAnswer string // in what the answer was asked for otherwise; "": in nothing
}

// fold reads a record turn by turn, next to the chunks that the plan says it read.
func (f *folding) fold(d *runData, in plan.Input, rec *record.Record) {
	t := &runFold{folding: f, runData: d, header: rec.Header, input: in, evidence: map[int]bool{}, problem: d.planned.Setup.Prompts.Measure(d.planned.Question)}
	t.retain.Before, t.retain.After = d.planned.Setup.AroundMemory()
	for _, n := range d.Run.Evidence {
		t.evidence[n] = true
	}
	d.sent.Chunks, d.sent.Questions = in.Tokens, []int{t.problem.Tokens}
	chunks, stop := iter.Pull2(in.Chunks)
	defer stop()
	reading := rec.Read()
	var damage error
	for turn, err := range reading.Turns() {
		if damage = err; err != nil {
			break
		}
		t.next(chunks)
		t.turn(turn)
	}
	t.next(chunks)
	t.rest(reading.Rest)
	t.end(reading, rec, damage)
}

// next takes the chunk of the next turn.
func (t *runFold) next(chunks func() (prompt.Chunk, error, bool)) {
	chunk, err, ok := chunks()
	t.chunk, t.readable = chunk, ok && err == nil
	t.explains = false
	if t.readable {
		t.expected, err = t.planned.Setup.Prompts.Assemble(t.problem, t.memory, t.chunk)
		t.explains = err == nil
	}
}

// turn folds a whole turn.
func (t *runFold) turn(turn record.Turn) {
	t.calls(turn.Calls)
	t.retain.Logged(turn.Events)
	if t.foreign == 0 && turn.Parsed && !t.reads(turn) {
		t.foreign = turn.Number
	}
	judged := judgeTurn(turn, t.evidence[turn.Number], t.memory)
	t.Exits += count(judged.Exit)
	t.BudgetExceeded += count(judged.OverBudget)
	t.ParseFailed += count(!judged.Parsed)
	t.usage.helped += count(judged.Parsed && turn.Attempts > 1)
	if turn.Written {
		memory := turn.Memory.Measured()
		t.memory = &memory
		t.outcome.Written = append(t.outcome.Written, turn.Number)
	}
	t.turns = append(t.turns, judged)
	if c := turn.Confidence(); c != nil {
		last := slices.Max(append([]int{0}, t.Run.Evidence...))
		t.sure = append(t.sure, confidence.Turn{Yes: c.Yes, End: c.End, Missing: c.Missing, Evidence: judged.Evidence, Due: turn.Number >= last, NoExit: last == 0})
	}
}

// reads reports whether a turn's chunk is the source's.
func (t *runFold) reads(turn record.Turn) bool {
	return t.readable && turn.ChunkSHA == t.chunk.SHA() && (turn.Evidence == nil || turn.Evidence.Bytes == len(t.chunk.Raw))
}

// judgeTurn is a turn as the metrics see it. memory is M_{t-1}; nil: none.
func judgeTurn(turn record.Turn, evidence bool, memory *prompt.Text) stat.Turn {
	s := stat.Turn{
		Evidence: evidence, Parsed: turn.Parsed, FirstTry: turn.Parsed && turn.Attempts == 1,
		Update: turn.Update, Exit: turn.Exit, Written: turn.Written, OverBudget: turn.OverBudget != nil,
	}
	if turn.Memory != nil {
		s.MemoryTokens = turn.Memory.Tokens
	}
	if turn.Parsed {
		s.Candidate, s.Differs = candidate(turn, memory)
	}
	return s
}

// candidate tells whether the reply that parsed held a candidate memory and, of a reply that
// said no, whether this ignored one is another text than the memory.
func candidate(turn record.Turn, memory *prompt.Text) (held, differs bool) {
	if turn.Update {
		return true, false
	}
	reply, ok := turn.Reply()
	if !ok {
		return false, false
	}
	d, err := loop.Parse(reply)
	if err != nil || !d.HasCandidate {
		return false, false
	}
	before := prompt.NoMemory
	if memory != nil {
		before = memory.Raw
	}
	return true, d.Candidate != before
}

// calls folds the calls of a turn. A call without a reply that was asked again counts once.
func (t *runFold) calls(calls []journal.Call) {
	for i, c := range calls {
		if again := i+1 < len(calls) && calls[i+1].Attempt == c.Attempt; c.Error == "" || !again {
			t.call(c)
		}
	}
}

func (t *runFold) call(c journal.Call) {
	t.Calls++
	t.asked = append(t.asked, [2]int{c.Turn, c.Attempt})
	r, tokens, known := t.request(c)
	if known {
		t.retain.Sent(r)
	} else {
		t.retain.Unknown(c.Turn, c.Attempt)
	}
	if c.Attempt == 1 {
		t.sent.Memories = append(t.sent.Memories, t.planned.Setup.Prompts.Memory(t.memory).Tokens)
		t.sent.Prompts = append(t.sent.Prompts, tokens)
	}
	t.usage.add(c, tokens)
}

// request is what a call sent, and the tokens of its prompt. known is false where the journal
// has no more than a digest, and that of another prompt than log and corpus give.
func (t *runFold) request(c journal.Call) (r loop.Request, tokens int, known bool) {
	r = loop.Request{Turn: c.Turn, Attempt: c.Attempt, System: c.System, User: c.User, MaxTokens: c.MaxTokens}
	if c.System == "" && c.User == "" {
		r.System, r.User = t.expected.System, t.expected.User
		known = t.explains && t.header.Digest(r) == c.Digest
		return r, t.expected.Tokens.Prompt(), known
	}
	if t.explains && r.System == t.expected.System && r.User == t.expected.User {
		return r, t.expected.Tokens.Prompt(), true
	}
	return r, t.planned.Setup.Prompts.Measure(r.System).Tokens + t.planned.Setup.Prompts.Measure(r.User).Tokens, true
}

// rest folds the calls after the last whole turn: of a turn that was not resolved, and for
// the answer.
func (t *runFold) rest(calls []journal.Call) {
	answer := len(calls)
	for i, c := range calls {
		if c.Turn == loop.AnswerTurn {
			answer = i
			break
		}
	}
	t.calls(calls[:answer])
	t.answer(calls[answer:])
}

// end folds how the run ended, and judges its log and its retain path.
func (t *runFold) end(reading *record.Reading, rec *record.Record, damage error) {
	end := rec.EndOf(reading, damage)
	t.State, t.Reason = end.State, end.Reason
	if why := t.disagreement(rec); why != "" {
		t.disagree(rec, why)
	}
	if t.State == record.Complete && t.planned.Setup.Answers != nil && t.Answer == nil {
		t.State, t.Reason = record.Incomplete, "its record holds no answer, and the spec asks for one: "+rec.Again()
	}
	out := rec.OutcomeOf(reading)
	t.ChunksSeen, t.ChunksUsed, t.StoppedBy = out.ChunksSeen, out.ChunksUsed, string(out.StoppedBy)
	if t.memory != nil {
		t.FinalMemory, t.MemoryTokens = &t.memory.Raw, t.memory.Tokens
	}
	t.outcome.End, t.outcome.Memory = record.End{State: t.State, Reason: t.Reason}, t.FinalMemory
	t.checks = append(t.checks, t.retain.Verdict(t.Name, out.Memory, reading.Ended), t.checkLog(rec, out))
	t.Changed = t.retain.Changed()
	defer func() { t.Troubles = troublesOf(t.runData) }()
	if t.State != record.Complete {
		t.Answer = nil
		return
	}
	counts := stat.Count(observe(t.Run, t.turns))
	t.Counts = &counts
}

// checkLog judges the record's event log.
func (t *runFold) checkLog(rec *record.Record, out record.LoopOutcome) check.Result {
	report, err := rec.VerifyLog(t.plan.CountRendered)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) && len(t.turns) == 0 && t.State != record.Complete {
			return check.Skipped("log", t.Name, "the run was not executed")
		}
		return check.Unreadable("log", t.Name, err)
	}
	r := t.planned
	return check.Log(t.Name, check.LogOf{
		Chunks: len(t.input.Tokens), Seen: out.ChunksSeen, Used: out.ChunksUsed, StoppedBy: out.StoppedBy, Foreign: t.foreign,
		Start: loop.RunStart{
			Schema: loop.Schema, Level: loop.Level(r.Level), QuerySHA: digest.Of(r.Question), UseExitGate: r.ExitGate == spec.Enforce,
			MemoryBudget: r.Setup.Budget().Memory, Tokenizer: t.plan.Tokenizer(),
		},
	}, report)
}

func count(b bool) int {
	if b {
		return 1
	}
	return 0
}
