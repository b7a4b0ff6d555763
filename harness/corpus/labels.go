package corpus

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/poimen-memory/mem/harness/diag"
	"github.com/poimen-memory/mem/harness/secret"
	"github.com/poimen-memory/mem/harness/spec/yamlpos"
	"github.com/poimen-memory/mem/internal/inputfile"
)

// labelsFile is a file of queries with their labels, for one corpus:
//
//	queries:
//	  - id: redis-port
//	    text: Which port does the staging Redis listen on?
//	    answers: ["6380"]
//	    evidence: [r17, {id: r18, match: "6380", nth: 2}]
//
// Answers are wordings of the right answer; with all_answers: true its parts. With
// answerable: false the session does not hold the answer. Tags group queries in reports.
// Labels that no person has confirmed are under proposed, not under evidence.
type labelsFile struct {
	At      diag.Place `yaml:",pos"`
	Queries []labelled `yaml:"queries,required" min:"1"`
}

type labelled struct {
	At         diag.Place         `yaml:",pos"`
	ID         yamlpos.At[string] `yaml:"id,required" min:"1"`
	Text       yamlpos.At[string] `yaml:"text" min:"1"`
	Answers    []string           `yaml:"answers"`
	All        yamlpos.At[bool]   `yaml:"all_answers"`
	Answerable yamlpos.At[bool]   `yaml:"answerable"`
	Tags       yamlpos.Texts      `yaml:"tags"`
	Evidence   []labelEntry       `yaml:"evidence"`
	Proposed   []labelEntry       `yaml:"proposed"`
}

type labelEntry struct {
	At    diag.Place         `yaml:",pos"`
	ID    yamlpos.At[string] `yaml:"id" min:"1"`
	Match yamlpos.At[string] `yaml:"match" min:"1"`
	Nth   yamlpos.At[int]    `yaml:"nth" min:"1"`
	All   yamlpos.At[bool]   `yaml:"all"`
}

// DecodeYAML implements yamlpos.Unmarshaler.
func (l *labelEntry) DecodeYAML(n yamlpos.Node) {
	switch n.Kind() {
	case yamlpos.Map:
		type fields labelEntry // without this method
		if n.Decode((*fields)(l)) {
			l.judge(n)
		}
	case yamlpos.List, yamlpos.Null:
		n.Want("a record's id, {id: ID, match: TEXT} or {match: TEXT}")
	default:
		l.ID.DecodeYAML(n)
		l.At = n.Place()
	}
}

func (l *labelEntry) judge(n yamlpos.Node) {
	switch {
	case !l.ID.Present() && !l.Match.Present():
		n.Want("an id, a match, or both")
	case l.Nth.Present() && (!l.ID.Present() || !l.Match.Present()):
		n.Report(l.Nth.Errorf("found nth without id and match, whose places it counts"))
	case l.All.Present() && !l.Match.Present():
		n.Report(l.All.Errorf("found all without match, whose hits it is about"))
	case l.All.Present() && l.Nth.Present():
		n.Report(l.All.Errorf("found all and nth together, want one of them"))
	}
}

func (l labelEntry) label() Label {
	return Label{ID: l.ID.Value, Match: l.Match.Value, Nth: l.Nth.Value, All: l.All.Value, Pos: l.At.Pos}
}

// Proposal is a label that a person may confirm.
type Proposal struct {
	Label
	Context string // the text around its match, and the record's role
}

// Labelled is a query of a labels file. Proposed are labels that no person has confirmed.
type Labelled struct {
	Query
	Proposed []Proposal
	At       diag.Place
}

// ReadLabels reads a labels file. Nothing is known yet of the corpus: a text may be missing
// where a spec has it, and labels may hit nothing. The error is a diag.Errors, or that
// of inputfile.Read.
func ReadLabels(path string) ([]Labelled, error) {
	data, err := inputfile.Read(path, inputfile.MaxLabels)
	if err != nil {
		return nil, err
	}
	var file labelsFile
	if err := yamlpos.Decode(path, data, &file); err != nil {
		return nil, err
	}
	var list []Labelled
	var errs diag.Errors
	first := map[string]int{}
	for _, q := range file.Queries {
		if line, ok := first[q.ID.Value]; ok {
			errs = append(errs, q.ID.Errorf("found %q, which is also an id on line %d", q.ID.Value, line))
		}
		if q.All.Value && len(q.Answers) == 0 {
			errs = append(errs, q.All.Errorf("found all_answers without answers, which it is about"))
		}
		if q.unanswerable() && len(q.Evidence) > 0 {
			errs = append(errs, q.Answerable.Errorf("found answerable: false with evidence of the answer, want one of them"))
		}
		first[q.ID.Value] = q.ID.Pos.Line
		list = append(list, q.query())
	}
	return list, errs.Err()
}

func (q labelled) unanswerable() bool { return q.Answerable.Present() && !q.Answerable.Value }

func (q labelled) query() Labelled {
	l := Labelled{Query: Query{ID: q.ID.Value, Text: q.Text.Value, Answers: q.Answers, All: q.All.Value,
		Unanswerable: q.unanswerable(), Tags: q.Tags}, At: q.At}
	for _, e := range q.Evidence {
		l.Labels = append(l.Labels, e.label())
	}
	for _, e := range q.Proposed {
		l.Proposed = append(l.Proposed, Proposal{Label: e.label()})
	}
	return l
}

// FileLabels says which labels of a corpus's queries come from its labels file: for each
// query, the index of the first one.
type FileLabels map[string]int

