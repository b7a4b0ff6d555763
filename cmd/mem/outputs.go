package main

import (
	"github.com/spf13/cobra"

	"github.com/poimen-memory/mem/harness/render"
)

func outputFlags(cmd *cobra.Command, f *render.Files) {
	flags := cmd.Flags()
	flags.StringVar(&f.JUnit, "junit", "", "write JUnit XML over all experiments to `FILE`, or - for standard output")
	flags.StringVar(&f.JSON, "json", "", "write everything as JSON to `FILE`, or -")
	flags.StringVar(&f.Markdown, "markdown", "", "write a report fit for a pull request's comment to `FILE`, or -")
}
