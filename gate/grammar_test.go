package gate_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/poimen-memory/mem/gate"
)

// pieces are what TestGrammar builds replies of, each under a letter of its own.
var pieces = map[byte]string{
	'Y': yes, 'N': no, 'U': upd, 'B': "<update> </update>", 'C': cont, 'E': end,
	'T': "<think>", 't': "</think>", 'u': "</update>", 'n': "</next>", 'x': " x ",
}

// legal matches the letters of the answers that the grammar allows, with all orders spelled out.
var legal = regexp.MustCompile("^x*(" + strings.NewReplacer(
	"check", "[YN]", "update", "[UB]u*", "next", "[CE]n*", " ", "x*", "\n", "|",
).Replace(`check update next
check next update
update check next
update next check
next check update
next update check
N next
next N`) + ")x*(T[Tx]*)?$")

// judge reads letters as Parse should read the reply they stand for.
func judge(letters string) (d gate.Decision, ok bool) {
	answer := letters[strings.LastIndex(letters, "t")+1:]
	if !legal.MatchString(answer) {
		return d, false
	}
	d.Update = strings.Contains(answer, "Y")
	d.Exit = strings.Contains(answer, "E")
	d.HasCandidate = strings.ContainsAny(answer, "UB")
	if strings.Contains(answer, "U") {
		d.Candidate = "m"
	}
	return d, !d.Update || d.Candidate != ""
}

// TestGrammar holds Parse against a regular expression over every reply of up to five pieces.
func TestGrammar(t *testing.T) {
	var legals, total int
	var try func(letters, reply string)
	try = func(letters, reply string) {
		want, ok := judge(letters)
		got, err := gate.Parse(reply)
		got.Reasoning = ""
		if got != want && ok || (err == nil) != ok {
			t.Errorf("%q: got %+v, %v, want %+v, %v", reply, got, err, want, ok)
		}
		total++
		if ok {
			legals++
		}
		if len(letters) == 5 {
			return
		}
		for letter, piece := range pieces {
			try(letters+string(letter), reply+piece)
		}
	}
	try("", "")
	if legals < 1000 || legals > total/10 {
		t.Errorf("%d of %d replies are legal: the alphabet proves nothing", legals, total)
	}
}
