package gate

import (
	"fmt"
	"slices"
	"strconv"
	"unicode/utf8"
)

// Kind says what is wrong with a reply, for reports to count.
type Kind string

// The kinds of syntax error. Offsets in their comments are those of SyntaxError.Offset.
const (
	InvalidUTF8    Kind = "invalid_utf8"    // not valid UTF-8; at the first such byte
	Length         Kind = "length"          // cut by the token limit; found by the loop, never by Parse
	UnclosedThink  Kind = "unclosed_think"  // broke off while reasoning; at the <think>
	MissingCheck   Kind = "missing_check"   // no <check>; at the end of the reply
	RepeatedCheck  Kind = "repeated_check"  // a second <check>; there
	BadCheck       Kind = "bad_check"       // neither yes nor no; at the value, or at a <check> without </check>
	MissingUpdate  Kind = "missing_update"  // yes, but no <update>; at the end of the reply
	RepeatedUpdate Kind = "repeated_update" // a second <update>, also inside the body of the first; there
	UnclosedUpdate Kind = "unclosed_update" // no </update>; at the <update>
	BlankUpdate    Kind = "blank_update"    // yes, but the body is white space; at the body
	MissingNext    Kind = "missing_next"    // no <next>; at the end of the reply
	RepeatedNext   Kind = "repeated_next"   // a second <next>; there
	BadNext        Kind = "bad_next"        // neither continue nor end; at the value, or at a <next> without </next>
	StrayClose     Kind = "stray_close"     // </check>, </update> or </next> outside its element; there
)

// Kinds returns all kinds in the order in which reports show them.
func Kinds() []Kind {
	return []Kind{
		InvalidUTF8, Length, UnclosedThink,
		MissingCheck, RepeatedCheck, BadCheck,
		MissingUpdate, RepeatedUpdate, UnclosedUpdate, BlankUpdate,
		MissingNext, RepeatedNext, BadNext,
		StrayClose,
	}
}

// Known reports whether k is one of Kinds, so that a log can be verified.
func (k Kind) Known() bool { return slices.Contains(Kinds(), k) }

// SyntaxError says where a reply leaves the grammar.
type SyntaxError struct {
	Kind   Kind
	Offset int    // in bytes from the start of the reply, 0 to its length
	Want   string // what would have been right there
	Found  string // the text there, quoted and at most 40 bytes of it, or "end of reply"
}

// Error reads: byte 17: want <check>yes</check> or <check>no</check>, found "maybe".
func (e *SyntaxError) Error() string {
	return fmt.Sprintf("byte %d: want %s, found %s", e.Offset, e.Want, e.Found)
}

// excerptBytes keeps an error to a line: model text has no bound.
const excerptBytes = 40

// excerpt quotes the head of valid UTF-8 s, cut between runes. Quoting also escapes what a
// terminal would interpret.
func excerpt(s string) string {
	if len(s) <= excerptBytes {
		return strconv.Quote(s)
	}
	end := excerptBytes
	for !utf8.RuneStart(s[end]) {
		end--
	}
	return strconv.Quote(s[:end]) + "..."
}
