package baseline

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/poimen-memory/mem/harness/diag"
)

// changes says in words what differs between the lines of a baseline and those of a result, as
// in "lexical · L1 · record, noise ignored: wrong 0 → 2 (queries host, port)". Fields that only one
// of them has are not counts that changed: another version of mem wrote it. The error is about the
// baseline.
func changes(old, now string) ([]string, error) {
	before, err := parse(old)
	if err != nil {
		return nil, err
	}
	after, err := parse(now)
	if err != nil {
		return nil, err
	}
	var list []string
	for _, subject := range subjects(before, after) {
		b, a := before[subject], after[subject]
		switch {
		case b == nil:
			list = append(list, subject+": new")
		case a == nil:
			list = append(list, subject+": gone")
		default:
			list = append(list, b.differences(subject, a)...)
		}
	}
	return list, nil
}

// entry is a line of a baseline.
type entry struct {
	order  int
	counts map[string]string            // by their path in the line
	sparse bool                         // a count that is not there is 0
	wrong  map[string]map[string]string // kind of mistake → query → number of turns; nil: the line has none
}

func parse(lines string) (map[string]*entry, error) {
	entries := map[string]*entry{}
	for i, line := range bytes.Split(bytes.TrimSuffix([]byte(lines), []byte("\n")), []byte("\n")) {
		dec := json.NewDecoder(bytes.NewReader(line))
		dec.UseNumber()
		var fields map[string]any
		if err := dec.Decode(&fields); err != nil {
			return nil, fmt.Errorf("line %d: %w", i+1, err)
		}
		e := &entry{order: i, counts: map[string]string{}}
		subject := subjectOf(fields)
		if wrong, ok := fields["wrong"].(map[string]any); ok {
			delete(fields, "wrong")
			e.wrong = mistakes(wrong)
		}
		e.sparse = subject == "runs" || subject == "checks"
		e.flatten("", fields)
		entries[subject] = e
	}
	return entries, nil
}

// subjectOf is what a line is about, in words; it takes the fields that say so from the line.
func subjectOf(fields map[string]any) string {
	take := func(key string) string {
		v := fields[key]
		delete(fields, key)
		return fmt.Sprint(v)
	}
	_, model := fields["model"]
	_, answers := fields["answers"]
	_, decision := fields["decision"]
	_, experiment := fields["experiment"]
	budget, ofCorpus := fields["budget"].(map[string]any)
	switch {
	case decision:
		return "decision " + take("decision") + ", " + take("model") + " · L" + take("level")
	case model && answers:
		return take("model") + " · L" + take("level") + " · " + take("exit_gate") + ", answers"
	case model:
		return take("model") + " · L" + take("level") + " · " + take("exit_gate")
	case experiment:
		return "experiment " + take("experiment")
	case ofCorpus:
		corpus := fmt.Sprint(budget["corpus"])
		delete(budget, "corpus")
		return "prompts over " + corpus
	}
	return strings.Join(slices.Sorted(maps.Keys(fields)), ", ")
}

// mistakes turns queries → kinds of mistakes → counts around.
func mistakes(queries map[string]any) map[string]map[string]string {
	kinds := map[string]map[string]string{}
	for query, counts := range queries {
		counts, _ := counts.(map[string]any)
		for kind, n := range counts {
			if kinds[kind] == nil {
				kinds[kind] = map[string]string{}
			}
			kinds[kind][query] = fmt.Sprint(n)
		}
	}
	return kinds
}

func (e *entry) flatten(path string, value any) {
	switch v := value.(type) {
	case map[string]any:
		for key, inner := range v {
			e.flatten(strings.TrimPrefix(path+"."+key, "."), inner)
		}
	case []any:
		for i, inner := range v {
			name := fmt.Sprint(i + 1)
			if m, ok := inner.(map[string]any); ok && m["component"] != nil {
				name = fmt.Sprint(m["component"])
				delete(m, "component")
			}
			e.flatten(path+"."+name, inner)
		}
	default:
		e.counts[path] = fmt.Sprint(v)
	}
}

