package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"

	"github.com/spf13/cobra"

	"github.com/poimen-memory/mem/harness/corpus"
	"github.com/poimen-memory/mem/harness/render"
	"github.com/poimen-memory/mem/harness/spec"
	"github.com/poimen-memory/mem/harness/spec/yamlpos"
)

// labelling is what `mem corpus label` was asked for.
type labelling struct {
	looked
	query   corpus.Query
	pattern string
	spec    string
	most    int
	accept  bool
}

func corpusLabel() *cobra.Command {
	var l labelling
	cmd := &cobra.Command{
		Use:   "label FILE",
		Short: "Propose which records are evidence, for a person to confirm",
		Long: `label looks for the answers of queries in a corpus, as whole words in any case, or for a
pattern, and writes what it finds to the labels file as proposed, with its context. A spec
that names the file is refused until somebody has moved what is right to evidence and
deleted the rest; --accept does so for all.

The queries are the one that flags give, those of --spec, and those that are in the labels
file already. One that has evidence is left as it is, unless --query names it.`,
		Example: `  mem corpus label corpora/session.jsonl --query port --text "Which port?" --answer 6380
  mem corpus label corpora/session.jsonl --query port --pattern 'listening on \d+' --accept
  mem corpus label corpora/session.jsonl --spec experiments/first.yaml`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return l.run(cmd.Context(), cmd.OutOrStdout(), args[0])
		},
	}
	l.flags(cmd)
	flags := cmd.Flags()
	flags.StringVar(&l.query.ID, "query", "", "the query, by `ID`")
	flags.StringVar(&l.query.Text, "text", "", "its `TEXT`")
	flags.StringArrayVar(&l.query.Answers, "answer", nil, "an answer, `TEXT`; may be given again")
	flags.StringVar(&l.pattern, "pattern", "", "what to look for in place of the answers, `REGEXP`")
	flags.StringVar(&l.spec, "spec", "", "the spec `FILE` whose queries are asked too")
	flags.IntVar(&l.most, "most", 20, "propose `N` labels of a query at most")
	flags.BoolVar(&l.accept, "accept", false, "make what is proposed evidence")
	cmd.MarkFlagFilename("spec", "yaml", "yml")
	return cmd
}

func (l *labelling) run(ctx context.Context, w io.Writer, file string) error {
	if l.labels == "" {
		l.labels = corpus.LabelsPath(file)
	}
	list, err := l.queries()
	if err != nil {
		return err
	}
	sought, which, err := l.sought(list)
	if err != nil {
		return err
	}
	found, err := corpus.Propose(ctx, corpus.Config{ID: fileName(file), Path: file, Format: l.from}, sought, l.most)
	if err != nil {
		return err
	}
	for i, f := range found {
		q := &list[which[i]]
		if q.Proposed = f.List; l.accept && f.All > 0 {
			q.Proposed, q.Labels = nil, nil
			for _, p := range f.List {
				q.Labels = append(q.Labels, p.Label)
			}
		}
	}
	heading := fmt.Sprintf("Labels of %s.", filepath.Base(file))
	if !l.accept {
		heading += " Move what is right from proposed to evidence, and delete the rest."
	}
	if err := writeFile(l.labels, func(w io.Writer) error { return corpus.WriteLabels(w, heading, list) }); err != nil {
		return err
	}
	return l.show(w, sought, found)
}

// queries are all that are known: of the labels file, the spec and the flags.
func (l *labelling) queries() ([]corpus.Labelled, error) {
	list, err := corpus.ReadLabels(l.labels)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if l.spec != "" {
		s, err := spec.Load(l.spec)
		if err != nil {
			return nil, err
		}
		for _, q := range s.Queries {
			if len(q.Evidence) == 0 {
				list = upsert(list, corpus.Query{ID: q.ID.Value, Text: q.Text.Value, Answers: q.Answers, All: q.AllAnswers.Value})
			}
		}
	}
	if l.query.ID != "" {
		if err := spec.CheckName(l.query.ID); err != nil {
			return nil, fmt.Errorf("--query: %v", err)
		}
		list = upsert(list, l.query)
	} else if l.query.Text != "" || l.query.Answers != nil || l.pattern != "" {
		return nil, errors.New("--query is missing: want the id of the query that --text, --answer and --pattern are of")
	}
	return list, nil
}

// upsert adds a query, or what is said of it anew.
func upsert(list []corpus.Labelled, q corpus.Query) []corpus.Labelled {
	i := slices.IndexFunc(list, func(l corpus.Labelled) bool { return l.ID == q.ID })
	if i < 0 {
		return append(list, corpus.Labelled{Query: q})
	}
	if q.Text != "" {
		list[i].Text = q.Text
	}
	if q.Answers != nil {
		list[i].Answers, list[i].All = q.Answers, q.All
	}
	return list
}

// sought are the queries to look for, and which of the list they are.
func (l *labelling) sought(list []corpus.Labelled) (sought []corpus.Sought, which []int, err error) {
	var pattern *regexp.Regexp
	if l.pattern != "" {
		if pattern, err = regexp.Compile(l.pattern); err != nil {
			return nil, nil, fmt.Errorf("--pattern: %v", err)
		}
	}
	for i, q := range list {
		s := corpus.Sought{Query: q.Query}
		if q.ID == l.query.ID {
			s.Pattern = pattern
		} else if len(q.Labels) > 0 {
			continue
		}
		if s.Pattern == nil && len(s.Answers) == 0 {
			if q.ID == l.query.ID {
				return nil, nil, fmt.Errorf("query %q: want --answer or --pattern, to know what to look for", q.ID)
			}
			continue
		}
		sought, which = append(sought, s), append(which, i)
	}
	if sought == nil {
		return nil, nil, yamlpos.Errors{{Pos: yamlpos.Pos{File: l.labels}, Msg: "no query to look for: want --query with --answer or --pattern, or --spec with queries that have answers"}}
	}
	return sought, which, nil
}

func (l *labelling) show(w io.Writer, sought []corpus.Sought, found []corpus.Proposed) error {
	query, record, match := render.Column{Head: "query"}, render.Column{Head: "record"}, render.Column{Head: "match", Prose: true}
	var short []string
	n := 0
	for i, f := range found {
		id := sought[i].ID
		for _, p := range f.List {
			query.Cells, record.Cells, match.Cells = append(query.Cells, id), append(record.Cells, p.ID), append(match.Cells, p.Context)
		}
		if n += len(f.List); len(f.List) < f.All {
			short = append(short, fmt.Sprintf("query %s: the first %d of %d places, for more see --most", id, len(f.List), f.All))
		}
		if f.All == 0 {
			short = append(short, fmt.Sprintf("query %s: nothing found", id))
		}
	}
	show := terminal(w, false)
	what := "proposed: move what is right to evidence"
	if l.accept {
		what = "accepted as evidence"
	}
	return errors.Join(
		show.Listing(w, "", query, record, match),
		show.Lines(w, "! ", short, 0),
		show.Lines(w, "wrote ", []string{fmt.Sprintf("%s: %s %s", l.labels, count(n, "label", "labels"), what)}, 0),
	)
}
