// Package plan turns a spec and its corpora into the ordered list of runs: what each run
// reads, which runs it depends on, the prompts that will be sent, and what that will take.
//
// A Plan is complete before anything runs and is the same on every machine. Package run
// executes it, package result judges records against it, and neither changes it; what a shard
// leaves to others is taken off the selection before. Plan asks no model and writes no file.
package plan