// words are counts as people say them, and the kind of mistake that names their queries.
var words = map[string]struct{ label, mistake string }{
	"counts.yes_on_evidence":          {label: "evidence written: right"},
	"counts.no_on_evidence":           {"evidence written: wrong", "missed"},
	"counts.no_on_free":               {label: "noise ignored: right"},
	"counts.yes_on_free":              {"noise ignored: wrong", "noise"},
	"counts.parse_failed_on_evidence": {"not parsed, on evidence", "not_parsed"},
	"counts.parse_failed_on_free":     {"not parsed, elsewhere", "not_parsed"},
	"counts.first_try":                {label: "parsed at first try"},
	"counts.exit_early":               {"exits before the last evidence", "early_exit"},
	"counts.exit_on_time":             {label: "exits on the last evidence"},
	"counts.exit_late":                {label: "exits after the last evidence"},
	"counts.exit_never":               {label: "runs without an exit"},
	"verdict":                         {label: "verdict"},
}

// differences are those of an entry that stands in both, in the order of their paths.
func (e *entry) differences(subject string, now *entry) (list []string) {
	said := map[string]bool{}
	for _, path := range slices.Sorted(maps.Keys(mergeKeys(e.counts, now.counts))) {
		was, value := e.counts[path], now.counts[path]
		if e.sparse { // what did not happen is left out
			was, value = cmp.Or(was, "0"), cmp.Or(value, "0")
		}
		if was == "" || value == "" || was == value {
			continue
		}
		w := words[path]
		if w.label == "" {
			w.label = strings.NewReplacer("_", " ", ".", " ").Replace(path[strings.Index(path, ".")+1:])
		}
		change := fmt.Sprintf("%s, %s %s → %s", subject, w.label, was, value)
		if names := e.changedQueries(now, w.mistake); names != nil {
			change += " (" + map[bool]string{true: "query ", false: "queries "}[len(names) == 1] + diag.Examples(names) + ")"
		}
		if !said[change] { // sums and counts may say the same
			list, said[change] = append(list, change), true
		}
	}
	if list == nil {
		list = e.movedMistakes(subject, now)
	}
	return list
}

// changedQueries are those of which another number of turns is wrong in a way.
func (e *entry) changedQueries(now *entry, mistake string) (names []string) {
	if e.wrong == nil || now.wrong == nil || mistake == "" {
		return nil
	}
	before, after := e.wrong[mistake], now.wrong[mistake]
	for _, query := range slices.Sorted(maps.Keys(mergeKeys(before, after))) {
		if before[query] != after[query] {
			names = append(names, query)
		}
	}
	return names
}

// movedMistakes are those that are as many as before, of other queries.
func (e *entry) movedMistakes(subject string, now *entry) (list []string) {
	for _, mistake := range slices.Sorted(maps.Keys(mergeKeys(e.wrong, now.wrong))) {
		if names := e.changedQueries(now, mistake); names != nil {
			list = append(list, fmt.Sprintf("%s, %s: as many as before, of other queries (%s)", subject, strings.ReplaceAll(mistake, "_", " "), diag.Examples(names)))
		}
	}
	return list
}

func mergeKeys[V any](a, b map[string]V) map[string]bool {
	keys := map[string]bool{}
	for _, m := range []map[string]V{a, b} {
		for key := range m {
			keys[key] = true
		}
	}
	return keys
}

// subjects are those of both, in the order of the lines now, then those that are gone.
func subjects(before, after map[string]*entry) []string {
	names := slices.SortedFunc(maps.Keys(after), func(a, b string) int { return after[a].order - after[b].order })
	gone := slices.SortedFunc(maps.Keys(before), func(a, b string) int { return before[a].order - before[b].order })
	for _, name := range gone {
		if after[name] == nil {
			names = append(names, name)
		}
	}
	return names
}
