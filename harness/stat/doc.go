// Package stat turns turns into gate metrics with intervals, and these into a decision, a
// comparison or a plan. Numbers in, numbers out: it knows no log, no spec and no model.
//
// The way through it:
//
//	[]Run → Groups → Metric (an Estimate: value, interval, units, notes)   metrics.go
//	[]Run → Decide → Decision (GO, NO-GO, INCONCLUSIVE, INVALID)           decision.go
//	[]Run, []Run → Compare → Comparison (difference, sign-flip test)       compare.go
//	Plan → Power (how many queries decide, at assumed rates)               power.go
//
// The independent unit is the query. Turns of a run share a memory and trials of a query
// share a question, so neither is a sample of its own: an interval over turns (Wilson's,
// say) claims a certainty that the data do not have, and is not offered.
//
// A ratio with a zero denominator is undefined: a nil pointer here, null in JSON, an en
// dash in text, always with its reason; never 0 and never NaN.
package stat
