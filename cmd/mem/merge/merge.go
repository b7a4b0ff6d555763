// Package merge is the command mem merge.
package merge

import (
	"github.com/spf13/cobra"

	"github.com/poimen-memory/mem/harness"
	"github.com/poimen-memory/mem/harness/render"
	"github.com/poimen-memory/mem/internal/printable"
)

// Command makes the command.
func Command() *cobra.Command {
	var c harness.MergeConfig
	cmd := &cobra.Command{
		Use:   "merge OUT DIR…",
		Short: "Gather the records of shards into one folder",
		Long: `merge copies the records of all experiments below DIR…, each as mem eval --out DIR left it, to
OUT/EXPERIMENT/runs. mem judge SPEC --out OUT then judges the whole. The folders DIR are not
changed, and OUT may have some of the records already: merging again adds what has arrived.

Of one run there may be several records. If they are the same, or one goes on where another
was interrupted, the longest counts. Other records contradict each other: merge names the runs
and the folders, and writes nothing for that experiment.

Exit codes: 0 merged; 2 records contradict each other, or bad usage; 3 a file cannot be read
or written, or OUT is in use.`,
		Example: `  mem merge reports shards/*
  mem judge experiments/m1.8.yaml --out reports`,
		Args: cobra.MinimumNArgs(2),
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return nil, cobra.ShellCompDirectiveFilterDirs
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			c.Out, c.Dirs = args[0], args[1:]
			if err := harness.Merge(cmd.OutOrStdout(), c); err != nil {
				return err
			}
			_, err := printable.Fprintf(cmd.OutOrStdout(), "next: mem judge SPEC… --out %s\n", render.ShellWord(c.Out))
			return err
		},
	}
	cmd.Flags().BoolVar(&c.NoLock, "no-lock", false, "write where folders cannot be locked: nothing else may write there")
	return cmd
}
