package main

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/poimen-memory/mem/harness/models"
	"github.com/poimen-memory/mem/harness/plan"
	"github.com/poimen-memory/mem/harness/preview"
	"github.com/poimen-memory/mem/harness/spec"
	"github.com/poimen-memory/mem/harness/tty"
	"github.com/poimen-memory/mem/internal/printable"
	"github.com/poimen-memory/mem/prompt"
)

// promptAsked is what `mem prompt` was asked for.
type promptAsked struct {
	preview.Turn
	spec string
}

func promptCommand() *cobra.Command {
	var p promptAsked
	cmd := &cobra.Command{
		Use:   "prompt --project CORPUS --query QUERY --chunk N",
		Short: "Print the exact prompt of one turn",
		Long: `prompt prints the exact bytes that a model is sent at one turn, with nothing before or
after them, and on stderr what they take in tokens. On a terminal it prints control and
invisible characters as escapes.

With --spec, CORPUS is the id of a corpus (of an import: CORPUS/SAMPLE), and QUERY the id of
a query or, if it cannot be one, the text of another question. Without it CORPUS is a JSONL
file and QUERY the question. From chunk 2 on there is a memory to show: one in a file, or
the one that the model of an earlier run saw. With --answer in place of a chunk it is the
prompt that asks for the answer from the final memory, as the spec's answer: has it.`,
		Example: `  mem prompt --project session.jsonl --query "Which port does Redis listen on?" --chunk 1
  mem prompt --spec experiments/first.yaml --project staging --query redis-port --chunk 1
  mem prompt --spec experiments/first.yaml --project staging --query redis-port --chunk 2 \
      --run staging/redis-port/L1/oracle/record
  mem prompt --spec experiments/first.yaml --project staging --query redis-port --chunk 2 \
      --memory memory.txt >prompt.txt
  mem prompt --spec experiments/answers.yaml --project ten-turns --query redis-port --answer \
      --memory memory.txt`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return p.print(cmd) },
	}
	flags := cmd.Flags()
	flags.StringVar(&p.Session, "project", "", "the session, `CORPUS`")
	flags.StringVar(&p.Query, "query", "", "the question, `QUERY`")
	flags.IntVar(&p.Number, "chunk", 0, "the turn, whose chunk is shown: `N` from 1")
	flags.BoolVar(&p.Answer, "answer", false, "the prompt that asks for the answer, in place of a turn's")
	flags.StringVar(&p.spec, "spec", "", "the spec `FILE` in which the ids stand")
	flags.StringVar(&p.Memory, "memory", "", "the memory before the turn, a `FILE` or - for stdin")
	flags.StringVar(&p.Run, "run", "", "the `RUN` whose memory is shown, by its name")
	flags.StringVar(&p.Variant, "variant", "", "the spec's variant `ID` whose prompt it is; that of --run, if not given")
	flags.StringVar(&p.Out, "out", "reports", "folder `DIR` where the spec's runs are")
	flags.StringVar(&p.Tokenizer, "tokenizer", "o200k_base", "what counts tokens: a vocabulary's `NAME`, or a tokenizer.json")
	flags.IntVar(&p.ChunkTokens, "chunk-tokens", spec.ChunkTokens, "how full chunks are packed, in tokens `N`")
	cmd.MarkFlagRequired("project")
	cmd.MarkFlagRequired("query")
	cmd.MarkFlagsOneRequired("chunk", "answer")
	cmd.MarkFlagsMutuallyExclusive("chunk", "answer")
	cmd.MarkFlagsMutuallyExclusive("memory", "run")
	cmd.MarkFlagsMutuallyExclusive("spec", "tokenizer")
	cmd.MarkFlagsMutuallyExclusive("spec", "chunk-tokens")
	p.complete(cmd)
	return cmd
}

func (p promptAsked) print(cmd *cobra.Command) error {
	var given *spec.Spec
	var err error
	if p.spec != "" {
		if given, err = loadSpec(cmd.Context(), p.spec); err != nil {
			return err
		}
	}
	s, err := p.Spec(given)
	if err != nil {
		return err
	}
	memory, err := p.MemoryBefore(given, cmd.InOrStdin())
	if err != nil {
		return err
	}
	planned, err := plan.New(cmd.Context(), plan.Config{Counter: models.Counter}, s)
	if err != nil {
		return err
	}
	shown, err := planned.Prompt(plan.PromptAt{Session: p.Session, Query: p.Query, Turn: p.Number, Memory: memory})
	if _, over := errors.AsType[*prompt.OverBudget](err); over {
		return &exit{exitFailed, fmt.Errorf("%w (%s)", err, planned.Tokenizer())}
	}
	if err != nil {
		return err
	}
	if err := p.measure(cmd, planned, shown); err != nil {
		return err
	}
	return p.write(cmd, shown.User)
}

// write writes the prompt's bytes, or on a terminal what it cannot obey.
func (p promptAsked) write(cmd *cobra.Command, text string) error {
	if shown := printable.Text(text); tty.Is(cmd.OutOrStdout()) && shown != text {
		text = shown
		fmt.Fprintln(cmd.ErrOrStderr(), "Control and invisible characters are shown as escapes; a file or a pipe gets the exact bytes.")
	}
	_, err := io.WriteString(cmd.OutOrStdout(), text)
	return err
}

// measure shows what a prompt takes.
func (p promptAsked) measure(cmd *cobra.Command, planned *plan.Plan, shown prompt.Prompt) error {
	w := cmd.ErrOrStderr()
	title, rows := p.Tokens(planned, shown)
	if err := tty.Terminal(w, colour(cmd)).Tokens(w, title, rows); err != nil {
		return err
	}
	if note := planned.Template.Note; note != "" {
		printable.Fprintf(w, "This is %s.\n", note)
	}
	if shown.System != "" {
		fmt.Fprintf(w, "The spec's system message (%d bytes) is sent as the system message, it is not among the bytes shown.\n", len(shown.System))
	}
	return nil
}
