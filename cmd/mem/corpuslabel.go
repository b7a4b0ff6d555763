package main

import (
	"context"
	"errors"
	"fmt"
	"regexp"

	"github.com/spf13/cobra"

	"github.com/poimen-memory/mem/harness/corpus"
	"github.com/poimen-memory/mem/harness/dataset"
	"github.com/poimen-memory/mem/harness/label"
	"github.com/poimen-memory/mem/harness/sessions"
	"github.com/poimen-memory/mem/harness/spec"
)

// labelling is what `mem corpus label` was asked for.
type labelling struct {
	sessions.Config
	job     label.Job
	query   corpus.Query
	pattern string
	spec    string
}

func corpusLabel() *cobra.Command {
	var l labelling
	cmd := &cobra.Command{
		Use:   "label FILE",
		Short: "Propose which records are evidence, for a person to confirm",
		Long: `label looks for the answers of queries in a corpus, as whole words in any case, or for a
pattern, and writes what it finds to the labels file as proposed, with its context. A spec
that names the file is refused until a person has moved what is right to evidence and
deleted the rest; --accept does so for all.

The queries are the one that flags give, those of --spec, and those that are in the labels
file already. One that has evidence is left as it is, unless --query names it.`,
		Example: `  mem corpus label corpora/session.jsonl --query port --text "Which port?" --answer 6380
  mem corpus label corpora/session.jsonl --query port --pattern 'listening on \d+' --accept
  mem corpus label corpora/session.jsonl --spec experiments/first.yaml`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return l.run(cmd, args[0])
		},
	}
	sessionFlags(cmd, &l.Config)
	flags := cmd.Flags()
	flags.StringVar(&l.job.ID, "query", "", "the query, by `ID`")
	flags.StringVar(&l.query.Text, "text", "", "its `TEXT`")
	flags.StringArrayVar(&l.query.Answers, "answer", nil, "an answer, `TEXT`; may be given again")
	flags.StringVar(&l.pattern, "pattern", "", "what to look for in place of the answers, `REGEXP`")
	flags.StringVar(&l.spec, "spec", "", "the spec `FILE` whose queries are asked too")
	flags.IntVar(&l.job.Most, "most", 20, "propose `N` labels of a query at most")
	flags.BoolVar(&l.job.Accept, "accept", false, "make what is proposed evidence")
	cmd.MarkFlagFilename("spec", "yaml", "yml")
	return cmd
}

func (l *labelling) run(cmd *cobra.Command, file string) (err error) {
	if l.job.Labels = l.Labels; l.Labels == "" {
		l.job.Labels = corpus.LabelsPath(file)
	}
	l.job.Corpus = corpus.Config{ID: sessions.Name(file), Path: file, Reader: dataset.Reader{Format: l.Format}}
	if l.job.Queries, err = l.queries(cmd.Context()); err != nil {
		return err
	}
	if l.pattern != "" {
		if l.job.Pattern, err = regexp.Compile(l.pattern); err != nil {
			return fmt.Errorf("--pattern: %v", err)
		}
	}
	sought, found, err := l.job.Run(cmd.Context())
	if err != nil {
		return err
	}
	return showCorpora(cmd).Labels(l.job.Labels, sought, found, l.job.Accept)
}

// queries are those of the spec and the flags.
func (l *labelling) queries(ctx context.Context) (list []corpus.Query, err error) {
	if l.spec != "" {
		s, err := loadSpec(ctx, l.spec)
		if err != nil {
			return nil, err
		}
		for _, q := range s.Queries {
			if len(q.Evidence) == 0 {
				list = append(list, corpus.Query{ID: q.ID.Value, Text: q.Text.Value, Answers: q.Answers, All: q.AllAnswers.Value})
			}
		}
	}
	if l.query.ID = l.job.ID; l.query.ID != "" {
		if err := spec.CheckName(l.query.ID); err != nil {
			return nil, fmt.Errorf("--query: %v", err)
		}
		return append(list, l.query), nil
	}
	if l.query.Text != "" || l.query.Answers != nil || l.pattern != "" {
		return nil, errors.New("--query is missing: want the id of the query that --text, --answer and --pattern are of")
	}
	return list, nil
}
