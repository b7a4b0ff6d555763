package gate_test

import (
	"errors"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/poimen-memory/mem/gate"
)

func FuzzParse(f *testing.F) {
	for _, c := range acceptedReplies() {
		f.Add(c.reply)
	}
	for _, c := range refusedReplies() {
		f.Add(c.reply)
	}
	f.Fuzz(func(t *testing.T, reply string) {
		d, err := gate.Parse(reply)
		if err != nil {
			checkError(t, reply, err)
			return
		}
		again, err := gate.Parse(d.Reply())
		if err != nil {
			t.Fatalf("%q re-rendered as %q: %v", reply, d.Reply(), err)
		}
		if diff := cmp.Diff(d, again); diff != "" {
			t.Fatalf("%q re-rendered as %q, -first +again\n%s", reply, d.Reply(), diff)
		}
	})
}

// checkError demands a known kind, an offset within the reply, and what is found there.
func checkError(t *testing.T, reply string, err error) {
	var e *gate.SyntaxError
	if !errors.As(err, &e) {
		t.Fatalf("%q: error %T, want *SyntaxError", reply, err)
	}
	if !slices.Contains(gate.Kinds(), e.Kind) || e.Kind == gate.Length {
		t.Errorf("%q: kind %q", reply, e.Kind)
	}
	if e.Offset < 0 || e.Offset > len(reply) {
		t.Fatalf("%q: offset %d is outside", reply, e.Offset)
	}
	if e.Found == "end of reply" && e.Offset == len(reply) {
		return
	}
	found, err := strconv.Unquote(strings.TrimSuffix(e.Found, "..."))
	if err != nil || !strings.HasPrefix(reply[e.Offset:], found) {
		t.Errorf("%q: found %s is not at %d", reply, e.Found, e.Offset)
	}
}
