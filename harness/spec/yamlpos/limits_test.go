package yamlpos_test

import (
	"strings"
	"testing"

	"github.com/poimen-memory/mem/harness/diag"
	"github.com/poimen-memory/mem/harness/spec/yamlpos"
)

// A list over its limit is read up to it, so that what is longer takes no time.
func TestListOverItsLimit(t *testing.T) {
	var out struct {
		List []int `yaml:"list" max:"2"`
	}
	err := yamlpos.Decode("f.yaml", []byte("list: [1, 2, 3, 4]"), &out)
	if want := "f.yaml:1:7: list: found a list of 4, want a list of at most 2"; err == nil || err.Error() != want || len(out.List) != 2 {
		t.Errorf("got %v, %v, want 2 elements and %s", out.List, err, want)
	}
}

func TestTooManyErrors(t *testing.T) {
	var out struct {
		List []int `yaml:"list"`
	}
	for n, want := range map[int]int{1000: 1000, 1001: 1001, 100_000: 1001} {
		err := yamlpos.Decode("f.yaml", []byte("list: ["+strings.Repeat("x,", n)+"]"), &out)
		errs, _ := err.(diag.Errors)
		if len(errs) != want {
			t.Fatalf("%d wrong values: %d errors, want %d", n, len(errs), want)
		}
		const more = "found more than 1000 errors: the rest of the file was not checked"
		if last := errs[want-1].Msg; (last == more) != (n > 1000) {
			t.Errorf("%d wrong values: the last error is %s", n, last)
		}
	}
}

func TestTooManyValues(t *testing.T) {
	var out struct{}
	err := yamlpos.Decode("f.yaml", []byte(strings.Repeat(",", 1_000_001)), &out)
	if want := "f.yaml:1:1: found 1000001 line ends, commas and colons, want at most 1000000: the file has too many values"; err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
}
