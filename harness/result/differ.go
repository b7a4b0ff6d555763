package result

import (
	"fmt"
	"slices"
	"strings"

	"github.com/poimen-memory/mem/harness/spec"
)

// Differences are in what two results differ beside their numbers: in settings, such as the
// prompt or a budget, and in data, over which numbers cannot be compared: other chunks or
// labels in the runs that both have, or another vocabulary that counts them.
func Differences(a, b *Result) (settings, data []string) {
	differ := func(what string, x, y any) {
		if x != y {
			settings = append(settings, fmt.Sprintf("another %s: %v and %v", what, x, y))
		}
	}
	differ("template", a.Prompt.SHA, b.Prompt.SHA)
	if a.Prompt.System != b.Prompt.System {
		settings = append(settings, "another system message")
	}
	if a.Prompt.Answer != "" && b.Prompt.Answer != "" { // else there is nothing to compare
		differ("answer template", a.Prompt.Answer, b.Prompt.Answer)
	}
	differ("budget", a.Budget, b.Budget)
	if a.Tokenizer != b.Tokenizer {
		data = append(data, fmt.Sprintf("another tokenizer: %s and %s", a.Tokenizer, b.Tokenizer))
	}
	return settings, append(data, otherInputs(a.Runs, b.Runs)...)
}

// otherInputs compares what runs read. Memories that L2 reads are the model's own.
func otherInputs(a, b []Run) []string {
	type key struct {
		session, query string
		level          spec.Level
	}
	read := map[key]string{}
	for _, r := range a {
		if !r.OverMemories() {
			read[key{r.Session, r.Query, r.Level}] = r.Input
		}
	}
	var other []string
	for _, r := range b {
		input, both := read[key{r.Session, r.Query, r.Level}]
		if where := r.Session + "/" + r.Query; both && input != r.Input && !slices.Contains(other, where) {
			other = append(other, where)
		}
	}
	if other == nil {
		return nil
	}
	const shown = 3
	names := strings.Join(other[:min(len(other), shown)], ", ")
	return []string{fmt.Sprintf("another corpus: other chunks or labels of %s (%d)", names, len(other))}
}
