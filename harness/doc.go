// Package harness runs experiments: it expands a spec to a matrix of runs, takes each
// through the loop over its corpus, has the checks judge what was sent and logged, and
// gathers a Result that renderers show.
//
// It knows no command line, no concrete model and no output format: models and token
// counters come from a factory, progress goes to a callback, and what a run leaves is
// written below Config.Out as it goes, so that nothing done is lost when something later
// fails.
package harness
