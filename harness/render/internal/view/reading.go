package view

import (
	"fmt"
	"slices"
	"strings"

	"github.com/poimen-memory/mem/harness/diag"
	"github.com/poimen-memory/mem/harness/result"
	"github.com/poimen-memory/mem/harness/stat"
	"github.com/poimen-memory/mem/harness/stat/decide"
	"github.com/poimen-memory/mem/harness/stat/glossary"
)

// Reading says of a verdict what it is about, what it is not about, and what would change it.
// Of a decision that was not judged it is empty.
func Reading(d result.Decision) []string {
	if d.Skipped != "" || len(d.Criteria) == 0 {
		return nil
	}
	lines := []string{about(d), notAbout(d)}
	if change := wouldChange(d); change != "" {
		lines = append(lines, change)
	}
	return lines
}

// topics are what the criteria are about, in the glossary's order.
func topics(d result.Decision) (list []string) {
	seen := map[string]bool{}
	for _, j := range d.Criteria {
		e, _ := glossary.Find(j.Metric)
		seen[e.Topic] = true
	}
	for _, topic := range glossary.Topics() {
		if seen[topic] {
			list = append(list, strings.ToLower(topic))
		}
	}
	return list
}

func about(d result.Decision) string {
	var queries, sessions int
	for _, j := range d.Criteria {
		queries, sessions = max(queries, j.Estimate.Queries), max(sessions, j.Estimate.Sessions)
	}
	scope := "new questions on new sessions like these"
	switch d.Unit {
	case stat.ByQuery:
		scope = "new questions on these sessions"
	case stat.BySession:
		scope = "these questions on new sessions like these"
	}
	of := fmt.Sprintf("about: %s of %s at %s, for %s", listed(topics(d)), d.Model, d.Level, scope)
	if queries == 0 {
		return of
	}
	return of + " (" + diag.Count(queries, "question") + ", " + diag.Count(sessions, "session") + ")"
}

func notAbout(d result.Decision) string {
	var others []string
	if !slices.ContainsFunc(topics(d), func(t string) bool { return t == "answers" }) {
		others = append(others, "the quality of answers")
	}
	switch d.Unit {
	case stat.ByQuery:
		others = append(others, "other sessions")
	case stat.BySession:
		others = append(others, "other questions")
	}
	return "not about: " + listed(append(others, "other kinds of session", "other prompts, budgets, levels or models"))
}

// wouldChange is what another verdict would take; "" where the decision's notes say it.
func wouldChange(d result.Decision) string {
	switch {
	case d.Changed > 0:
		return "would change it: a loop that keeps the memory's bytes where it writes nothing"
	case d.Verdict == decide.Invalid:
		return "would change it: replies to the turns that have none"
	case d.Verdict == decide.Go:
		return whileGo(d.Criteria)
	case d.Verdict == decide.NoGo:
		return fewer(withVerdict(d.Criteria, decide.NoGo)) + "; more " + moreUnits(d) + " alone would not, while the rates stay"
	case d.Look.Alpha == 0 || !d.Look.Planned:
		return "" // the look is not due, or was not planned
	}
	return whileUndecided(d)
}

// whileGo names the claim that is nearest to its threshold.
func whileGo(list []decide.Judgment) string {
	var nearest *decide.Judgment
	for i, j := range list {
		if j.Lower != nil && (nearest == nil || *j.Lower-j.Claimed < *nearest.Lower-nearest.Claimed) {
			nearest = &list[i]
		}
	}
	if nearest == nil {
		return ""
	}
	e, _ := glossary.Find(nearest.Metric)
	return fmt.Sprintf("would change it: more %s (nearest to its threshold: %s, lower bound %s, wanted %v)", e.Failure, ClaimName(*nearest), FormatRate(nearest.Lower), nearest.Claimed)
}

// fewer says of which failures there would have to be fewer.
func fewer(list []decide.Judgment) string {
	var failures []string
	for _, j := range list {
		if e, ok := glossary.Find(j.Metric); ok && !slices.Contains(failures, e.Failure) {
			failures = append(failures, e.Failure)
		}
	}
	return "would change it: fewer " + listed(failures)
}

func withVerdict(list []decide.Judgment, v decide.Verdict) (of []decide.Judgment) {
	for _, j := range list {
		if j.Verdict == v {
			of = append(of, j)
		}
	}
	return of
}

// whileUndecided says what is missing: what a metric counts, questions, or a higher rate.
func whileUndecided(d result.Decision) string {
	var missing []string
	var low []decide.Judgment
	for _, j := range withVerdict(d.Criteria, decide.Inconclusive) {
		e, _ := glossary.Find(j.Metric)
		switch {
		case j.Estimate.Value == nil && j.Group != "":
		case j.Estimate.Value == nil && !slices.Contains(missing, e.Denominator):
			missing = append(missing, e.Denominator)
		case j.Estimate.Value != nil && *j.Estimate.Value < j.Claimed:
			low = append(low, j)
		}
	}
	switch {
	case missing != nil:
		return "would change it: " + listed(missing) + ", of which there are none"
	case low != nil:
		return fewer(low) + ", for GO; more " + moreUnits(d) + " like these, for NO-GO"
	case d.Further != nil && d.Further.IfRateHolds != nil:
		return fmt.Sprintf("would change it: %s, if the rates hold", "about "+diag.Count(*d.Further.IfRateHolds, "more "+strings.TrimSuffix(moreUnits(d), "s")))
	case d.Unit == stat.Auto && oneSession(d):
		return "would change it: more questions, on more sessions"
	default:
		return "would change it: more " + moreUnits(d)
	}
}

// oneSession reports whether all that was seen is of one session.
func oneSession(d result.Decision) bool {
	return !slices.ContainsFunc(d.Criteria, func(j decide.Judgment) bool { return j.Estimate.Sessions > 1 })
}

func moreUnits(d result.Decision) string {
	if d.Unit == stat.BySession {
		return "sessions"
	}
	return "questions"
}

// listed joins words with commas, and the last with "and".
func listed(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:len(words)-1], ", ") + " and " + words[len(words)-1]
}
