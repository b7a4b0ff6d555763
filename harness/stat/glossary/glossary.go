// Package glossary says in words what each metric of package stat means: the one source of
// mem help metrics, docs/metrics.md, labels and the page's tooltips.
package glossary

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/poimen-memory/mem/harness/stat"
)

// Entry is one metric in words.
type Entry struct {
	Name    string
	Topic   string
	Label   string // a few words that stand beside the name or in its place
	Meaning string // one sentence
	// Numerator and Denominator are what the value is a ratio of.
	Numerator, Denominator string
	// Failure is what lowers the metric, or of one that is better low, raises it: a plural that
	// "fewer" can precede; empty where nothing does.
	Failure string
	Example Example
}

// Example is the value of a metric on the runs that Runs gives for its set.
type Example struct {
	Set   string
	Words string // the numbers, in words
	X, N  float64
	Value float64
}

// Topics are the groups of entries, in their order.
func Topics() []string {
	return []string{topicReplies, topicUpdate, topicExit, topicMemory, topicTrials, topicRewards, topicAnswers}
}

// All are the entries, by topic. That of pass_1, pass_2, … is named PassK.
func All() []Entry {
	return slices.Concat(replyEntries(), updateEntries(), exitEntries(), exitCostEntries(), memoryEntries(), trialEntries(), rewardEntries(), answerEntries())
}

// PassK is the name of the entry of pass_1, pass_2, and so on.
const PassK = "pass_k"

// Find is the entry of a metric; ok is false if there is none.
func Find(metric string) (e Entry, ok bool) {
	name := metric
	if _, known := stat.Define(metric); known && strings.HasPrefix(metric, "pass_") {
		name = PassK
	}
	list := All()
	i := slices.IndexFunc(list, func(e Entry) bool { return e.Name == name })
	if i < 0 {
		return Entry{}, false
	}
	e = list[i]
	e.Name = metric
	if k, isPass := strings.CutPrefix(metric, "pass_"); name == PassK && isPass {
		e.Label = strings.Replace(e.Label, "k trials", k+" trials", 1)
	}
	return e, true
}

// Label is a metric in a few plain words; its name where the glossary does not have it.
func Label(metric string) string {
	if e, ok := Find(metric); ok {
		return e.Label
	}
	return metric
}

// Definition is the entry's in package stat.
func (e Entry) Definition() stat.Definition {
	name := e.Name
	if name == PassK {
		name = "pass_2"
	}
	d, _ := stat.Define(name)
	return d
}

// Ratio is the example's value with its counts: "3/4 = 0.750".
func (e Entry) Ratio() string {
	d, x := e.Definition(), number(e.Example.X)
	value := fmt.Sprintf("%.3f", e.Example.Value)
	share := "" // of a metric on another scale than that of shares
	if d.Interval != "" && (d.Low != 0 || d.High > 1) && e.Example.N > 0 {
		share = fmt.Sprintf(", on the scale from %v to %v ", d.Low, d.High)
	}
	switch {
	case e.Example.N == 0:
		return value
	case share != "":
		return x + "/" + number(e.Example.N) + share + "is " + value
	}
	return x + "/" + number(e.Example.N) + " = " + value
}

func number(v float64) string {
	s := strconv.FormatFloat(v, 'f', 3, 64)
	return strings.TrimSuffix(strings.TrimRight(s, "0"), ".")
}
