// Package stat turns turns into gate metrics with intervals, and these into a decision.
// Numbers in, numbers out: it knows no log, no spec and no model. docs/statistics.md explains
// the statistics.
//
//	Sample.Add(Run)  collects the runs of one model, level and exit setting, one at a time
//	Sample.Measure   every metric: value, interval, sample size (an Estimate)
//	Sample.By        a metric on each group of a tag
//	Sample.Decide    GO, NO-GO, INCONCLUSIVE or INVALID, by a Rule
//
// The intervals are those of package cluster; packages compare, power, answer and confidence
// compare models, plan experiments, score answers and describe recorded probabilities.
//
// A ratio with a zero denominator is undefined: a nil pointer here, null in JSON, an en dash
// in text, always with its reason; never 0 and never NaN.
package stat
