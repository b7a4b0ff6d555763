package diag_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/poimen-memory/mem/harness/diag"
)

func TestErrorsErr(t *testing.T) {
	at := func(file string, line int) diag.Place {
		return diag.Place{Pos: diag.Pos{File: file, Line: line, Col: 1}, Path: "x"}
	}
	if err := (diag.Errors{}).Err(); err != nil {
		t.Errorf("no errors are an error: %v", err)
	}
	err := diag.Errors{diag.Flag("--tokenizer").Errorf("zero"), at("b", 2).Errorf("two"), at("a", 1).Errorf("one"), at("b", 1).Errorf("one"), at("b", 2).Errorf("two"),
		diag.Place{Pos: diag.Pos{File: "c"}}.Errorf("is a folder")}.Err()
	want := "--tokenizer: zero\nb:1:1: x: one\nb:2:1: x: two\na:1:1: x: one\nc: is a folder"
	var all diag.Errors
	if err.Error() != want || !errors.As(err, &all) || len(all) != 5 {
		t.Errorf("got\n%v\nwant\n%s", err, want)
	}
}

func TestOneOf(t *testing.T) {
	var many []string
	for i := range 28 {
		many = append(many, fmt.Sprintf("n%d", i))
	}
	for _, tc := range []struct {
		found string
		known []string
		want  string
	}{
		{"x", nil, `found "x", want none: there are none to choose from`},
		{"x", []string{"staging"}, `found "x", want "staging"`},
		{"STAGING", []string{"prod", "staging"}, `found "STAGING", want one of prod, staging; did you mean "staging"?`},
		{"zz", many, `found "zz", want one of n0, n1, n2, n3, n4, n5, n6, n7, n8, n9, n10, n11, n12, n13, n14, n15, n16, n17, n18, n19, n20, n21, n22, n23 and 4 more`},
		{strings.Repeat("n", 100), []string{"a", "b"}, `found "` + strings.Repeat("n", 47) + `…", want one of a, b`},
	} {
		if got := diag.OneOf(tc.found, tc.known); got != tc.want {
			t.Errorf("got %s\nwant %s", got, tc.want)
		}
	}
}

func TestFlagIsNotPresentInAFile(t *testing.T) {
	if diag.Flag("--tokenizer").Present() {
		t.Error("a flag's value is reported as written in a file")
	}
}

func TestCount(t *testing.T) {
	for want, got := range map[string]string{
		"0 records": diag.Count(0, "record"), "1 query": diag.Count(1, "query"), "2 queries": diag.Count(2, "query"), "3 keys": diag.Count(3, "key"),
	} {
		if got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

// A list keeps 20 errors and says where the rest begin; other errors are handed back.
func TestList(t *testing.T) {
	var l diag.List
	if !l.Empty() || l.Err() != nil {
		t.Errorf("an empty list is %v", l.Err())
	}
	other := errors.New("disk full")
	if got := l.Add(other); got != other || !l.Empty() {
		t.Errorf("another error: %v", got)
	}
	for line := range 25 {
		if err := l.Add(fmt.Errorf("wrapped: %w", diag.Errors{{Pos: diag.Pos{File: "f", Line: line + 1, Col: 1}, Msg: "wrong"}})); err != nil {
			t.Fatal(err)
		}
	}
	lines := strings.Split(l.Err().Error(), "\n")
	if len(lines) != 21 || lines[19] != "f:20:1: wrong" || lines[20] != "f:21:1: and 5 more errors from here on" {
		t.Errorf("%d lines: %q", len(lines), lines)
	}
}

func TestInvalidUTF8(t *testing.T) {
	for text, want := range map[string]int{"": -1, "ü\ufffd": -1, "ü\xff": 2, "\xc3": 0, "a\xed\xa0\x80": 1} {
		if got := diag.InvalidUTF8([]byte(text)); got != want {
			t.Errorf("%q: %d, want %d", text, got, want)
		}
	}
}

func Example() {
	place := diag.Place{Pos: diag.Pos{File: "spec.yaml", Line: 3, Col: 21}, Path: "models[0].policy"}
	errs := diag.Errors{place.Errorf("%s", diag.OneOf("orcale", []string{"oracle", "lexical"}))}
	fmt.Println(errs.Err())
	// Output:
	// spec.yaml:3:21: models[0].policy: found "orcale", want one of oracle, lexical; did you mean "oracle"?
}
