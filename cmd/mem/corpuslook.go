package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/poimen-memory/mem/harness/corpus"
	"github.com/poimen-memory/mem/harness/render"
	"github.com/poimen-memory/mem/prompt"
	"github.com/poimen-memory/mem/prompt/token"
)

func corpusStats() *cobra.Command {
	var l looked
	var also []string
	cmd := &cobra.Command{
		Use:   "stats FILE|SPEC…",
		Short: "Show what sessions consist of, and where their evidence stands",
		Long: `stats shows the sessions of files, or all of a spec: records by role, how full chunks are, and
how deep in the sessions the evidence of their queries stands.`,
		Example: `  mem corpus stats corpora/session.jsonl --tokens cl100k_base
  mem corpus stats experiments/hotpotqa.yaml
  mem corpus stats --from locomo locomo10.json`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			sessions, err := l.load(cmd.Context(), args)
			if err != nil {
				return err
			}
			s := stats{cmd.OutOrStdout(), terminal(cmd.OutOrStdout(), false), sessions}
			return s.print(also)
		},
	}
	l.flags(cmd)
	l.packing(cmd)
	cmd.Flags().StringSliceVar(&also, "tokens", nil, "count all chunks with these vocabularies too, `NAME,…`")
	completeWords(cmd, "tokens", token.Names()...)
	return cmd
}

func (l *looked) load(ctx context.Context, args []string) ([]*corpus.Session, error) {
	corpora, err := l.corpora(args)
	if err != nil {
		return nil, err
	}
	var all []*corpus.Session
	for _, cfg := range corpora {
		sessions, err := corpus.Load(ctx, cfg)
		if err != nil {
			return nil, err
		}
		all = append(all, sessions...)
	}
	return all, nil
}

// stats shows sessions.
type stats struct {
	w        io.Writer
	show     render.Terminal
	sessions []*corpus.Session
}

func (s stats) print(vocabularies []string) error {
	tokens, err := s.tokens(vocabularies)
	if err != nil {
		return err
	}
	var warnings []string
	for _, session := range s.sessions {
		warnings = append(warnings, session.Warnings()...)
	}
	return errors.Join(
		s.show.Listing(s.w, "Sessions", s.list()...),
		s.show.Listing(s.w, "Records", counted("role", "records", s.roles())...),
		s.show.Listing(s.w, "Chunks by size", histogram(s.sizes())...),
		s.show.Listing(s.w, "Chunks with evidence", s.depths()...),
		s.show.Listing(s.w, "All chunks in other vocabularies", tokens...),
		warn(s.w, warnings),
	)
}

// list is a row for each session; sizes are in tokens of rendered chunks, percentiles are
// nearest-rank.
func (s stats) list() []render.Column {
	columns := []render.Column{{Head: "session"}}
	for _, head := range []string{"records", "chunks", "tokens", "p50", "p95", "p99", "max", "queries", "labelled"} {
		columns = append(columns, render.Column{Head: head, Right: true})
	}
	for _, session := range s.sessions {
		sizes := slices.Sorted(slices.Values(session.ChunkTokens()))
		labelled := 0
		for _, q := range session.Queries() {
			labelled += min(len(q.Evidence), 1)
		}
		row := []int{session.Records(), session.Len(), sum(sizes), rank(sizes, 50), rank(sizes, 95), rank(sizes, 99), rank(sizes, 100),
			len(session.Queries()), labelled}
		columns[0].Cells = append(columns[0].Cells, session.Name())
		for i, n := range row {
			columns[i+1].Cells = append(columns[i+1].Cells, strconv.Itoa(n))
		}
	}
	return columns
}

func sum(list []int) (n int) {
	for _, x := range list {
		n += x
	}
	return n
}

// rank is the percentile of a sorted list by nearest rank; 0 of nothing.
func rank(sorted []int, percent int) int {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[max((len(sorted)*percent+99)/100, 1)-1]
}

func (s stats) roles() map[string]int {
	roles := map[string]int{}
	for _, session := range s.sessions {
		for role, n := range session.Roles() {
			roles[role] += n
		}
	}
	return roles
}

func (s stats) sizes() (sizes []int) {
	for _, session := range s.sessions {
		sizes = append(sizes, session.ChunkTokens()...)
	}
	return sizes
}

const (
	bins     = 10
	barWidth = 30
)

// histogram is how many chunks there are of each size, in bins of equal width.
func histogram(sizes []int) []render.Column {
	if len(sizes) == 0 {
		return nil
	}
	width := slices.Max(sizes)/bins + 1
	counts := make([]int, bins)
	for _, size := range sizes {
		counts[size/width]++
	}
	labels := make([]string, bins)
	for i := range labels {
		labels[i] = fmt.Sprintf("%d–%d", i*width, (i+1)*width-1)
	}
	return bars("tokens", "chunks", labels, counts)
}

