package prompt

import (
	"regexp"
	"strings"
)

// Record is one entry of a session. The known roles are system, user, assistant and
// tool; another lower-case word is allowed.
type Record struct{ Role, Text string }

var roleWord = regexp.MustCompile(`^[a-z][a-z0-9_-]*$`)

// ValidRole reports whether role can stand in a label: a lower-case word, so that
// a label never holds a bracket or a tag.
func ValidRole(role string) bool { return roleWord.MatchString(role) }

// Render writes records as the model sees them: `[role] text`, separated by a blank
// line (M1.3, chunk rendering). Texts are kept byte for byte.
func Render(records ...Record) string {
	var b strings.Builder
	for i, r := range records {
		if i > 0 {
			b.WriteString("\n\n")
		}
		b.WriteString(Label(r.Role))
		b.WriteString(r.Text)
	}
	return b.String()
}

// Label is what stands before a record's text.
func Label(role string) string { return "[" + role + "] " }

var labelWithin = regexp.MustCompile(`\n\n\[([a-z][a-z0-9_-]*)\] `)

// LabelsWithin are the roles of the labels after a blank line in a record's text, in order:
// nothing tells what follows one from a further record. A label at the very start of the text
// stands after the record's own and is none.
func LabelsWithin(text string) (roles []string) {
	if !strings.Contains(text, "\n\n[") {
		return nil
	}
	for _, m := range labelWithin.FindAllStringSubmatch(text, -1) {
		roles = append(roles, m[1])
	}
	return roles
}
