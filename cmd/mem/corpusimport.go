package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/poimen-memory/mem/harness/corpus"
	"github.com/poimen-memory/mem/harness/dataset"
	"github.com/poimen-memory/mem/harness/models"
	"github.com/poimen-memory/mem/harness/sessions"
)

func corpusImport() *cobra.Command {
	var im dataset.ImportConfig
	var out, tokenizer string
	var force bool
	cmd := &cobra.Command{
		Use:   "import [--from FORMAT] IN… --out FILE.jsonl",
		Short: "Write data of another format as a corpus with its labels",
		Long: `import writes the records of IN… in their order as one JSONL corpus, and the questions of a
data set with their evidence as FILE.labels.yaml beside it. Without --from it recognises the
format. It counts what is not imported by kind, with the position of the first one; --strict
makes that an error. All samples of a data set make one session, whose ids are SAMPLE/ID, unless
--sample picks one; a spec that imports (import: {format: …, path: …}) makes a session of each.`,
		Example: `  mem corpus import --from claude-code session.jsonl --out corpora/session.jsonl
  mem corpus import --from locomo locomo10.json --sample conv-26 --out corpora/conv-26.jsonl
  mem corpus import --from markdown docs/*.md --out corpora/docs.jsonl`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			im.Paths = args
			if im.Counter, err = models.FlagCounter(tokenizer); err != nil {
				return err
			}
			if err := free("--out", force, out, corpus.LabelsPath(out)); err != nil {
				return err
			}
			imported, err := dataset.ImportFile(cmd.Context(), im, out)
			if err != nil {
				return err
			}
			if im.Format == "" {
				fmt.Fprintf(cmd.OutOrStdout(), "read as %s\n", imported.Format)
			}
			return showCorpora(cmd).Imported(imported, out, sessions.Name(out), tokenizer)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&im.Format, "from", "", "`FORMAT` of the files, one of "+strings.Join(dataset.Formats(), ", ")+" (default: recognised)")
	flags.StringVar(&out, "out", "", "`FILE` to write")
	flags.StringArrayVar(&im.Samples, "sample", nil, "take this sample alone, by `NAME`; may be given again")
	flags.StringVar(&tokenizer, "tokenizer", "o200k_base", "what counts tokens: a vocabulary's `NAME`, or a tokenizer.json")
	flags.BoolVar(&im.Strict, "strict", false, "refuse files of which something is not imported")
	flags.BoolVar(&force, "force", false, "write over files that are there")
	cmd.MarkFlagRequired("out")
	completeWords(cmd, "from", dataset.Formats()...)
	return cmd
}
