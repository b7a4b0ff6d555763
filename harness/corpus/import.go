package corpus

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/poimen-memory/mem/harness/spec/yamlpos"
	"github.com/poimen-memory/mem/prompt"
)

// ImportConfig says what to import.
type ImportConfig struct {
	Format  string // one of Formats
	Paths   []string
	Samples []string       // by name; none: all
	Counter prompt.Counter // counts Imported.Tokens
}

// Imported is what an import came to.
type Imported struct {
	Records    int
	Roles      map[string]int
	Tokens     int            // of all records, each rendered alone
	Samples    []string       // that the files hold, those left out too; none in a format without
	Queries    []Query        // that came with the data, with labels that name the records written
	Unlabelled int            // queries without evidence
	Labels     int            // of all queries
	Skipped    map[string]int // what became no record, and how often
	Warnings   []string       // what the data's own labels point to and is not there
}

// Import reads files of a format one after another and writes all records as one JSONL
// corpus, as they come: only ids and labels stay in memory. Ids are SAMPLE/ID when there
// are several samples, FILE/ID when there are several files. The error is a
// yamlpos.Errors, of up to 20 complaints a file, when content is refused.
func Import(ctx context.Context, cfg ImportConfig, out io.Writer) (*Imported, error) {
	if formats()[cfg.Format] == nil {
		return nil, fmt.Errorf("format: %s", yamlpos.OneOf(cfg.Format, Formats()))
	}
	im := newImporting(cfg, out)
	parts, err := im.parts(ctx)
	if err != nil {
		return nil, err
	}
	return im.all(ctx, join(parts))
}

// all writes a session.
func (im *importing) all(ctx context.Context, whole part) (*Imported, error) {
	im.evidence = newEvidence(nil, whole.own)
	im.labels = make([][]Label, len(whole.own))
	im.Warnings = whole.warnings
	if err := im.write(ctx, whole.read); err != nil {
		return nil, err
	}
	if im.Records == 0 {
		return nil, noRecords(strings.Join(im.Paths, ", "), "", im.Skipped)
	}
	return im.finish(), nil
}

// importing is an import on its way.
type importing struct {
	ImportConfig
	*Imported
	out      *json.Encoder
	ids      ids
	evidence evidence
	labels   [][]Label // by query
}

func newImporting(cfg ImportConfig, out io.Writer) *importing {
	im := &importing{ImportConfig: cfg, out: json.NewEncoder(out), ids: ids{}, Imported: &Imported{Roles: map[string]int{}, Skipped: map[string]int{}}}
	im.out.SetEscapeHTML(false)
	return im
}

// parts are the sessions that are wanted, under the names that their ids get.
func (im *importing) parts(ctx context.Context) ([]part, error) {
	var parts []part
	queries := map[string]string{}
	for _, path := range im.Paths {
		of, err := formats()[im.Format](ctx, &loader{Config: Config{ID: filepath.Base(path), Path: path}})
		if err != nil {
			return nil, err
		}
		for _, p := range of {
			if p.name != "" {
				im.Imported.Samples = append(im.Imported.Samples, p.name)
			}
			if len(im.ImportConfig.Samples) > 0 && !slices.Contains(im.ImportConfig.Samples, p.name) {
				continue
			}
			if err := claimQueries(queries, path, p.own); err != nil {
				return nil, err
			}
			if len(im.Paths) > 1 {
				p.name = strings.TrimSuffix(fileName(path)+"/"+p.name, "/")
			}
			parts = append(parts, p)
		}
	}
	if err := im.judgeSamples(); err != nil {
		return nil, err
	}
	if len(parts) == 1 && len(im.Paths) == 1 {
		parts[0].name = ""
	}
	return parts, nil
}

func claimQueries(seen map[string]string, path string, own []imported) error {
	for _, q := range own {
		if other, ok := seen[q.ID]; ok && other != path {
			return fmt.Errorf("query %q is in both %s and %s: import them one at a time", q.ID, other, path)
		}
		seen[q.ID] = path
	}
	return nil
}

// fileName is a file's name without its extensions.
func fileName(path string) string {
	name, _, _ := strings.Cut(strings.TrimLeft(filepath.Base(path), "."), ".")
	return name
}

// judgeSamples refuses a name that no sample has.
func (im *importing) judgeSamples() error {
	for _, want := range im.ImportConfig.Samples {
		if !slices.Contains(im.Imported.Samples, want) {
			return fmt.Errorf("sample: %s", yamlpos.OneOf(want, im.Imported.Samples))
		}
	}
	return nil
}

func (im *importing) write(ctx context.Context, read source) error {
	var bad faults
	for r, err := range read() {
		if err == nil {
			err = im.add(r)
		}
		if err != nil && bad.add(err) != nil {
			return err
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return bad.err()
}

func (im *importing) add(r *record) error {
	if r.skipped != "" {
		im.Skipped[r.skipped]++
		return nil
	}
	if err := im.ids.claim(r); err != nil {
		return err
	}
	im.evidence.find(r)
	for _, s := range r.spans {
		im.labels[s.query] = append(im.labels[s.query], r.label(s))
	}
	im.Records++
	im.Roles[r.Role]++
	im.Tokens += im.Counter.Count(prompt.Render(r.Record))
	return im.out.Encode(line{r.Role, r.Text, r.id})
}

// line is a record as a JSONL corpus has it.
type line struct {
	Role string `json:"role"`
	Text string `json:"text"`
	ID   string `json:"id,omitempty"`
}

// label is a span as a label of its own: the record, or a text in it.
func (r *record) label(s span) Label {
	l := Label{ID: r.id}
	if s.from == 0 && s.to == len(r.Text) {
		return l
	}
	l.Match = r.Text[s.from:s.to]
	n := 0
	for from := range places(r.Text, l.Match) {
		if n++; from == s.from {
			l.Nth = n
		}
	}
	if n == 1 {
		l.Nth = 0
	}
	return l
}

func (im *importing) finish() *Imported {
	for i, q := range im.evidence.list {
		q.Query.Labels = im.labels[i]
		if im.Labels += len(im.labels[i]); len(im.labels[i]) == 0 {
			im.Unlabelled++
		}
		im.Queries = append(im.Queries, q.Query)
	}
	return im.Imported
}
