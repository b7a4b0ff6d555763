package harness_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestNamesOfRunsAreFolders: a spec's ids are checked when it is read, but an import
// brings names that no user chose. Each has to be a folder's on every system, its own
// also where case does not count.
func TestNamesOfRunsAreFolders(t *testing.T) {
	const in, of = "/s.yaml:2:11: corpora[0]: ", "/h.json:1:10: [0]._id: "
	const shape = "want 1 to 64 letters a-z or A-Z, digits and . _ -, the first a letter or a digit"
	long := strings.Repeat("n", 300)
	for name, test := range map[string]struct {
		ids  []string
		want string // what is said, "" for nothing
	}{
		"good":            {[]string{"5a8b57f2", "x-1.b_2"}, ""},
		"a slash":         {[]string{"a/../../b"}, of + `found "a/../../b", want a name of letters, digits, . _ and -`},
		"dots":            {[]string{".."}, of + `found "..", want a name of letters, digits, . _ and -`},
		"NUL":             {[]string{"a\x00b"}, of + `found "a\x00b", want a name of letters, digits, . _ and -`},
		"300 characters":  {[]string{long}, in + `a part of a run's name: found "` + long[:47] + `…", ` + shape},
		"a Windows name":  {[]string{"NUL.txt"}, in + `a part of a run's name: found "NUL.txt", which cannot be the name of a folder on Windows`},
		"a final dot":     {[]string{"a."}, in + `a part of a run's name: found "a.", which cannot be the name of a folder on Windows`},
		"case alone":      {[]string{"Sample", "sample"}, in + `two runs are named h/Sample/Sample/L1/m/record and h/sample/sample/L1/m/record: want names that differ in more than case`},
		"not case though": {[]string{"Sample", "sampled"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			dir := write(t, map[string]string{
				"h.json": hotpot(test.ids),
				"s.yaml": "experiment: x\ncorpora: [{id: h, import: {format: hotpotqa, path: h.json}}]\nmodels: [{id: m, policy: lexical}]\n",
			})
			_, err := prepare(t, config(t), dir+"/s.yaml")
			got := ""
			if err != nil {
				got = strings.ReplaceAll(err.Error(), dir, "")
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
}

// hotpot is a data set of samples with these ids.
func hotpot(ids []string) string {
	var samples []string
	for _, id := range ids {
		samples = append(samples, fmt.Sprintf(`{"_id": "%s", "question": "Q?", "answer": "a", "type": "bridge", "level": "easy",
			"supporting_facts": [["T", 0]], "context": [["T", ["A sentence."]]]}`, strings.ReplaceAll(id, "\x00", `\u0000`)))
	}
	return "[" + strings.Join(samples, ",") + "]"
}
