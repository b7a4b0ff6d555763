package main

import (
	"fmt"
	"regexp"

	"github.com/spf13/cobra"

	"github.com/poimen-memory/mem/harness"
	"github.com/poimen-memory/mem/harness/diag"
	"github.com/poimen-memory/mem/harness/spec"
)

// pickFlags are those that select runs. They are parsed before the command runs.
func pickFlags(cmd *cobra.Command, p *harness.Pick) {
	var run, level string
	flags := cmd.Flags()
	flags.StringVar(&run, "run", "", "only runs whose name matches the `REGEX`")
	flags.StringArrayVar(&p.Models, "model", nil, "only runs of the model with this `ID` (may be repeated)")
	flags.StringVar(&level, "level", "", "only runs at `L1|L2`")
	cmd.PreRunE = func(*cobra.Command, []string) (err error) {
		if p.Level, err = parseLevel(level); err != nil || run == "" {
			return err
		}
		if p.Run, err = regexp.Compile(run); err != nil {
			return fmt.Errorf("--run: %v", err)
		}
		return nil
	}
}

// parseLevel is 0 for "": any.
func parseLevel(level string) (spec.Level, error) {
	levels := map[string]spec.Level{"": 0, "L1": 1, "L2": 2}
	l, ok := levels[level]
	if !ok {
		return 0, fmt.Errorf("--level: %s", diag.OneOf(level, []string{"L1", "L2"}))
	}
	return l, nil
}
