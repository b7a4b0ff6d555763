package scripted

import (
	"context"
	"fmt"
	"slices"

	"github.com/poimen-memory/mem/harness/diag"
	"github.com/poimen-memory/mem/internal/inputfile"
	"github.com/poimen-memory/mem/loop"
)

// Script is a gate script: what a model says at each attempt of each turn, whatever it
// is asked.
//
//	turns:
//	  - {turn: 1, check: yes, update: "Redis is on 6380", next: continue, think: "because"}
//	  - turns: 3-7
//	    attempts:
//	      - {raw: "I think the answer is 6380", repeat: 2}    # two attempts that do not parse
//	      - {check: no, next: end}
//	  - {turn: 8, error: "connection refused"}                # no reply: the run is incomplete
//	  - {turn: 9, raw: "<check>yes</check><update>half", finish: length}
//	  - {turn: 10, check: yes, update: {text: "alpha ", times: 4000}, next: continue}
//	default: {check: no, next: continue}                      # for turns that no entry names
//	answer: "6380"                                            # asked for it, when the run has ended
//
// An entry with one attempt may have that attempt's fields itself. Fields are always a
// reply that parses; what should not parse is written as raw. An answer may be a list of
// attempts too, each raw, or an error.
type Script struct {
	entries  []*entry
	fallback *entry // nil: a turn that no entry names is an error
	sha      string
	answer   *entry // nil: to be asked for it is an error
}

// entry is what is said at the turns first to last; of the default, and of the answer, these
// are 0.
type entry struct {
	diag.Place
	first, last int
	answer      bool
	attempts    []*attempt
}

// attempt is one reply, or a transport error, said so many times in a row.
type attempt struct {
	diag.Place
	times int
	reply loop.Completion
	err   error
}

// ScriptError is a script that does not say what a run needs to know.
type ScriptError struct {
	Pos           diag.Pos
	Turn, Attempt int
	Msg           string
}

// Error leaves the turn to whoever asked: the loop's error names it.
func (e *ScriptError) Error() string { return e.Pos.String() + ": " + e.Msg }

// Misconfigured tells a mistake of who wrote the experiment from a failed transport.
func (e *ScriptError) Misconfigured() bool { return true }

// LoadScript reads a script from a file; see ParseScript.
func LoadScript(path string) (*Script, error) {
	data, err := inputfile.Read(path, inputfile.MaxScript)
	if err != nil {
		return nil, err
	}
	return ParseScript(path, data)
}

// Answers reports whether the script has an answer for runs that ask for one.
func (s *Script) Answers() bool { return s.answer != nil }

// Model is the script for one run. Runs may go on at the same time.
func (s *Script) Model() loop.Model { return scriptModel{s} }

type scriptModel struct{ script *Script }

// SHA is the SHA-256 of the script's text, in hex: two of one name are told apart.
func (m scriptModel) SHA() string { return m.script.sha }

// Complete says what the script has for the request's turn and attempt. The error is a
// *ScriptError, or the transport error that the script asks for.
func (m scriptModel) Complete(_ context.Context, r loop.Request) (loop.Completion, error) {
	e := m.script.at(r.Turn)
	if e == nil && r.Turn == loop.AnswerTurn {
		return loop.Completion{}, m.script.noAnswer(r)
	}
	if e == nil {
		return loop.Completion{}, m.script.ranOut(r)
	}
	a := e.at(r.Attempt)
	if a == nil {
		return loop.Completion{}, e.ranOut(r)
	}
	return a.reply, a.err
}

// at is the entry for a turn, or nil.
func (s *Script) at(turn int) *entry {
	if turn == loop.AnswerTurn {
		return s.answer
	}
	for _, e := range s.entries {
		if e.first <= turn && turn <= e.last {
			return e
		}
	}
	return s.fallback
}

// noAnswer points to the first thing that the script says.
func (s *Script) noAnswer(r loop.Request) error {
	return &ScriptError{s.all()[0].Pos, r.Turn, r.Attempt, "the spec asks for an answer and the script has none: want answer: TEXT beside its turns"}
}

// ranOut points to the last entry, behind which the missing one may go.
func (s *Script) ranOut(r loop.Request) error {
	last := s.entries[len(s.entries)-1] // without entries there is a default
	return &ScriptError{last.Pos, r.Turn, r.Attempt, "no entry names this turn, want one that does, or a default"}
}

// at is the entry's attempt number n, from 1, or nil.
func (e *entry) at(n int) *attempt {
	for _, a := range e.attempts {
		if n -= a.times; n <= 0 {
			return a
		}
	}
	return nil
}

func (e *entry) ranOut(r loop.Request) error {
	total := 0
	for _, a := range e.attempts {
		total += a.times
	}
	return &ScriptError{e.Pos, r.Turn, r.Attempt,
		fmt.Sprintf("this entry ends at attempt %d, whose reply was not accepted: want one more, or one that parses", total)}
}

// Unused is a complaint about each entry that none of the calls came to, and about each
// attempt that none needed in the others. calls are turns and attempts, from 1;
// loop.AnswerTurn is the turn of the answer.
func (s *Script) Unused(calls [][2]int) diag.Errors {
	used := map[*attempt]bool{}
	for _, c := range calls {
		if e := s.at(c[0]); e != nil {
			used[e.at(c[1])] = true
		}
	}
	var unused diag.Errors
	for _, e := range s.all() {
		if !slices.ContainsFunc(e.attempts, func(a *attempt) bool { return used[a] }) {
			unused = append(unused, e.Errorf("no run used %s", e.name()))
			continue
		}
		for _, a := range e.attempts {
			if !used[a] {
				unused = append(unused, a.Errorf("no run used this attempt of %s", e.name()))
			}
		}
	}
	return unused
}

func (s *Script) all() []*entry {
	all := slices.Clone(s.entries)
	for _, e := range []*entry{s.fallback, s.answer} {
		if e != nil {
			all = append(all, e)
		}
	}
	return all
}

// name is how messages call an entry.
func (e *entry) name() string {
	switch {
	case e.answer:
		return "the answer"
	case e.last == 0:
		return "the default"
	case e.first == e.last:
		return fmt.Sprintf("turn %d", e.first)
	}
	return fmt.Sprintf("turns %d-%d", e.first, e.last)
}
