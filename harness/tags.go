package harness

import (
	"fmt"
	"slices"

	"github.com/poimen-memory/mem/harness/diag"
)

// Tags are the tags that group the queries of any of the experiments, sorted.
func Tags(all []Experiment) (tags []string) {
	for _, x := range all {
		tags = append(tags, x.Dividing()...)
	}
	slices.Sort(tags)
	return slices.Compact(tags)
}

// CheckTags refuses a tag, asked for by the flag --by, that does not group the queries.
func CheckTags(asked, known []string) error {
	for _, tag := range asked {
		switch {
		case len(known) == 0:
			return fmt.Errorf("--by: found %q, but no tag groups the queries: want tags in the spec, as in tags: {difficulty: hard}", tag)
		case !slices.Contains(known, tag):
			return fmt.Errorf("--by: %s", diag.OneOf(tag, known))
		}
	}
	return nil
}
