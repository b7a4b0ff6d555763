// Package result computes what an experiment came to from its plan and the records of its
// runs. Summarize is a pure function of the two: it asks no model, reads no clock and opens
// nothing but records, so that a result can be computed again with corrected labels, answers
// or thresholds, and records may come from several machines.
package result
