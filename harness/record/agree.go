package record

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/poimen-memory/mem/gate"
	"github.com/poimen-memory/mem/internal/digest"
	"github.com/poimen-memory/mem/internal/inputfile"
	"github.com/poimen-memory/mem/loop"
	"github.com/poimen-memory/mem/loop/eventlog"
	"github.com/poimen-memory/mem/loop/journal"
	"github.com/poimen-memory/mem/prompt"
)

// compare holds the log's whole turns against the calls of the journal, until they part.
func (v *verification) compare(calls *callReader, count eventlog.CountTokens) error {
	if v.log.Start == nil {
		return nil
	}
	if v.differs = startDiffers(*v.log.Start, v.header); v.differs != "" {
		v.line, v.verdict.log, v.verdict.Turns = 1, 0, 0
		return nil
	}
	file, err := inputfile.Open(v.verdict.Path)
	if err != nil {
		return err
	}
	defer file.Close()
	reader := eventlog.NewReader(file)
	judge := turnJudge{header: v.header, start: *v.log.Start}
	if count != nil {
		judge.count = count(judge.start.Tokenizer)
	}
	v.verdict.Turns, v.verdict.log = 0, 0
	for turn, err := range reader.Turns() {
		if err != nil || reader.Bytes > v.log.Bytes {
			return nil // the log's own verdict says it
		}
		group := calls.of(turn.Number)
		switch {
		case calls.err != nil:
			return nil
		case group == nil && calls.ahead == nil && calls.reader.End == nil:
			v.ahead = true
			return nil
		case group == nil:
			v.differs = fmt.Sprintf("the journal has no calls of turn %d", turn.Number)
		default:
			v.differs = judge.differs(turn, group)
		}
		if v.differs != "" {
			v.line = reader.Line
			return nil
		}
		v.verdict.Turns, v.verdict.log = v.verdict.Turns+1, reader.Bytes
	}
	v.verdict.log = min(reader.Bytes, v.log.Bytes)
	return nil
}

// startDiffers says in what a log's opening is not the one of a journal's run.
func startDiffers(s loop.RunStart, h journal.Header) string {
	budget, limited := h.Budget[string(prompt.Memory)]
	switch {
	case s.QuerySHA != digest.Of(h.Query):
		return "query_sha is not that of the journal's query"
	case s.Level != h.Level:
		return fmt.Sprintf("level is %d, the journal's is %d", s.Level, h.Level)
	case s.Tokenizer != h.Tokenizer:
		return fmt.Sprintf("tokenizer is %q, the journal's is %q", s.Tokenizer, h.Tokenizer)
	case limited && s.MemoryBudget != budget:
		return fmt.Sprintf("memory_budget is %d, the journal's is %d", s.MemoryBudget, budget)
	}
	return ""
}

// turnJudge resolves the turns of a run again, from the replies in its journal.
type turnJudge struct {
	header journal.Header
	start  loop.RunStart
	count  func(string) int // nil: token numbers are not verified
}

// differs says in what a turn's events are not what its calls give.
func (j turnJudge) differs(t eventlog.Turn, calls []journal.Call) string {
	var decision gate.Decision
	var kinds []gate.Kind
	parsed := false
	for _, c := range calls {
		if c.Error != "" {
			continue
		}
		if parsed {
			return fmt.Sprintf("turn %d: attempt %d was asked after a reply that could be read", t.Number, c.Attempt)
		}
		if want := len(kinds) + 1; c.Attempt != want {
			return fmt.Sprintf("turn %d: the journal has attempt %d, want %d", t.Number, c.Attempt, want)
		}
		var err error
		decision, err = loop.Parse(loop.Completion{Text: c.Reply, Reasoning: c.Reasoning, Finish: c.Finish})
		if parsed = err == nil; !parsed {
			kinds = append(kinds, kindOf(err))
		}
	}
	switch attempts := len(kinds) + number(parsed); {
	case t.Attempts != attempts:
		return fmt.Sprintf("attempts is %d, the journal has %d replies", t.Attempts, attempts)
	case t.Parsed != parsed:
		return fmt.Sprintf("turn %d: parsed is %v, by the journal's replies it is %v", t.Number, t.Parsed, parsed)
	case !parsed:
		return kindsDiffer(t.Failed.Kinds, kinds)
	}
	return first(j.gateDiffers(t, decision), j.chunkDiffers(t, calls[0]))
}

