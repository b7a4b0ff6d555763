// Package gateprob reads from the log probabilities of a reply's tokens how sure the model was
// of its gates: P(yes) at the value of <check>, P(end) at the value of <next>. Pure.
//
// The texts of the tokens are joined, and what stands before the last </think> and inside
// <update> is left out, as the gate parser does. <check> and <next> must each open once in the
// rest. The token that holds the first letter of the value decides. Each of its alternatives,
// itself among them, is for the word that it begins to spell in the same place: what stands in the
// token before the value (as in >yes) must stand before the alternative too, white space aside;
// then it is for yes if what follows, in lower case and up to a character that is no letter, is
// yes or a beginning of it: yes, " yes", >yes, y. P(yes) is the sum of the probabilities for yes
// over that for yes and no; what is not among the alternatives counts as 0. <next> likewise.
package gateprob

import (
	"math"
	"regexp"
	"strings"

	"github.com/poimen-memory/mem/loop"
)

// Token is one of a reply with its log probability and the most probable ones in its place.
// A nil log probability is a probability of 0.
type Token struct {
	Text    string
	LogProb *float64
	Top     []Alternative
}

// Alternative is a token that could have stood in a place.
type Alternative struct {
	Text    string
	LogProb *float64
}

// Of is what tokens say of the gates.
func Of(tokens []Token) loop.Confidence {
	if len(tokens) == 0 {
		return loop.Confidence{Missing: "the server sent no log probabilities"}
	}
	var joined strings.Builder
	for _, t := range tokens {
		joined.WriteString(t.Text)
	}
	text := outsideUpdates(joined.String())
	var c loop.Confidence
	var why [2]string
	c.Yes, why[0] = at(tokens, text, "check", "yes", "no")
	c.End, why[1] = at(tokens, text, "next", "end", "continue")
	if c.Missing = why[0]; c.Missing == "" {
		c.Missing = why[1]
	}
	return c
}

var updates = regexp.MustCompile(`(?is)<update>.*?</update>`)

// outsideUpdates is a text of the same length with blanks for the reasoning and for updates.
func outsideUpdates(s string) string {
	blank := func(s string) string { return strings.Repeat(" ", len(s)) }
	if at := strings.LastIndex(s, "</think>"); at >= 0 {
		at += len("</think>")
		s = blank(s[:at]) + s[at:]
	}
	return updates.ReplaceAllStringFunc(s, blank)
}

// at is the probability of a word at the value of a tag, against that of another word; nil with
// why there is none.
func at(tokens []Token, text, tag, word, other string) (p *float64, why string) {
	opening := regexp.MustCompile(`(?i)<`+tag+`>\s*`).FindAllStringIndex(text, -1)
	if len(opening) != 1 {
		return nil, "the tokens do not open <" + tag + "> exactly once"
	}
	value, start := opening[0][1], 0
	for _, t := range tokens {
		if end := start + len(t.Text); value >= start && value < end {
			before := t.Text[:value-start]
			return share(alternatives(t), before, word, other, tag)
		}
		start += len(t.Text)
	}
	return nil, "no token holds the value of <" + tag + ">"
}

// alternatives are those of a token's place, the token itself among them once.
func alternatives(t Token) []Alternative {
	for _, a := range t.Top {
		if a.Text == t.Text {
			return t.Top
		}
	}
	return append([]Alternative{{t.Text, t.LogProb}}, t.Top...)
}

func share(list []Alternative, before, word, other, tag string) (*float64, string) {
	var yes, no float64
	for _, a := range list {
		if a.LogProb == nil || math.IsNaN(*a.LogProb) || *a.LogProb > 1e-6 {
			continue
		}
		switch p := math.Exp(*a.LogProb); {
		case spells(a.Text, before, word):
			yes += p
		case spells(a.Text, before, other):
			no += p
		}
	}
	if yes+no == 0 {
		return nil, "no alternative at the value of <" + tag + "> has a probability"
	}
	p := math.Round(yes/(yes+no)*1e9) / 1e9
	return &p, ""
}

var letters = regexp.MustCompile(`^[a-z]+`)

// spells reports whether a token begins to spell a word where a token with before stood.
func spells(token, before, word string) bool {
	rest, ok := strings.CutPrefix(strings.TrimSpace(token), strings.TrimSpace(before))
	if !ok {
		return false
	}
	said := letters.FindString(strings.ToLower(strings.TrimSpace(rest)))
	return said != "" && strings.HasPrefix(word, said)
}
