package yamlpos

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/poimen-memory/mem/harness/diag"
)

// rules are the tags of a field; they travel with the node into At and Unmarshaler.
type rules struct {
	enum     []string
	min, max string // as written in the tag, "" for none
}

func rulesOf(f reflect.StructField) rules {
	r := rules{min: f.Tag.Get("min"), max: f.Tag.Get("max")}
	if e := f.Tag.Get("enum"); e != "" {
		r.enum = strings.Split(e, ",")
	}
	return r
}

// bounds are the numbers of min and max. A tag that is no number is a mistake in the program.
func (r rules) bounds() (lo, hi float64) {
	lo, hi = math.Inf(-1), math.Inf(1)
	for _, b := range []struct {
		text string
		to   *float64
	}{{r.min, &lo}, {r.max, &hi}} {
		if b.text == "" {
			continue
		}
		x, err := strconv.ParseFloat(b.text, 64)
		if err != nil {
			panic("yamlpos: tag " + strconv.Quote(b.text) + " is no number")
		}
		*b.to = x
	}
	return lo, hi
}

func (r rules) admit(x float64) bool {
	lo, hi := r.bounds()
	return lo <= x && x <= hi
}

// want describes a number within the bounds.
func (r rules) want(what string) string {
	switch {
	case r.min != "" && r.max != "":
		return what + " from " + r.min + " to " + r.max
	case r.min != "":
		return what + " of at least " + r.min
	case r.max != "":
		return what + " of at most " + r.max
	}
	return what
}

// decode fills v. What is wrong is reported and leaves v as it was.
func (n Node) decode(v reflect.Value) {
	if u, ok := v.Addr().Interface().(Unmarshaler); ok {
		u.DecodeYAML(n)
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		n.decode(v.Elem())
	case reflect.Struct:
		n.decodeStruct(v)
	case reflect.Slice:
		n.decodeList(v)
	case reflect.String:
		n.decodeText(v)
	case reflect.Bool:
		n.decodeBool(v)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		n.decodeInt(v)
	case reflect.Float64:
		n.decodeFloat(v)
	default:
		panic(fmt.Sprintf("yamlpos: no way to decode into %s", v.Type()))
	}
}

func (n Node) decodeText(v reflect.Value) {
	s := n.yaml.Value
	switch {
	case n.Kind() != Text:
		n.Want(n.wantText())
	case n.rules.enum != nil && !slices.Contains(n.rules.enum, s):
		n.Errorf("%s", diag.OneOf(s, n.rules.enum))
	case !n.rules.admit(float64(utf8.RuneCountInString(strings.TrimSpace(s)))):
		n.Want("text that is not blank")
	default:
		v.SetString(s)
	}
}

// wantText says what would be right where something else than text was found.
func (n Node) wantText() string {
	switch k := n.Kind(); {
	case n.rules.enum != nil:
		return diag.Choices(n.rules.enum)
	case k == Bool || k == Int || k == Float:
		return fmt.Sprintf("text: put it in quotes, %q", n.yaml.Value)
	}
	return "text"
}

func (n Node) decodeBool(v reflect.Value) {
	if n.Kind() != Bool {
		n.Want("true or false")
		return
	}
	v.SetBool(strings.EqualFold(n.yaml.Value, "true"))
}

func (n Node) decodeInt(v reflect.Value) {
	want := n.rules.want("a whole number")
	if n.Kind() != Int {
		n.Want(want + n.unquote())
		return
	}
	i, err := parseInt(n.yaml.Value)
	if err != nil || v.OverflowInt(i) || !n.rules.admit(float64(i)) {
		n.Want(want + fit(err))
		return
	}
	v.SetInt(i)
}

// fit adds to a message that the number is too large for the machine.
func fit(err error) string {
	if err == nil {
		return ""
	}
	return " that fits 64 bits"
}

// unquote adds to a message how to correct a number in quotes.
func (n Node) unquote() string {
	if n.Kind() == Text && (isInt(n.yaml.Value) || isFloat(n.yaml.Value)) {
		return ", without quotes"
	}
	return ""
}

func parseInt(s string) (int64, error) {
	if strings.HasPrefix(s, "0x") || strings.HasPrefix(s, "0o") {
		return strconv.ParseInt(s, 0, 64)
	}
	return strconv.ParseInt(s, 10, 64)
}

func (n Node) decodeFloat(v reflect.Value) {
	want := n.rules.want("a number")
	x, ok := n.number()
	switch {
	case !ok:
		n.Want(want + n.unquote())
	case math.IsNaN(x) || math.IsInf(x, 0):
		n.Want(n.rules.want("a finite number"))
	case !n.rules.admit(x):
		n.Want(want)
	default:
		v.SetFloat(x)
	}
}

