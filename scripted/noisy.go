package scripted

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"

	"github.com/poimen-memory/mem/gate"
	"github.com/poimen-memory/mem/loop"
)

// NoisyOracle is an Oracle that errs at known rates, so that what a harness measures can
// be compared with what was put in. A wrong yes notes the head of the chunk, a quarter of
// the budget at most; a wrong no retains; a wrong exit is the opposite of the oracle's.
//
// Its errors are drawn from a hash of the fields below and the turn: the same on every
// machine, whatever ran before.
type NoisyOracle struct {
	Oracle
	WrongUpdate, WrongExit, Malformed float64 // probabilities, per turn

	Seed          int64
	Query, Corpus string
	Level, Trial  int
}

// Errors is what goes wrong at a turn: the gates that are flipped, and how many first
// attempts are unparsable: none, or with probability Malformed 1, 2 or 3 alike.
func (n NoisyOracle) Errors(turn int) (wrongUpdate, wrongExit bool, malformed int) {
	if n.draw(turn, "malformed") < n.Malformed {
		malformed = 1 + int(n.draw(turn, "malformed attempts")*loop.Attempts)
	}
	return n.draw(turn, "wrong update") < n.WrongUpdate, n.draw(turn, "wrong exit") < n.WrongExit, malformed
}

// Complete answers one prompt. The errors are an Oracle's.
func (n NoisyOracle) Complete(_ context.Context, r loop.Request) (loop.Completion, error) {
	if r.Turn == loop.AnswerTurn {
		return recite(r)
	}
	v, err := n.read(r)
	if err != nil {
		return loop.Completion{}, err
	}
	update, exit := n.gates(r.Turn)
	wrongUpdate, wrongExit, malformed := n.Errors(r.Turn)
	d := n.decide(v, r.Turn, update != wrongUpdate, exit != wrongExit)
	if r.Attempt <= malformed {
		kinds := malformations()
		kind := int(n.draw(r.Turn, fmt.Sprintf("malformation %d", r.Attempt)) * float64(len(kinds)))
		return kinds[kind](d), nil
	}
	return say(d), nil
}

// draw is uniform in [0, 1). The key's parts carry their lengths, so that no two keys
// are the same bytes.
func (n NoisyOracle) draw(turn int, what string) float64 {
	h := sha256.New()
	for _, part := range []string{
		strconv.FormatInt(n.Seed, 10), n.Query, n.Corpus,
		strconv.Itoa(n.Level), strconv.Itoa(n.Trial), strconv.Itoa(turn), what,
	} {
		fmt.Fprintf(h, "%d:%s", len(part), part)
	}
	return float64(binary.BigEndian.Uint64(h.Sum(nil))>>11) / (1 << 53)
}

// malformations are the ways in which models are seen to break a reply. None of their
// results can be parsed, whatever the decision.
func malformations() []func(gate.Decision) loop.Completion {
	text := func(s string) loop.Completion { return loop.Completion{Text: s} }
	return []func(gate.Decision) loop.Completion{
		func(gate.Decision) loop.Completion { return text("This section may help with the problem.") },
		func(gate.Decision) loop.Completion { return text("<think>The section is about") },
		func(gate.Decision) loop.Completion {
			return text("<check>maybe</check>\n<next>continue</next>")
		},
		func(d gate.Decision) loop.Completion { return text("<check>yes</check>\n" + d.Reply()) },
		func(d gate.Decision) loop.Completion {
			return text("<check>yes</check>\n<update>" + d.Candidate + "\n<next>continue</next>")
		},
		func(d gate.Decision) loop.Completion {
			whole := d.Reply()
			return text(whole[:strings.LastIndex(whole, "<next>")])
		},
		func(d gate.Decision) loop.Completion {
			whole := []rune(d.Reply())
			return loop.Completion{Text: string(whole[:len(whole)/2]), Finish: loop.FinishLength}
		},
	}
}
