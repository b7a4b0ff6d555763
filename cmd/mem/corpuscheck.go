package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/poimen-memory/mem/harness/corpus"
	"github.com/poimen-memory/mem/harness/render"
)

func corpusCheck() *cobra.Command {
	var l looked
	var redacted string
	var force bool
	cmd := &cobra.Command{
		Use:   "check FILE|SPEC…",
		Short: "Find what is wrong with sessions and labels",
		Long: `check reads the sessions of files, or all of a spec, and reports: labels that hit nothing or
too much, what looks like a key (exit code 1); and queries without evidence, records that
come twice, the prompt's own tags, text in a wrong character set, and what an import passed
over (exit code 0). A key is never shown. With --redact the file is written anew with
[redacted] in place of keys.`,
		Example: `  mem corpus check experiments/*.yaml
  mem corpus check session.jsonl --redact clean.jsonl`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			corpora, err := l.corpora(args)
			if err != nil {
				return err
			}
			if redacted != "" && (len(corpora) != 1 || isSpec(args[0])) {
				return errors.New("--redact: want one file of a session")
			}
			if err := free("--redact", redacted, force); err != nil {
				return err
			}
			c := checkup{w: cmd.OutOrStdout(), kinds: map[corpus.Kind]*kindFound{}}
			return c.run(cmd.Context(), corpora, redacted)
		},
	}
	l.flags(cmd)
	cmd.Flags().StringVar(&redacted, "redact", "", "write the corpus without keys to `FILE`")
	cmd.Flags().BoolVar(&force, "force", false, "write over a file that is there")
	return cmd
}

// findingsShown is how many of each kind are listed.
const findingsShown = 10

// checkup collects findings by kind, as far as they are shown.
type checkup struct {
	w     io.Writer
	kinds map[corpus.Kind]*kindFound
	order []corpus.Kind
}

type kindFound struct {
	n     int
	first []corpus.Finding
	shown int // of n, those that first stands for
}

func (c *checkup) found(f corpus.Finding) {
	k := c.kinds[f.Kind]
	if k == nil {
		k = &kindFound{}
		c.kinds[f.Kind] = k
		c.order = append(c.order, f.Kind)
	}
	k.n += 1 + f.More
	if len(k.first) < findingsShown {
		k.first = append(k.first, f)
		k.shown += 1 + f.More
	}
}

func (c *checkup) run(ctx context.Context, corpora []corpus.Config, redacted string) error {
	if err := corpus.Check(ctx, corpora, c.found); err != nil {
		return err
	}
	if redacted != "" {
		if err := c.redact(ctx, corpora[0], redacted); err != nil {
			return err
		}
	}
	if err := c.show(); err != nil {
		return err
	}
	for kind := range c.kinds {
		if kind.Unfit() && (kind != corpus.Secret || redacted == "") {
			return exitWith(exitFailed)
		}
	}
	return nil
}

func (c *checkup) redact(ctx context.Context, cfg corpus.Config, path string) error {
	n := 0
	err := writeFile(path, func(w io.Writer) (err error) {
		b := bufio.NewWriter(w)
		n, err = corpus.Redact(ctx, cfg, b)
		return errors.Join(err, b.Flush())
	})
	if err != nil {
		return unjoined(err)
	}
	return terminal(c.w, false).Lines(c.w, "wrote ", []string{fmt.Sprintf("%s: %s taken out", path, count(n, "key", "keys"))}, 0)
}

func (c *checkup) show() error {
	show := terminal(c.w, false)
	if len(c.order) == 0 {
		return show.Lines(c.w, "", []string{"nothing found"}, 0)
	}
	kinds, times := render.Column{Head: "found"}, render.Column{Head: "times", Right: true}
	var err error
	for _, kind := range c.order {
		k := c.kinds[kind]
		kinds.Cells, times.Cells = append(kinds.Cells, string(kind)), append(times.Cells, strconv.Itoa(k.n))
		err = errors.Join(err, show.Lines(c.w, "! ", said(kind, k), 0))
	}
	if err == nil {
		err = show.Lines(c.w, "", []string{""}, 0)
	}
	return errors.Join(err, show.Listing(c.w, "", kinds, times))
}

func said(kind corpus.Kind, k *kindFound) (lines []string) {
	for _, f := range k.first {
		lines = append(lines, strings.TrimPrefix(f.At.String()+": ", ": ")+string(kind)+": "+f.What)
	}
	if more := k.n - k.shown; more > 0 {
		lines = append(lines, fmt.Sprintf("%s: and %d more", kind, more))
	}
	return lines
}
