package answer

import (
	"regexp"
	"strings"
)

// The ways in which models write reasoning into their reply: a pair of tags, of any case.
var (
	opened = regexp.MustCompile(`(?i)<(?:seed:)?(?:think|thinking|thought|reasoning)>|\[THINK\]|<\|channel>\s*thought\b|<\|begin_of_thought\|>`)
	closed = regexp.MustCompile(`(?i)</(?:seed:)?(?:think|thinking|thought|reasoning)>|\[/THINK\]|<channel\|>|<\|end_of_thought\|>`)
	// harmony: what the model says stands in the channel "final", or in a message without a channel.
	final   = regexp.MustCompile(`(?i)<\|channel\|>final[^<]*<\|message\|>`)
	channel = regexp.MustCompile(`(?i)<\|channel\|>(?:analysis|commentary)\b`)
	ended   = regexp.MustCompile(`(?i)<\|(?:return|end|call|start)\|>`)
)

// WithoutReasoning is what an answer says after reasoning that leaked into it: what follows the
// last closing tag, whether or not it was opened; nothing, if reasoning was opened after that and
// never closed, but what stands before it.
func WithoutReasoning(text string) string {
	if at := last(final, text); at >= 0 {
		text = text[at:]
		if end := ended.FindStringIndex(text); end != nil {
			text = text[:end[0]]
		}
	} else if at := channel.FindStringIndex(text); at != nil {
		text = text[:at[0]]
	}
	if at := last(closed, text); at >= 0 {
		text = text[at:]
	}
	if at := opened.FindStringIndex(text); at != nil {
		text = text[:at[0]]
	}
	return strings.TrimSpace(text)
}

// last is the end of the last match; -1 if there is none.
func last(pattern *regexp.Regexp, text string) int {
	all := pattern.FindAllStringIndex(text, -1)
	if all == nil {
		return -1
	}
	return all[len(all)-1][1]
}
