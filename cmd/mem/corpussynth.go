package main

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/poimen-memory/mem/harness/corpus"
	"github.com/poimen-memory/mem/harness/diag"
	"github.com/poimen-memory/mem/harness/models"
	"github.com/poimen-memory/mem/harness/spec"
	"github.com/poimen-memory/mem/harness/synth"
	"github.com/poimen-memory/mem/internal/printable"
	"github.com/poimen-memory/mem/prompt/token"
)

// synthesizing is what `mem corpus synth` was asked for.
type synthesizing struct {
	synth.Config
	lengths        []string
	out, tokenizer string
	force          bool
	stdout         io.Writer
}

func corpusSynth() *cobra.Command {
	var s synthesizing
	cmd := &cobra.Command{
		Use:   "synth --task TASK --tokens N --out FILE.jsonl [--from FORMAT DATASET]",
		Short: "Make a corpus of needles in a haystack, with its labels",
		Long: `synth writes a session with statements hidden in it, and its question with the evidence as
FILE.labels.yaml beside it. It is no longer than N tokens. Several samples or lengths become
several files, FILE-1.jsonl or FILE-8k-1.jsonl and so on. The same flags make the same bytes
everywhere. Task qa takes its questions and documents from DATASET, of that FORMAT; a jsonl
has its questions in a labels file. A spec makes the same session itself:

  corpora:
    - {id: needles, synth: {task: niah_multikey_1, tokens: 8k, samples: 20, seed: 7}}
    - {id: qa, synth: {task: qa, from: {format: squad, path: dev.json}, tokens: 8k}}`,
		Example: `  mem corpus synth --task niah_multikey_1 --tokens 8k --seed 7 --out needles.jsonl
  mem corpus synth --task session --tokens 8k,32k,128k --samples 5 --out agent.jsonl
  mem corpus synth --task vt --tokens 64k --haystack file --file essays.txt --out vt.jsonl
  mem corpus synth --task qa --from hotpotqa hotpot.json --tokens 32k --samples 20 --out qa.jsonl`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			s.from(args)
			s.stdout = cmd.OutOrStdout()
			return s.run(cmd.Context())
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&s.Task, "task", "", "what is hidden: `TASK`, one of "+strings.Join(synth.Tasks(), ", "))
	flags.StringSliceVar(&s.lengths, "tokens", nil, "length, at most: `N`, 8k or 1m; several with a comma")
	flags.IntVar(&s.Samples, "samples", 1, "`N` sessions of each length")
	flags.IntVar(&s.Needles, "needles", 0, "`N` keys; of vt: chains (default: the task's)")
	flags.IntVar(&s.Values, "values", 0, "`N` values of a key; of vt: hops; of session: over time (default: the task's)")
	flags.IntVar(&s.Queries, "queries", 0, "`N` keys that are asked for (default: the task's)")
	flags.StringVar(&s.Depth, "depth", "uniform", "`WHERE` needles stand: uniform, grid or a percentage")
	flags.Int64Var(&s.Seed, "seed", 0, "`N` that all is drawn from")
	flags.StringVar(&s.Haystack, "haystack", "", "`KIND` of haystack, one of "+strings.Join(synth.Haystacks(), ", ")+" (default: the task's)")
	flags.StringVar(&s.File, "file", "", "text `FILE` of haystack file")
	flags.StringVar(&s.From.Format, "from", "", "`FORMAT` of the data set of task qa, one of "+strings.Join(synth.FromFormats(), ", "))
	flags.StringVar(&s.From.Labels, "labels", "", "labels `FILE` of a jsonl; without it, the one beside it")
	flags.StringVar(&s.out, "out", "", "`FILE` to write")
	flags.StringVar(&s.tokenizer, "tokenizer", "o200k_base", "what counts tokens: a vocabulary's `NAME`, or a tokenizer.json")
	flags.BoolVar(&s.force, "force", false, "write over files that are there")
	for _, name := range []string{"task", "tokens", "out"} {
		cmd.MarkFlagRequired(name)
	}
	completeWords(cmd, "task", synth.Tasks()...)
	completeWords(cmd, "from", synth.FromFormats()...)
	completeWords(cmd, "haystack", synth.Haystacks()...)
	completeWords(cmd, "tokenizer", token.Names()...)
	return cmd
}

// from is the data set that is named, with what stands beside it.
func (s *synthesizing) from(args []string) {
	for _, path := range args {
		s.From.Path = path
		if s.From.Format == "jsonl" && s.From.Labels == "" {
			s.From.Labels = corpus.LabelsPath(path)
		}
	}
}

func (s *synthesizing) run(ctx context.Context) error {
	for _, text := range s.lengths {
		n, ok := spec.ParseLength(text)
		if !ok {
			return fmt.Errorf("--tokens: found %q, want a number of tokens, such as 8192, 8k or 1m", text)
		}
		s.Lengths = append(s.Lengths, int(n))
	}
	counter, err := models.FlagCounter(s.tokenizer)
	if err != nil {
		return err
	}
	samples, err := s.Plan(ctx, strings.TrimSuffix(filepath.Base(s.out), ".jsonl"), counter)
	if err != nil {
		return err
	}
	var paths []string
	for _, sample := range samples {
		path := sample.Path(s.out, len(samples))
		paths = append(paths, path, corpus.LabelsPath(path))
	}
	if err := free("--out", s.force, paths...); err != nil {
		return err
	}
	for i, sample := range samples {
		made, err := sample.WriteFile(ctx, paths[2*i])
		if err != nil {
			return err
		}
		_, err = printable.Fprintf(s.stdout, "%s: %s, %s; %s: %s\n", paths[2*i], diag.Count(made.Records, "record"),
			diag.Count(made.Tokens, "token"), paths[2*i+1], diag.Count(made.Labels, "label"))
		if err != nil {
			return err
		}
	}
	return nil
}
