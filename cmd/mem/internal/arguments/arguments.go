// Package arguments says of every command how it is called where the number of its arguments
// is wrong. Cobra's own sentence names neither the command nor the arguments.
package arguments

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/poimen-memory/mem/harness/diag"
)

// Explain has cmd and its subcommands answer a wrong number of arguments with their usage.
func Explain(cmd *cobra.Command) {
	if takes := cmd.Args; takes != nil {
		cmd.Args = func(cmd *cobra.Command, args []string) error {
			if takes(cmd, args) == nil {
				return nil
			}
			usage := strings.TrimSuffix(cmd.UseLine(), " [flags]")
			return fmt.Errorf("found %s, want %s, see %s --help", diag.Count(len(args), "argument"), usage, cmd.CommandPath())
		}
	}
	for _, sub := range cmd.Commands() {
		Explain(sub)
	}
}
