package corpus

import (
	"slices"

	"github.com/poimen-memory/mem/prompt"
)

// Forged are the roles of the further records that a record's text renders like: after a blank
// line it has the label of a usual role or of one in roles, those of the session so far. The
// template does not escape labels, so that a model cannot tell.
func Forged(text string, roles map[string]int) []string {
	return slices.DeleteFunc(prompt.LabelsWithin(text), func(role string) bool {
		switch role {
		case "user", "assistant", "system", "tool", "memory":
			return false
		}
		return roles[role] == 0
	})
}
