// Package forecast says what a plan would take before anything runs: calls, tokens and cost of
// its runs, what prompts over its corpora take, and how many queries a decision needs.
package forecast
