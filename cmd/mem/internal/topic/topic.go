// Package topic has what mem help tells beside the commands.
package topic

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/poimen-memory/mem/harness/diag"
	"github.com/poimen-memory/mem/harness/stat/glossary"
)

// Add adds the topics to the root command, and makes its help refuse a topic that there is
// none of: cobra shows the nearest one above it.
func Add(root *cobra.Command) {
	root.AddCommand(metrics())
	root.InitDefaultHelpCmd()
	help, _, err := root.Find([]string{"help"})
	if err != nil {
		return // cobra has no help command
	}
	show := help.Run
	help.Run, help.RunE = nil, func(cmd *cobra.Command, args []string) error {
		of, rest, err := root.Find(args)
		if err == nil && len(rest) == 0 {
			show(cmd, args)
			return nil
		}
		if len(rest) == 0 {
			rest = args
		}
		var known []string
		for _, c := range of.Commands() {
			if c.IsAvailableCommand() || c.IsAdditionalHelpTopicCommand() {
				known = append(known, c.Name())
			}
		}
		if known == nil {
			return fmt.Errorf("found %s, but %s has no topics: want %s", diag.Quote(rest[0]), of.CommandPath(), "mem help "+of.Name())
		}
		return fmt.Errorf("help topic: %s", diag.OneOf(rest[0], known))
	}
}

// metrics is the glossary: a topic, and one below it for each metric.
func metrics() *cobra.Command {
	topic := &cobra.Command{Use: "metrics", Short: "What each metric means, with its formula and an example", Long: glossary.Overview()}
	topic.SetHelpTemplate("{{.Long}}")
	for _, e := range glossary.All() {
		topic.AddCommand(&cobra.Command{Use: e.Name, Short: e.Label, Long: e.Text(), Aliases: aliases(e.Name)})
	}
	return topic
}

// aliases are the metrics of an entry that has several.
func aliases(entry string) (names []string) {
	if entry == glossary.PassK {
		for k := 1; k <= 20; k++ {
			names = append(names, fmt.Sprintf("pass_%d", k))
		}
	}
	return names
}
