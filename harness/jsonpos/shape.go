package jsonpos

import (
	"slices"
	"strings"
)

// Shape is what a value has: conditions between spaces. A condition is a path, as in
// messages[].role, where [] is any of the first elements of a list; and, after =, the texts of
// which the value there is one, as in type=user|assistant.
type Shape string

// Missing are the conditions that a value does not meet, of all that the shape has.
func (s Shape) Missing(v Value) (missing []string, all int) {
	for _, condition := range strings.Fields(string(s)) {
		all++
		path, texts, _ := strings.Cut(condition, "=")
		if !meets(v, strings.Split(path, "."), texts) {
			missing = append(missing, strings.Replace(condition, "=", " is ", 1))
		}
	}
	return missing, all
}

// elementsTried is how many elements of a list a [] stands for.
const elementsTried = 20

func meets(v Value, path []string, texts string) bool {
	if len(path) == 0 {
		return texts == "" || v.IsString() && slices.Contains(strings.Split(texts, "|"), v.Text())
	}
	key, lists := strings.CutSuffix(path[0], "[]")
	switch {
	case key == "" && lists:
		return anyElement(v, func(e Value) bool { return meets(e, path[1:], texts) })
	case v.Raw[0] != '{':
		return false
	}
	for name, member := range v.Members() {
		if name.Text() != strings.TrimRight(key, "[]") {
			continue
		}
		rest := path[1:]
		for range strings.Count(path[0], "[]") {
			rest = append([]string{"[]"}, rest...)
		}
		return meets(member, rest, texts)
	}
	return false
}

func anyElement(v Value, is func(Value) bool) bool {
	if v.Raw[0] != '[' {
		return false
	}
	n := 0
	for e := range v.Elements() {
		if n++; n > elementsTried {
			return false
		}
		if is(e) {
			return true
		}
	}
	return false
}
