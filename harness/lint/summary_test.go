package lint_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/poimen-memory/mem/harness/diag"
	"github.com/poimen-memory/mem/harness/lint"
)

func TestSummary(t *testing.T) {
	var s lint.Summary
	if s.Unfit(false) {
		t.Error("no findings are unfit")
	}
	s.Add(lint.Finding{Kind: lint.Duplicate, At: diag.Pos{File: "c", Line: 2, Col: 1}, What: "twice", More: 4})
	for i := range 12 {
		s.Add(lint.Finding{Kind: lint.Secret, What: fmt.Sprint(i)})
	}
	if s.Kinds[0].Kind != lint.Duplicate || s.Kinds[0].Count != 5 || s.Kinds[1].Count != 12 {
		t.Errorf("groups %+v, %+v", s.Kinds[0], s.Kinds[1])
	}
	if diff := cmp.Diff([]string{"c:2:1: duplicate: twice"}, s.Kinds[0].Lines()); diff != "" {
		t.Error(diff)
	}
	secrets := s.Kinds[1].Lines()
	if len(secrets) != 11 || secrets[0] != "secret: 0" || secrets[10] != "secret: and 2 more" {
		t.Errorf("lines %q", secrets)
	}
	if !s.Unfit(false) || s.Unfit(true) {
		t.Error("secrets make a corpus unfit unless they were redacted")
	}
	if s.Add(lint.Finding{Kind: lint.Missing}); !s.Unfit(true) {
		t.Error("a label that hits nothing makes a corpus unfit, also redacted")
	}
}
