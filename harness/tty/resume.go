package tty

import (
	"slices"
	"strings"

	"github.com/poimen-memory/mem/harness/render"
)

// ResumeCommand is the command that goes on where the evaluation of these arguments was
// interrupted. Scripted runs cost nothing: they are executed anew.
func ResumeCommand(args []string) string {
	words := []string{"mem"}
	for _, arg := range args {
		if name, _, _ := strings.Cut(arg, "="); !slices.Contains([]string{"--fresh", "--yes", "--resume", "--extend"}, name) {
			words = append(words, render.ShellWord(arg))
		}
	}
	if slices.Contains(args, "--live") {
		words = append(words, "--resume")
	}
	return strings.Join(words, " ")
}