// depths is how many pairs of a query and a chunk with its evidence there are, by where
// in its session the chunk stands.
func (s stats) depths() []render.Column {
	counts := make([]int, bins)
	for _, session := range s.sessions {
		for _, q := range session.Queries() {
			for _, e := range q.Evidence {
				counts[(e.Chunk-1)*bins/session.Len()]++
			}
		}
	}
	if sum(counts) == 0 {
		return nil
	}
	labels := make([]string, bins)
	for i := range labels {
		labels[i] = fmt.Sprintf("%d–%d %%", i*100/bins, (i+1)*100/bins)
	}
	return bars("depth", "chunks", labels, counts)
}

func bars(what, times string, labels []string, counts []int) []render.Column {
	c := []render.Column{{Head: what, Cells: labels, Right: true}, {Head: times, Right: true}, {}}
	most := max(slices.Max(counts), 1)
	for _, n := range counts {
		c[1].Cells = append(c[1].Cells, strconv.Itoa(n))
		c[2].Cells = append(c[2].Cells, strings.Repeat("█", (n*barWidth+most-1)/most))
	}
	return c
}

// tokens is the sum of all chunks in each vocabulary.
func (s stats) tokens(vocabularies []string) ([]render.Column, error) {
	c := []render.Column{{Head: "vocabulary"}, {Head: "tokens", Right: true}}
	for _, name := range vocabularies {
		t, err := tokenizerFlag(name)
		if err != nil {
			return nil, err
		}
		count, err := counter(t)
		if err != nil {
			return nil, err
		}
		n := 0
		for _, session := range s.sessions {
			for chunk, err := range session.Chunks() {
				if err != nil {
					return nil, err
				}
				n += count.Count(chunk.Sent)
			}
		}
		c[0].Cells, c[1].Cells = append(c[0].Cells, name), append(c[1].Cells, strconv.Itoa(n))
	}
	return c, nil
}

func corpusShow() *cobra.Command {
	var l looked
	var n int
	var session string
	cmd := &cobra.Command{
		Use:   "show FILE|SPEC --chunk N",
		Short: "Show a chunk as it is rendered, and the evidence in it",
		Long: `show prints one chunk as a model sees it, with the evidence that labels find in it. What a
terminal would obey is written out; for the exact bytes see mem prompt.`,
		Example: `  mem corpus show corpora/session.jsonl --chunk 3
  mem corpus show experiments/hotpotqa.yaml --session hotpotqa/07 --chunk 1`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			sessions, err := l.load(cmd.Context(), args)
			if err != nil {
				return err
			}
			s, err := pickSession(sessions, session)
			if err != nil {
				return err
			}
			return showChunk(cmd.OutOrStdout(), s, n)
		},
	}
	l.flags(cmd)
	l.packing(cmd)
	cmd.Flags().IntVar(&n, "chunk", 0, "which: `N` from 1")
	cmd.Flags().StringVar(&session, "session", "", "of which session, by `NAME`, where there are several")
	cmd.MarkFlagRequired("chunk")
	return cmd
}

func pickSession(sessions []*corpus.Session, name string) (*corpus.Session, error) {
	var names []string
	for _, s := range sessions {
		if s.Name() == name || name == "" && len(sessions) == 1 {
			return s, nil
		}
		names = append(names, s.Name())
	}
	return nil, fmt.Errorf("--session: found %q, want one of %s", name, examples(names))
}

func showChunk(w io.Writer, s *corpus.Session, n int) error {
	if n < 1 || n > s.Len() {
		return fmt.Errorf("--chunk: found %d, want 1 to %d", n, s.Len())
	}
	chunk, err := nth(s, n)
	if err != nil {
		return err
	}
	show := terminal(w, false)
	head := fmt.Sprintf("%s, chunk %d of %d: %s, %s", s.Name(), n, s.Len(),
		count(chunk.Records, "record", "records"), count(chunk.Tokens, "token", "tokens"))
	err = show.Text(w, head, chunk.Sent)
	for _, q := range s.Queries() {
		for _, e := range q.Evidence {
			if e.Chunk == n {
				err = errors.Join(err, show.Text(w, fmt.Sprintf("evidence of query %s", q.ID), e.Excerpt))
			}
		}
	}
	return err
}

func nth(s *corpus.Session, n int) (prompt.Chunk, error) {
	i := 0
	for chunk, err := range s.Chunks() {
		if i++; err != nil || i == n {
			return chunk, err
		}
	}
	return prompt.Chunk{}, fmt.Errorf("session %s ends before chunk %d", s.Name(), n)
}
