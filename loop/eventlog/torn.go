package eventlog

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/poimen-memory/mem/loop"
)

// A torn line cannot be decoded, so it is held against the lines that may stand in its
// place: each a sequence of parts, with every value that is already known as a literal.

// A part takes its bytes off the front of s. A part that s ends within takes all of s.
type part func(s string) (rest string, ok bool)

type pattern []part

// begins reports whether s is a beginning of a line of this pattern.
func (p pattern) begins(s string) bool {
	for _, next := range p {
		rest, ok := next(s)
		if !ok {
			return false
		}
		if rest == "" {
			return true
		}
		s = rest
	}
	return false // longer than the line
}

// legal lists the lines that may stand where the log ends.
func (v *verifier) legal() []pattern {
	switch {
	case v.Start == nil:
		return startPatterns()
	case len(v.open.Events) == 1:
		return []pattern{v.evidencePattern(), v.budgetPattern()}
	case len(v.open.Events) == 2:
		return []pattern{v.memoryPattern()}
	case v.exited():
		return []pattern{v.endPattern()}
	}
	return []pattern{v.gatePattern(), v.failedPattern(), v.endPattern()}
}

// startPatterns has one pattern for each way to begin: with or without a turn and a memory.
func startPatterns() []pattern {
	start := pattern{
		lit(`{"type":"run_start","schema":%d,"level":`, loop.Schema), number,
		lit(`,"query_sha":`), shaString, lit(`,"use_exit_gate":`), boolean,
		lit(`,"memory_budget":`), number, lit(`,"tokenizer":`), text,
	}
	turn, memory, end := pattern{lit(`,"start_turn":`), number}, pattern{lit(`,"start_memory_sha":`), shaString}, pattern{lit(`}`)}
	return []pattern{
		slices.Concat(start, end), slices.Concat(start, turn, end),
		slices.Concat(start, memory, end), slices.Concat(start, turn, memory, end),
	}
}

func (v *verifier) gatePattern() pattern {
	return pattern{
		v.head(loop.Gate{}, 0), lit(`,"chunk_sha":`), shaString, lit(`,"update":`), boolean,
		lit(`,"exit":`), boolean, lit(`,"attempts":`), number, lit(`}`),
	}
}

func (v *verifier) evidencePattern() pattern {
	return pattern{v.head(loop.Evidence{}, -1), lit(`,"sha":"%s","bytes":`, v.open.ChunkSHA), number, lit(`}`)}
}

func (v *verifier) memoryPattern() pattern {
	parents := strings.Join(v.parents(), `","`)
	return pattern{
		v.head(loop.Memory{}, 0), lit(`,"sha":`), shaString, lit(`,"parents":["%s"],"tokens":`, parents),
		number, lit(`,"text":`), text, lit(`}`),
	}
}

func (v *verifier) budgetPattern() pattern {
	return pattern{
		v.head(loop.BudgetExceeded{}, 0), lit(`,"tokens":`), number,
		lit(`,"budget":%d,"candidate_sha":`, v.Start.MemoryBudget), shaString, lit(`}`),
	}
}

func (v *verifier) failedPattern() pattern {
	p := pattern{v.head(loop.ParseFailed{}, 0), lit(`,"attempts":%d,"kinds":[`, loop.Attempts), text}
	for range loop.Attempts - 1 {
		p = append(p, lit(`,`), text)
	}
	return append(p, lit(`]}`))
}

func (v *verifier) endPattern() pattern {
	final := "null"
	if memory := v.memory(); memory != "" {
		final = `"` + memory + `"`
	}
	return pattern{lit(`{"type":"run_end","level":%d,"chunks_seen":%d,"chunks_used":%d,"final_memory_sha":%s,"stopped_by":"%s"}`,
		v.Start.Level, v.turns, v.used, final, v.stop())}
}

func (v *verifier) head(e loop.Event, offset loop.Level) part {
	return lit(`{"type":%q,"level":%d,"turn":%d`, e.Type(), v.Start.Level+offset, v.number())
}

func lit(format string, args ...any) part {
	want := fmt.Sprintf(format, args...)
	return func(s string) (string, bool) {
		if len(s) < len(want) {
			return "", strings.HasPrefix(want, s)
		}
		return strings.CutPrefix(s, want)
	}
}

func number(s string) (string, bool) {
	rest := strings.TrimLeft(s, "0123456789")
	digits := s[:len(s)-len(rest)]
	return rest, digits != "" && (digits == "0" || digits[0] != '0')
}

func boolean(s string) (string, bool) {
	if rest, ok := lit("true")(s); ok {
		return rest, true
	}
	return lit("false")(s)
}

func shaString(s string) (string, bool) {
	for i := range min(len(s), 66) {
		quote := i == 0 || i == 65
		if quote && s[i] != '"' || !quote && !strings.Contains("0123456789abcdef", s[i:i+1]) {
			return "", false
		}
	}
	return s[min(len(s), 66):], true
}

// text takes a JSON string, which may be cut anywhere, also inside a character.
func text(s string) (string, bool) {
	if s[0] != '"' {
		return "", false
	}
	for i := 1; i < len(s); {
		switch c := s[i]; {
		case c == '"':
			return s[i+1:], true
		case c < ' ':
			return "", false
		case c == '\\':
			n, ok := escape(s[i:])
			if !ok {
				return "", false
			}
			i += n
		default:
			r, n := utf8.DecodeRuneInString(s[i:])
			if r == utf8.RuneError && n == 1 {
				return "", !utf8.FullRuneInString(s[i:])
			}
			i += n
		}
	}
	return "", true
}

// escape measures an escape sequence that s begins with; one that s cuts takes the rest.
func escape(s string) (int, bool) {
	if len(s) == 1 {
		return 1, true
	}
	if s[1] != 'u' {
		return 2, strings.Contains(`"\bfnrt`, s[1:2])
	}
	n := min(len(s), 6)
	return n, strings.Trim(s[2:n], "0123456789abcdef") == ""
}
