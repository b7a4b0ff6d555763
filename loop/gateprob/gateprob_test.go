package gateprob_test

import (
	"math"
	"testing"

	"github.com/poimen-memory/mem/loop/gateprob"
)

func logOf(p float64) *float64 { v := math.Log(p); return &v }

// place is a token among alternatives with these probabilities.
func place(text string, p float64, more ...any) gateprob.Token {
	t := gateprob.Token{Text: text, LogProb: logOf(p), Top: []gateprob.Alternative{{Text: text, LogProb: logOf(p)}}}
	for i := 0; i+1 < len(more); i += 2 {
		t.Top = append(t.Top, gateprob.Alternative{Text: more[i].(string), LogProb: logOf(more[i+1].(float64))})
	}
	return t
}

func plain(text string) gateprob.Token { return place(text, 1) }

// TestTokenizations: the same reply in the pieces of several tokenizers.
func TestTokenizations(t *testing.T) {
	end := []gateprob.Token{plain("<next>"), place("continue", 0.9, "end", 0.1), plain("</next>")}
	for name, check := range map[string][]gateprob.Token{
		"yes":           {plain("<check>"), place("yes", 0.6, "no", 0.2, "maybe", 0.2), plain("</check>")},
		" yes":          {plain("<check>"), place(" yes", 0.6, " no", 0.15, "no", 0.05), plain("</check>")},
		"y es":          {plain("<check>"), place("y", 0.6, "n", 0.2), plain("es"), plain("</check>")},
		">yes":          {plain("<check"), place(">yes", 0.6, ">no", 0.2, "no", 0.1), plain("</check>")},
		"> yes":         {plain("<check"), place("> yes", 0.6, ">no", 0.2), plain("</check>")},
		"yes</":         {plain("<check>"), place("yes</", 0.6, "no</", 0.2), plain("check>")},
		"YES":           {plain("<CHECK>\n"), place("YES", 0.3, "Yes", 0.3, "No", 0.2), plain("</CHECK>")},
		"split":         {plain("<"), plain("check"), plain(">"), plain(" "), place("yes", 0.6, "no", 0.2, " ", 0.2), plain("</check>")},
		"not top":       {plain("<check>"), {Text: "yes", LogProb: logOf(0.6), Top: []gateprob.Alternative{{Text: "no", LogProb: logOf(0.2)}}}, plain("</check>")},
		"said no":       {plain("<check>"), place("no", 0.2, "yes", 0.6), plain("</check>")},
		"after thought": {plain("<check>"), plain("no"), plain("</check></think>"), plain("<check>"), place("yes", 0.6, "no", 0.2), plain("</check>")},
		"in an update":  {plain("<update>a <check>no</check></update>"), plain("<check>"), place("yes", 0.6, "no", 0.2), plain("</check>")},
		"one token":     {place("<check>yes</check>", 0.6, "<check>no</check>", 0.2)},
	} {
		c := gateprob.Of(append(check, end...))
		if c.Yes == nil || math.Abs(*c.Yes-0.75) > 1e-8 || c.End == nil || math.Abs(*c.End-0.1) > 1e-8 || c.Missing != "" {
			t.Errorf("%s: found %v, %v, %q; want 0.75 and 0.1", name, show(c.Yes), show(c.End), c.Missing)
		}
	}
}

func TestWhatHasNoProbability(t *testing.T) {
	value := place("yes", 0.6, "no", 0.2)
	for want, tokens := range map[string][]gateprob.Token{
		"the server sent no log probabilities":                     nil,
		"the tokens do not open <check> exactly once":              {plain("<check>"), value, plain("</check><check>"), value, plain("</check>")},
		"no token holds the value of <check>":                      {plain("<check>")},
		"no alternative at the value of <check> has a probability": {plain("<check>"), {Text: "yes"}, plain("</check>")},
		"the tokens do not open <next> exactly once":               {plain("<check>"), value, plain("</check>")},
	} {
		c := gateprob.Of(tokens)
		if c.Missing != want || c.End != nil {
			t.Errorf("found %q, %v; want %q", c.Missing, show(c.End), want)
		}
	}
}

func show(p *float64) any {
	if p == nil {
		return nil
	}
	return *p
}
