package main

import (
	"github.com/spf13/cobra"

	"github.com/poimen-memory/mem/harness/spec"
)

func schemaCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "schema",
		Short: "Print the JSON Schema of specs, for editors",
		Long: `schema prints a JSON Schema (draft 2020-12) of specs. An editor with the YAML language
server completes, explains and checks a spec whose first line names it:

  # yaml-language-server: $schema=schema.json`,
		Example: `  mem schema >experiments/schema.json`,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := cmd.OutOrStdout().Write(spec.Schema())
			return err
		},
	}
}
