package loop

import "strings"

// Textless says why there is nothing to read in a completion; "" if it has text, with gates
// or without. A model of which no completion has any was not evaluated: what failed is how
// its server is set up.
func (c Completion) Textless() string {
	switch reasoning := strings.ToLower(c.Reasoning); {
	case strings.TrimSpace(c.Text) != "":
		return ""
	case strings.Contains(reasoning, "<check>") || strings.Contains(reasoning, "<next>"):
		return "its content is empty and the gate tags stand in the reasoning: want the server without a reasoning parser, or thinking switched off"
	case c.Finish == FinishLength:
		return "its content is empty, the token limit cut it in its reasoning: want thinking switched off, or a larger budget.response"
	case c.Finish == "tool_calls":
		return "it calls tools instead of writing text: want the server without tools"
	case c.Finish == "content_filter":
		return "its content is empty, the server's content filter withheld it"
	case reasoning != "":
		return "its content is empty, all of it is reasoning: want thinking switched off"
	}
	return "its content is null or empty"
}