// AddLabels adds the queries and labels of the labels file to Queries.
func (c *Config) AddLabels() (FileLabels, error) {
	if c.Labels == "" {
		return nil, nil
	}
	list, err := ReadLabels(c.Labels)
	if err != nil {
		return nil, err
	}
	c.Queries = slices.Clone(c.Queries)
	from, errs := FileLabels{}, diag.Errors(nil)
	for _, l := range list {
		if len(l.Proposed) > 0 {
			errs = append(errs, l.At.Errorf("found %d proposed labels of query %q: move what is right to evidence, and delete the rest", len(l.Proposed), l.ID))
		}
		i := slices.IndexFunc(c.Queries, func(q Query) bool { return q.ID == l.ID })
		if i < 0 && l.Text == "" {
			errs = append(errs, l.At.Errorf("found query %q without a text, and none of that id in the spec for this corpus", l.ID))
		}
		if i < 0 {
			i, c.Queries = len(c.Queries), append(c.Queries, Query{ID: l.ID, Text: l.Text})
		}
		q := &c.Queries[i]
		from[l.ID] = len(q.Labels)
		q.Labels = append(slices.Clone(q.Labels), l.Labels...)
		if q.Answers == nil {
			q.Answers, q.All = l.Answers, l.All
		}
		if q.Tags == nil {
			q.Tags = l.Tags
		}
		q.Unanswerable = q.Unanswerable || l.Unanswerable
	}
	return from, errs.Err()
}

// Check refuses labels of the file that are not in the corpus, or at more places than
// allowed.
func (a FileLabels) Check(asked []Asked) error {
	hits := map[diag.Pos]int{}
	labels := map[diag.Pos]Label{}
	for _, q := range asked {
		from, ok := a[q.ID]
		if !ok {
			continue
		}
		for i := from; i < len(q.Labels); i++ {
			labels[q.Labels[i].Pos] = q.Labels[i]
			hits[q.Labels[i].Pos] += q.Hits[i]
		}
	}
	var errs diag.Errors
	for pos, l := range labels {
		if problem := l.Problem(hits[pos]); problem != "" {
			errs = append(errs, &diag.Error{Pos: pos, Msg: problem})
		}
	}
	return errs.Err()
}

// Problem says what is wrong with a label that has so many hits, "" if nothing is.
func (l Label) Problem(hits int) string {
	id, _ := secret.Redact(l.ID)
	what := "record " + id
	switch {
	case l.Match != "" && l.ID != "":
		what = "the text in record " + id
	case l.Match != "":
		what = "the text"
	}
	switch {
	case hits == 0:
		return what + " is not in the corpus"
	case hits > 1 && !l.All:
		return fmt.Sprintf("%s is %d times in the corpus: want once, or name the record, or say {match: …, all: true}", what, hits)
	}
	return ""
}

// LabelsPath is where the labels of a corpus stand beside it.
func LabelsPath(path string) string {
	base := filepath.Base(path)
	for _, ext := range []string{".gz", ".zst", ".jsonl"} {
		base = strings.TrimSuffix(base, ext)
	}
	return filepath.Join(filepath.Dir(path), base+".labels.yaml")
}

// WriteLabels writes a labels file, with the context of each proposal beside it. heading
// is lines that become comments.
func WriteLabels(w io.Writer, heading string, list []Labelled) error {
	var b strings.Builder
	for line := range strings.SplitSeq(strings.TrimSuffix(heading, "\n"), "\n") {
		b.WriteString("# " + line + "\n")
	}
	b.WriteString("queries:\n")
	for _, q := range list {
		q.write(&b)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func (q Labelled) write(b *strings.Builder) {
	fmt.Fprintf(b, "  - id: %s\n", yaml(q.ID))
	if q.Text != "" {
		fmt.Fprintf(b, "    text: %s\n", yaml(q.Text))
	}
	if len(q.Answers) > 0 {
		quoted := make([]string, len(q.Answers))
		for i, a := range q.Answers {
			quoted[i] = yaml(a)
		}
		fmt.Fprintf(b, "    answers: [%s]\n", strings.Join(quoted, ", "))
	}
	if q.All && len(q.Answers) > 1 {
		b.WriteString("    all_answers: true\n")
	}
	if q.Unanswerable {
		b.WriteString("    answerable: false\n")
	}
	if len(q.Tags) > 0 {
		var pairs []string
		for _, name := range slices.Sorted(maps.Keys(q.Tags)) {
			pairs = append(pairs, yaml(name)+": "+yaml(q.Tags[name]))
		}
		fmt.Fprintf(b, "    tags: {%s}\n", strings.Join(pairs, ", "))
	}
	for i, l := range q.Labels {
		b.WriteString(cmp.Or(map[int]string{0: "    evidence:\n"}[i], "") + "      - " + l.yaml() + "\n")
	}
	for i, p := range q.Proposed {
		b.WriteString(cmp.Or(map[int]string{0: "    proposed:\n"}[i], "") + "      - " + p.yaml() + "  # " + yaml(p.Context) + "\n")
	}
}

func (l Label) yaml() string {
	if l.Match == "" {
		return yaml(l.ID)
	}
	var fields []string
	if l.ID != "" {
		fields = append(fields, "id: "+yaml(l.ID))
	}
	fields = append(fields, "match: "+yaml(l.Match))
	if l.Nth > 0 {
		fields = append(fields, "nth: "+strconv.Itoa(l.Nth))
	}
	if l.All {
		fields = append(fields, "all: true")
	}
	return "{" + strings.Join(fields, ", ") + "}"
}

// yaml quotes a text: every escape of Go's is one of YAML's too.
func yaml(s string) string { return strconv.Quote(s) }
