package synth

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/poimen-memory/mem/harness/corpus"
)

// statement is a sentence that says something of a key.
type statement struct {
	text    string
	tool    string // as a tool record says it; "" if as all
	queried bool
}

func (st statement) in(role string) string {
	if role == "tool" && st.tool != "" {
		return st.tool
	}
	return st.text
}

// content is what a sample states and asks. Statements of one chain stand in its order.
type content struct {
	query  corpus.Query
	chains [][]statement
	asked  []string // keys and values that the haystack must not speak of
}

func (r content) statements() []statement { return slices.Concat(r.chains...) }

// family is a task: its defaults, and how it is written.
type family struct {
	haystack                 string
	needles, values, queries int
	key, value               kind
	write                    func(Config, *random) content
}

// families have the parameters of RULER, appendix B.
func families() map[string]family {
	niah := func(haystack string, needles, values, queries int, key, value kind) family {
		return family{haystack, needles, values, queries, key, value, writer{key, value}.niah}
	}
	return map[string]family{
		"niah_single_1":   niah("noise", 1, 1, 1, word, number),
		"niah_single_2":   niah("text", 1, 1, 1, word, number),
		"niah_single_3":   niah("text", 1, 1, 1, word, uuid),
		"niah_multikey_1": niah("text", 4, 1, 1, word, number),
		"niah_multikey_2": niah("needles", 1, 1, 1, word, number),
		"niah_multikey_3": niah("needles", 1, 1, 1, uuid, uuid),
		"niah_multivalue": niah("text", 1, 4, 1, word, number),
		"niah_multiquery": niah("text", 4, 1, 4, word, number),
		"vt":              {"noise", 1, 4, 1, word, number, variables},
		"session":         {"session", 4, 2, 1, setting, amount, decisions},
		"qa":              {haystack: "documents"},
	}
}

// kind is a sort of keys or values.
type kind struct {
	noun string
	draw func(*random) string
}

var (
	word   = kind{"word", func(r *random) string { return r.pick(adjectives) + "-" + r.pick(nouns) }}
	number = kind{"number", func(r *random) string { return digits(r, 7) }}
	amount = kind{"number", func(r *random) string { return digits(r, 5) }}
	uuid   = kind{"uuid", func(r *random) string {
		a, b := r.next(), r.next()
		a, b = a&^0xf000|0x4000, b&^(0b11<<62)|0b10<<62 // version 4, RFC 9562
		return fmt.Sprintf("%08x-%04x-%04x-%04x-%012x", a>>32, a>>16&0xffff, a&0xffff, b>>48, b&(1<<48-1))
	}}
	variable = kind{"variable", func(r *random) string {
		name := make([]byte, 5)
		for i := range name {
			name[i] = byte('A' + r.below(26))
		}
		return string(name)
	}}
	setting = kind{"setting", func(r *random) string { return r.pick(settings) + " of " + r.pick(services) }}
)

// digits is a number of n digits, the first not 0.
func digits(r *random, n int) string {
	low := 1
	for range n - 1 {
		low *= 10
	}
	return strconv.Itoa(low + r.below(9*low))
}

// fresh draws what is not in the list yet, and adds it.
func (k kind) fresh(r *random, list *[]string) string {
	for {
		if s := k.draw(r); !slices.Contains(*list, s) {
			*list = append(*list, s)
			return s
		}
	}
}

// writer writes needles of its kinds.
type writer struct{ key, value kind }

func (w writer) sentence(key, value string) string {
	return fmt.Sprintf("One of the special magic %ss for %s is %s.", w.value.noun, key, value)
}

func (w writer) niah(s Config, r *random) (made content) {
	var used, keys []string
	for n := range s.Needles {
		key := w.key.fresh(r, &used)
		for range s.Values {
			value := w.value.fresh(r, &used)
			made.chains = append(made.chains, []statement{{text: w.sentence(key, value), queried: n < s.Queries}})
			if n < s.Queries {
				made.query.Answers = append(made.query.Answers, value)
			}
		}
		if n < s.Queries {
			keys = append(keys, key)
		}
	}
	made.asked = used
	form := "What is the special magic %s for %s that the text mentions?"
	if s.Queries*s.Values > 1 {
		form = "What are all the special magic %ss for %s that the text mentions?"
	}
	made.query.Text, made.query.All = fmt.Sprintf(form, w.value.noun, and(keys)), true
	return made
}

// variables is RULER's variable tracking: each chain gives a value to a variable, that
// variable to another one, and so on for so many hops. The first chain is asked for.
func variables(s Config, r *random) (made content) {
	var used []string
	for n := range s.Needles {
		value, name := amount.fresh(r, &used), variable.fresh(r, &used)
		names, chain := []string{name}, []statement{{text: "VAR " + name + " = " + value + ".", queried: n == 0}}
		for range s.Values {
			next := variable.fresh(r, &used)
			chain = append(chain, statement{text: "VAR " + next + " = VAR " + name + ".", queried: n == 0})
			name, names = next, append(names, next)
		}
		made.chains = append(made.chains, chain)
		if n == 0 {
			made.query = corpus.Query{Text: "Which variables have the value " + value + ", directly or through another variable?", Answers: names, All: true}
		}
	}
	return made
}

// decisions are settings of services whose values change over time.
func decisions(s Config, r *random) (made content) {
	var used, keys []string
	for n := range s.Needles {
		key, value := setting.fresh(r, &used), ""
		var chain []statement
		for range s.Values {
			value = amount.fresh(r, &used)
			chain = append(chain, statement{
				text:    "Decision: the " + key + " is " + value + " from now on.",
				tool:    "config: " + key + " set to " + value + ".",
				queried: n < s.Queries,
			})
		}
		made.chains = append(made.chains, chain)
		if n < s.Queries {
			keys = append(keys, "the "+key)
			made.query.Answers = append(made.query.Answers, value)
		}
	}
	made.query.Text, made.query.All = "What was decided for "+and(keys)+"? Decisions change: the newest value counts.", true
	return made
}

func and(list []string) string {
	if len(list) == 1 {
		return list[0]
	}
	return strings.Join(list[:len(list)-1], ", ") + " and " + list[len(list)-1]
}
