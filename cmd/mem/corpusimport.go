package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/poimen-memory/mem/harness/corpus"
	"github.com/poimen-memory/mem/harness/render"
)

// importing is what `mem corpus import` was asked for.
type importing struct {
	corpus.ImportConfig
	out, tokenizer string
	force          bool
	labels         string // path
	show           render.Terminal
	stdout         io.Writer
}

func corpusImport() *cobra.Command {
	var im importing
	cmd := &cobra.Command{
		Use:   "import --from FORMAT IN… --out FILE.jsonl",
		Short: "Write data of another format as a corpus with its labels",
		Long: `import writes the records of IN… in their order as one JSONL corpus, and the questions of a
data set with their evidence as FILE.labels.yaml beside it. It says what it took and what it
passed over, and why. All samples of a data set make one session, whose ids are SAMPLE/ID,
unless --sample picks one; a spec that imports (import: {format: …, path: …}) makes a
session of each.`,
		Example: `  mem corpus import --from claude-code session.jsonl --out corpora/session.jsonl
  mem corpus import --from locomo locomo10.json --sample conv-26 --out corpora/conv-26.jsonl
  mem corpus import --from markdown docs/*.md --out corpora/docs.jsonl`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			im.Paths, im.stdout = args, cmd.OutOrStdout()
			im.show = terminal(im.stdout, false)
			return im.run(cmd.Context())
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&im.Format, "from", "", "`FORMAT` of the files, one of "+strings.Join(corpus.Formats(), ", "))
	flags.StringVar(&im.out, "out", "", "`FILE` to write")
	flags.StringArrayVar(&im.Samples, "sample", nil, "take this sample alone, by `NAME`; may be given again")
	flags.StringVar(&im.tokenizer, "tokenizer", "o200k_base", "what counts tokens: a vocabulary's `NAME`, or a tokenizer.json")
	flags.BoolVar(&im.force, "force", false, "write over files that are there")
	cmd.MarkFlagRequired("from")
	cmd.MarkFlagRequired("out")
	completeWords(cmd, "from", corpus.Formats()...)
	return cmd
}

func (im *importing) run(ctx context.Context) error {
	im.labels = corpus.LabelsPath(im.out)
	t, err := tokenizerFlag(im.tokenizer)
	if err != nil {
		return err
	}
	if im.Counter, err = counter(t); err != nil {
		return err
	}
	if err := im.free(); err != nil {
		return err
	}
	var done *corpus.Imported
	err = writeFile(im.out, func(w io.Writer) error {
		b := bufio.NewWriterSize(w, 1<<20)
		done, err = corpus.Import(ctx, im.ImportConfig, b)
		return errors.Join(err, b.Flush())
	})
	if err != nil {
		return unjoined(err)
	}
	if err := im.writeLabels(done); err != nil {
		return err
	}
	return im.summary(done)
}

// unjoined is the one error within what joined several: its kind decides what is said.
func unjoined(err error) error {
	if all, ok := err.(interface{ Unwrap() []error }); ok && len(all.Unwrap()) == 1 {
		return unjoined(all.Unwrap()[0])
	}
	return err
}

// free refuses to write over files: labels may hold a person's work.
func (im *importing) free() error {
	return errors.Join(free("--out", im.out, im.force), free("--out", im.labels, im.force))
}

// free refuses to write over a file that a flag names, unless forced.
func free(flag, path string, force bool) error {
	if _, absent := os.Lstat(path); absent == nil && !force {
		return fmt.Errorf("%s is there already: want another %s, or --force to write over it", path, flag)
	}
	return nil
}

func (im *importing) writeLabels(done *corpus.Imported) error {
	if done.Queries == nil {
		return nil
	}
	var list []corpus.Labelled
	for _, q := range done.Queries {
		list = append(list, corpus.Labelled{Query: q})
	}
	heading := fmt.Sprintf("Queries of %s, imported from %s.", filepath.Base(im.out), im.Format)
	return writeFile(im.labels, func(w io.Writer) error { return corpus.WriteLabels(w, heading, list) })
}

// warningsShown is how many of the data's own mistakes are listed.
const warningsShown = 20

func (im *importing) summary(done *corpus.Imported) error {
	written := []string{fmt.Sprintf("%s: %s, %s (%s)", im.out, count(done.Records, "record", "records"), count(done.Tokens, "token", "tokens"), im.tokenizer)}
	use := "path: " + filepath.ToSlash(im.out)
	if done.Queries != nil {
		written = append(written, fmt.Sprintf("%s: %s, %s, %d without evidence", im.labels,
			count(len(done.Queries), "query", "queries"), count(done.Labels, "label", "labels"), done.Unlabelled))
		use += ", labels: " + filepath.ToSlash(im.labels)
	}
	use = fmt.Sprintf("  - {id: %s, %s}", fileName(im.out), use)
	return errors.Join(
		im.show.Lines(im.stdout, "wrote ", written, 0),
		im.show.Lines(im.stdout, "", []string{""}, 0),
		im.show.Listing(im.stdout, "", counted("role", "records", done.Roles)...),
		im.show.Listing(im.stdout, "Passed over", counted("what", "times", done.Skipped)...),
		warn(im.stdout, done.Warnings),
		im.show.Lines(im.stdout, "", []string{"In the corpora of a spec, whose paths start at its folder:", use}, 0),
	)
}

// warn lists the first of the data's own mistakes.
func warn(w io.Writer, warnings []string) error {
	if len(warnings) == 0 {
		return nil
	}
	show := terminal(w, false)
	return errors.Join(show.Lines(w, "! ", warnings, warningsShown), show.Lines(w, "", []string{""}, 0))
}

// counted is a listing of how often things are.
func counted(what, times string, counts map[string]int) []render.Column {
	names, numbers := render.Column{Head: what}, render.Column{Head: times, Right: true}
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		names.Cells = append(names.Cells, name)
		numbers.Cells = append(numbers.Cells, strconv.Itoa(counts[name]))
	}
	return []render.Column{names, numbers}
}