func kindsDiffer(logged, replied []gate.Kind) string {
	for i, k := range replied {
		if i >= len(logged) || logged[i] != k {
			return fmt.Sprintf("kinds are %q, by the journal's replies they are %q", logged, replied)
		}
	}
	return ""
}

// gateDiffers compares what the log makes of a reply with what it says.
func (j turnJudge) gateDiffers(t eventlog.Turn, d gate.Decision) string {
	switch {
	case t.Update != d.Update || t.Exit != d.Exit:
		return fmt.Sprintf("update and exit are %v and %v, the reply says %v and %v", t.Update, t.Exit, d.Update, d.Exit)
	case t.Written && t.Memory.Text != d.Candidate:
		return "text is not the reply's candidate"
	case t.OverBudget != nil && t.OverBudget.CandidateSHA != digest.Of(d.Candidate):
		return "candidate_sha is not that of the reply's candidate"
	case t.OverBudget != nil && j.count != nil && t.OverBudget.Tokens != j.count(d.Candidate):
		return fmt.Sprintf("tokens is %d, which %s does not count", t.OverBudget.Tokens, j.start.Tokenizer)
	}
	return ""
}

// chunkDiffers compares a turn's chunk with the one in its prompt, where the journal holds the
// prompt, and the template is the paper's.
func (j turnJudge) chunkDiffers(t eventlog.Turn, c journal.Call) string {
	if c.User == "" || j.header.TemplateSHA != digest.Of(prompt.Figure10a) {
		return ""
	}
	chunk, known := chunkOf(c.User, t.ChunkSHA)
	switch {
	case !known:
		return ""
	case digest.Of(chunk) != t.ChunkSHA:
		return "chunk_sha is not that of the chunk in the prompt"
	case t.Evidence != nil && t.Evidence.Bytes != len(chunk):
		return fmt.Sprintf("bytes is %d, the chunk in the prompt has %d", t.Evidence.Bytes, len(chunk))
	}
	return ""
}

// chunkOf reads the chunk out of a prompt. known is false if it may be one of several: an
// escaped tag in a prompt may also be what the session holds.
func chunkOf(user, sha string) (chunk string, known bool) {
	template, err := prompt.Split(prompt.Figure10a)
	sent, unread := prompt.Split(user)
	before, after, _ := strings.Cut(template.Section, "{chunk}")
	if err != nil || unread != nil || !strings.HasPrefix(sent.Section, before) || !strings.HasSuffix(sent.Section, after) {
		return "", false
	}
	escaped := strings.TrimSuffix(strings.TrimPrefix(sent.Section, before), after)
	plain := escapedTag.ReplaceAllString(escaped, "<$1")
	if plain == escaped || digest.Of(escaped) == sha {
		return escaped, true
	}
	return plain, digest.Of(plain) == sha
}

// escapedTag is one that the session may have held, as a prompt shows it.
var escapedTag = regexp.MustCompile(`&lt;(\s*/?\s*(?i:problem|memory|section)\s*>)`)

// kindOf is the kind of a reply that could not be read.
func kindOf(err error) gate.Kind {
	if syntax, ok := errors.AsType[*gate.SyntaxError](err); ok {
		return syntax.Kind
	}
	return ""
}

func number(b bool) int {
	if b {
		return 1
	}
	return 0
}

func first(problems ...string) string {
	for _, p := range problems {
		if p != "" {
			return p
		}
	}
	return ""
}