// number is the node's number; NaN also for what no float64 holds.
func (n Node) number() (float64, bool) {
	switch n.Kind() {
	case Int:
		i, err := parseInt(n.yaml.Value)
		if err != nil {
			return math.NaN(), true
		}
		return float64(i), true
	case Float:
		x, err := strconv.ParseFloat(n.yaml.Value, 64)
		if err != nil {
			return math.NaN(), true
		}
		return x, true
	}
	return 0, false
}

func (n Node) decodeList(v reflect.Value) {
	switch n.Kind() {
	case List:
	case Map, Null:
		n.Want("a list")
		return
	default:
		n.wantList()
		return
	}
	size := len(n.yaml.Content)
	if !n.rules.admit(float64(size)) {
		n.Errorf("found a list of %d, want %s", size, n.rules.want("a list"))
	}
	_, most := n.rules.bounds()
	list := reflect.MakeSlice(v.Type(), 0, min(size, maxErrors))
	for i := 0; i < size && float64(i) < most && !n.file.full(); i++ {
		list = reflect.Append(list, reflect.Zero(v.Type().Elem()))
		n.element(i).decode(list.Index(i))
	}
	v.Set(list)
}

// wantList says how to make a list of the one value that was found, if that may be in it.
func (n Node) wantList() {
	if known := n.rules.enum; known != nil && !slices.Contains(known, n.yaml.Value) {
		n.Want("a list of " + strings.Join(known, ", ") + ", as in [" + known[0] + "]" + diag.Suggestion(n.yaml.Value, known))
		return
	}
	n.Want("a list: [" + n.found() + "]")
}

// decodeStruct fills the fields that have a yaml tag. Duplicate keys were reported when
// the file was walked.
func (n Node) decodeStruct(v reflect.Value) {
	fields := fieldsOf(v.Type())
	if n.Kind() != Map {
		n.Want("a map of " + strings.Join(keys(fields), ", "))
		return
	}
	setPlace(v, n.Place())
	seen := map[string]bool{}
	for _, e := range n.file.entries(n.yaml, n.path) {
		i := slices.IndexFunc(fields, func(f field) bool { return f.key == e.key.Value })
		if i < 0 {
			seen[n.unknown(e, keys(fields))] = true // what is misspelt is not also missing
			continue
		}
		seen[fields[i].key] = true
		n.under(e, fields[i].rules).decode(v.Field(fields[i].index))
	}
	for _, f := range fields {
		if f.required && !seen[f.key] {
			n.Errorf("%q is missing", f.key)
		}
	}
	n.one(alternatives(v.Type()), seen)
}

// one wants exactly one of the keys, if there are any to choose from.
func (n Node) one(keys []string, seen map[string]bool) {
	var found []string
	for _, k := range keys {
		if seen[k] {
			found = append(found, k)
		}
	}
	all := strings.Join(keys, ", ")
	switch {
	case len(keys) == 0 || len(found) == 1:
	case len(found) == 0:
		n.Errorf("found none of %s, want one", all)
	default:
		n.Errorf("found %s together, want one of %s", strings.Join(found, " and "), all)
	}
}

// alternatives are the keys of which a struct's map has exactly one.
func alternatives(t reflect.Type) []string {
	for i := range t.NumField() {
		if keys := t.Field(i).Tag.Get("one"); keys != "" {
			return strings.Split(keys, ",")
		}
	}
	return nil
}

// unknown reports a key, and returns the known one that was meant, "" if none is near.
func (n Node) unknown(e entry, known []string) (meant string) {
	if n.file.full() {
		return "" // looking for a similar key takes time
	}
	n.file.report(diag.Place{Pos: n.file.pos(e.key), Path: n.path}.Errorf("found unknown key %s, want %s%s",
		diag.Quote(e.key.Value), diag.Choices(known), diag.Suggestion(e.key.Value, known)))
	return diag.Nearest(e.key.Value, known)
}

// field is a struct's field that has a key.
type field struct {
	key      string
	index    int
	required bool
	rules    rules
}

func fieldsOf(t reflect.Type) []field {
	var fields []field
	for i := range t.NumField() {
		key, option, _ := strings.Cut(t.Field(i).Tag.Get("yaml"), ",")
		if key != "" {
			fields = append(fields, field{key: key, index: i, required: option == "required", rules: rulesOf(t.Field(i))})
		}
	}
	return fields
}

func keys(fields []field) []string {
	var names []string
	for _, f := range fields {
		names = append(names, f.key)
	}
	return names
}

// setPlace fills the fields that are tagged to receive where their map stands.
func setPlace(v reflect.Value, p diag.Place) {
	for i := range v.NumField() {
		if v.Type().Field(i).Tag.Get("yaml") != ",pos" {
			continue
		}
		switch to := v.Field(i).Addr().Interface().(type) {
		case *diag.Place:
			*to = p
		case *diag.Pos:
			*to = p.Pos
		default:
			panic(fmt.Sprintf("yamlpos: field %s of %s is neither a diag.Place nor a diag.Pos", v.Type().Field(i).Name, v.Type()))
		}
	}
}
