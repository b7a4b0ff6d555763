package secret_test

import (
	"strings"
	"testing"

	"github.com/poimen-memory/mem/harness/secret"
)

// The keys are put together here, so that no scanner reports this file.
func TestFindAndRedact(t *testing.T) {
	aws := "AKIA" + strings.Repeat("A1", 8)
	text := "use " + aws + " and password: " + strings.Repeat("a1B2", 5) + ", not token: the_name_of_the_token"
	found := secret.Find(text)
	if len(found) != 2 || found[0].Kind != "an AWS access key" || text[found[0].From:found[0].To] != aws || found[0].To > found[1].From {
		t.Fatalf("found %+v", found)
	}
	if got, want := found[0].Hint(text), "what looks like an AWS access key: AKIA… (20 bytes)"; got != want {
		t.Errorf("hint %q, want %q", got, want)
	}
	got, n := secret.Redact(text)
	if want := "use [redacted] and password: [redacted], not token: the_name_of_the_token"; got != want || n != 2 {
		t.Errorf("redacted %q, %d, want %q", got, n, want)
	}
	if got, n := secret.Redact("nothing here"); got != "nothing here" || n != 0 {
		t.Errorf("redacted %q, %d of a text without secrets", got, n)
	}
}
