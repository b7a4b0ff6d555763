package dataset_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/poimen-memory/mem/harness/corpus/corpustest"
	"github.com/poimen-memory/mem/harness/dataset"
)

// Every sample is recognised, whole and compressed.
func TestRecognise(t *testing.T) {
	for file, want := range published {
		if got, err := dataset.Recognise(samplesDir + file); got != want || err != nil {
			t.Errorf("%s: %q, %v, want %s", file, got, err, want)
		}
		data, err := os.ReadFile(samplesDir + file)
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(t.TempDir(), file+".gz")
		if err := os.WriteFile(path, []byte(compressed(t, "gz", string(data))), 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := dataset.Recognise(path); got != want || err != nil {
			t.Errorf("%s.gz: %q, %v, want %s", file, got, err, want)
		}
	}
}

// A file that is not recognised is refused with the nearest format and what is missing.
func TestRecogniseRefuses(t *testing.T) {
	for content, want := range map[string]string{
		`[{"conversations":[{"from":"human","text":"a"}]}]`: "nearest is sharegpt, but conversations[].value is missing: want --from FORMAT",
		`{"question":"Q","answer":"A","context":[]}`:        "nearest is hotpotqa, but supporting_facts is missing: want --from FORMAT",
		`[{"a":1}]`:        "nothing in it is as in any format: want --from FORMAT, one of " + strings.Join(dataset.Formats(), ", "),
		`{"type":"x"}`:     "nothing in it is as in any format: want --from FORMAT, one of " + strings.Join(dataset.Formats(), ", "),
		"Dear diary, \n":   "it is neither JSON nor .txt nor .md: want --from FORMAT, for plain text --from text",
		`{"role":"user",}`: "nothing in it is as in any format: want --from FORMAT, one of " + strings.Join(dataset.Formats(), ", "),
	} {
		path := corpustest.WriteFile(t, "f.json", content)
		if format, err := dataset.Recognise(path); err == nil || err.Error() != path+": the format is not recognised: "+want {
			t.Errorf("%s: %q, %v\nwant %s", content, format, err, want)
		}
	}
}
