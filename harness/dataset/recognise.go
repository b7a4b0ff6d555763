package dataset

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/poimen-memory/mem/harness/dataset/chatlog"
	"github.com/poimen-memory/mem/harness/jsonpos"
	"github.com/poimen-memory/mem/harness/textfile"
)

// shapes are what a sample or an entry has, by formats: any of them. The longest one that is met
// decides.
func shapes() map[string][]jsonpos.Shape {
	all := map[string][]jsonpos.Shape{
		"jsonl":       {"role text"},
		"hotpotqa":    {"question answer context supporting_facts"},
		"squad":       {"title paragraphs[].context paragraphs[].qas[].question", "id context question answers"},
		"musique":     {"question answer paragraphs[].title paragraphs[].paragraph_text"},
		"locomo":      {"conversation.speaker_a conversation.speaker_b qa[].question qa[].category"},
		"longmemeval": {"question_id question answer haystack_sessions"},
	}
	for name, f := range chatlog.Formats() {
		all[name] = f.Shapes
	}
	return all
}

// Recognise returns the format of a file. The error names the nearest one and what is missing.
func Recognise(path string) (string, error) {
	if format, err := recogniseText(path); format != "" || err != nil {
		return format, err
	}
	var b best
	for _, within := range []string{"", "data", "trajectory"} { // where files have their lists
		b.file(path, within)
	}
	switch {
	case b.format != "":
		return b.format, nil
	case b.nearest != "":
		return "", fmt.Errorf("%s: the format is not recognised: nearest is %s, but %s is missing: want --from FORMAT", path, b.nearest, strings.Join(b.missing, ", "))
	}
	return "", fmt.Errorf("%s: the format is not recognised: nothing in it is as in any format: want --from FORMAT, one of %s", path, strings.Join(Formats(), ", "))
}

// recogniseAll returns the format of files that have the same.
func recogniseAll(paths []string) (format string, err error) {
	for _, path := range paths {
		of, err := Recognise(path)
		if err != nil {
			return "", err
		}
		if format != "" && of != format {
			return "", fmt.Errorf("%s is %s, but %s is %s: want files of one format, or --from FORMAT", paths[0], format, path, of)
		}
		format = of
	}
	return format, nil
}

// recogniseText is the format of a file that is not JSON, "" if it may be JSON.
func recogniseText(path string) (string, error) {
	first, err := firstLine(path)
	if err != nil {
		return "", err
	}
	name := strings.TrimSuffix(strings.TrimSuffix(path, ".gz"), ".zst")
	switch {
	case len(first) > 0 && (first[0] == '{' || first[0] == '['):
		return "", nil
	case bytes.HasPrefix(first, []byte("# aider chat started at ")):
		return "aider", nil
	case slices.Contains([]string{".md", ".markdown"}, filepath.Ext(name)):
		return "markdown", nil
	case filepath.Ext(name) == ".txt":
		return "text", nil
	}
	return "", fmt.Errorf("%s: the format is not recognised: it is neither JSON nor .txt nor .md: want --from FORMAT, for plain text --from text", path)
}

// firstLine is the first line that is not blank.
func firstLine(path string) ([]byte, error) {
	file, err := textfile.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	for lines := textfile.NewLines(file); ; {
		line, err := lines.Next()
		if err == io.EOF {
			return nil, nil
		}
		if errors.Is(err, textfile.ErrLongLine) { // no line of a text is so long
			return []byte("{"), nil
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		if line = bytes.TrimSpace(line); len(line) > 0 {
			return line, nil
		}
	}
}

// best is the format that fits best so far, and the nearest of those that do not fit.
type best struct {
	format, nearest string
	conditions      int // that the format meets
	missing         []string
	share           float64 // of the conditions of the nearest that are met
}

// elementsSeen is how many elements of a file are looked at: logs begin with entries that other
// formats may have too.
const elementsSeen = 50

func (b *best) file(path, within string) {
	lines, _ := chatlog.Lines(path) // an error is one of the import, which comes next
	n := 0
	for it, err := range (jsonpos.File{Path: path, Within: within, Lines: lines && within == ""}).Items() {
		if n++; err != nil || n > elementsSeen {
			return
		}
		if v, wrong := jsonpos.Parse(it.Raw, ""); wrong == nil && !it.Torn {
			b.element(v)
		}
	}
}

func (b *best) element(v jsonpos.Value) {
	all := shapes()
	for _, format := range slices.Sorted(maps.Keys(all)) {
		for _, shape := range all[format] {
			missing, n := shape.Missing(v)
			met := n - len(missing)
			if len(missing) == 0 && n > b.conditions {
				b.format, b.conditions = format, n
			}
			if share := float64(met) / float64(n); share > b.share {
				b.nearest, b.missing, b.share = format, missing, share
			}
		}
	}
}
