package spec

import (
	"github.com/poimen-memory/mem/harness/diag"
	"github.com/poimen-memory/mem/harness/spec/yamlpos"
)

// Answer has each run, when it has ended, asked for the answer to its query from the final
// memory alone. Answers are scored by the query's answers.
type Answer struct {
	At        diag.Place         `yaml:",pos"`
	Template  yamlpos.At[string] `yaml:"template" min:"1"`                    // file with exactly one each of {prompt} and {memory}; a prompt of our own, if not given
	MaxTokens yamlpos.At[int]    `yaml:"max_tokens" min:"1" max:"2147483647"` // of a reply, its reasoning included; budget.response, if not given
}
