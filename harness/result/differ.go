package result

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/poimen-memory/mem/harness/spec"
	"github.com/poimen-memory/mem/harness/stat"
)

// Differences are in what two results differ beside their numbers: in settings, such as the
// prompt or a budget, and in data, over which numbers cannot be compared: other chunks or
// labels in the runs that both have, or another vocabulary that counts them.
func Differences(a, b *Result) (settings, data []string) {
	differ := func(what string, x, y any) {
		if x != y {
			settings = append(settings, fmt.Sprintf("another %s: %v and %v", what, x, y))
		}
	}
	differ("template", a.Prompt.SHA, b.Prompt.SHA)
	if a.Prompt.System != b.Prompt.System {
		settings = append(settings, "another system message")
	}
	if a.Prompt.Answer != "" && b.Prompt.Answer != "" { // else there is nothing to compare
		differ("answer template", a.Prompt.Answer, b.Prompt.Answer)
	}
	differ("budget", a.Budget, b.Budget)
	if a.Tokenizer != b.Tokenizer {
		data = append(data, fmt.Sprintf("another tokenizer: %s and %s", a.Tokenizer, b.Tokenizer))
	}
	return settings, append(data, otherInputs(a.Runs, b.Runs)...)
}

// otherInputs compares what runs read. Memories that L2 reads are the model's own.
func otherInputs(a, b []Run) []string {
	type key struct {
		session, query string
		level          spec.Level
	}
	read := map[key]string{}
	for _, r := range a {
		if !r.OverMemories() {
			read[key{r.Session, r.Query, r.Level}] = r.Input
		}
	}
	var other []string
	for _, r := range b {
		input, both := read[key{r.Session, r.Query, r.Level}]
		if where := r.Session + "/" + r.Query; both && input != r.Input && !slices.Contains(other, where) {
			other = append(other, where)
		}
	}
	if other == nil {
		return nil
	}
	const shown = 3
	names := strings.Join(other[:min(len(other), shown)], ", ")
	return []string{fmt.Sprintf("another corpus: other chunks or labels of %s (%d)", names, len(other))}
}

// Ranking is one metric of several sides, the best first.
type Ranking struct {
	Metric string
	Levels []spec.Level
	Rows   []RankingRow
}

// RankingRow is one side's estimates, one a level.
type RankingRow struct {
	Name   string
	Levels []Ranked
}

// Ranked is an estimate. Best: it is the best of its level, and significantly so against
// each of the others.
type Ranked struct {
	stat.Estimate
	Best bool
}

// AllPairs are the pairings of each side with each that comes after it.
func AllPairs(sides []Side) (pairs []Pairing) {
	for i, old := range sides {
		for _, other := range sides[i+1:] {
			pairs = append(pairs, Pairing{Old: old, New: other})
		}
	}
	return pairs
}

// Rank orders sides by a metric at the first level at which any has runs. pairs are their
// comparisons, in any metrics.
func Rank(sides []Side, metric string, unit stat.Unit, pairs []Comparison) (Ranking, error) {
	r := Ranking{Metric: metric}
	for _, level := range []spec.Level{1, 2} {
		if slices.ContainsFunc(sides, func(s Side) bool { return len(s.at(level)) > 0 }) {
			r.Levels = append(r.Levels, level)
		}
	}
	for _, s := range sides {
		row := RankingRow{Name: s.Name}
		for _, level := range r.Levels {
			e, err := stat.Collect(s.at(level)).MeasureOne(metric, unit)
			if err != nil {
				return r, err
			}
			row.Levels = append(row.Levels, Ranked{e, leads(s.Name, len(sides), metric, level, pairs)})
		}
		r.Rows = append(r.Rows, row)
	}
	def, _ := stat.Define(metric)
	slices.SortStableFunc(r.Rows, func(a, b RankingRow) int { return better(def.Better, a.Levels[0], b.Levels[0]) })
	return r, nil
}

// leads says whether a side is significantly better than each other one.
func leads(name string, sides int, metric string, level spec.Level, pairs []Comparison) bool {
	won := 0
	for _, c := range pairs {
		if c.Metric != metric || c.Level != level || c.Difference == nil || !c.Significant() {
			continue
		}
		up := (*c.Difference > 0) == (c.Better == stat.Higher)
		won += count(c.Model == name && up || c.Baseline == name && !up)
	}
	return won == sides-1
}

// better orders estimates, the best first and the undefined last.
func better(way stat.Better, a, b Ranked) int {
	switch {
	case a.Value == nil || b.Value == nil:
		return cmp.Compare(count(a.Value == nil), count(b.Value == nil))
	case way == stat.Lower:
		return cmp.Compare(*a.Value, *b.Value)
	}
	return cmp.Compare(*b.Value, *a.Value)
}
