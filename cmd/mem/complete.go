package main

import (
	"context"
	"slices"

	"github.com/spf13/cobra"

	"github.com/poimen-memory/mem/harness"
	"github.com/poimen-memory/mem/prompt/token"
)

// completes has a shell complete a command's spec files.
func completes(cmd *cobra.Command) *cobra.Command {
	cmd.ValidArgsFunction = func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return []string{"yaml", "yml"}, cobra.ShellCompDirectiveFilterFileExt
	}
	return cmd
}

// completeFlag has a shell complete a flag by what the specs of the command line hold.
func completeFlag(cmd *cobra.Command, flag string, specs func(args []string) []string, list func(harness.Experiment) []string) {
	cmd.RegisterFlagCompletionFunc(flag, func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		return wordsOf(specs(args), list), cobra.ShellCompDirectiveNoFileComp
	})
}

// wordsOf lists what specs hold, sorted. In one that cannot be read there is nothing: a
// completion never complains.
func wordsOf(specs []string, list func(harness.Experiment) []string) (words []string) {
	all, err := prepare(context.Background(), harness.Config{}, specs)
	if err != nil {
		return nil
	}
	for _, e := range all {
		words = append(words, list(e)...)
	}
	slices.Sort(words)
	return slices.Compact(words)
}

// completeWords has a shell complete a flag by fixed words.
func completeWords(cmd *cobra.Command, flag string, words ...string) {
	cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp))
}

func completeEval(cmd *cobra.Command) {
	args := func(args []string) []string { return args }
	completeFlag(cmd, "run", args, harness.RunNames)
	completeFlag(cmd, "model", args, harness.ModelIDs)
	completeWords(cmd, "level", "L1", "L2")
	cmd.MarkFlagDirname("out")
}

func (p *promptAsked) complete(cmd *cobra.Command) {
	given := func([]string) []string { return []string{p.spec} }
	cmd.RegisterFlagCompletionFunc("project", func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		if p.spec == "" {
			return []string{"jsonl"}, cobra.ShellCompDirectiveFilterFileExt
		}
		return wordsOf([]string{p.spec}, harness.SessionNames), cobra.ShellCompDirectiveNoFileComp
	})
	completeFlag(cmd, "query", given, harness.QueryIDs)
	completeFlag(cmd, "run", given, harness.RunNames)
	completeWords(cmd, "tokenizer", token.Names()...)
	cmd.MarkFlagFilename("spec", "yaml", "yml")
	cmd.MarkFlagDirname("out")
}
