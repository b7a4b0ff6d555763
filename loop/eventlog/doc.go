// Package eventlog writes, reads and verifies event logs. A log is a file of JSON lines that
// records what one run of package loop decided: run_start, the events of each turn, and
// run_end. A turn is one of
//
//	gate                      no: the memory is retained
//	gate evidence memory      yes: the memory is replaced
//	gate budget_exceeded      yes, and the candidate was too long
//	parse_failed              no reply could be parsed
//
// Every line has the keys type and level; the other keys are those of the event types of
// package loop. Token numbers are in the tokenizer that run_start names, hashes are SHA-256 in
// hex.
//
// Writer writes run_start, each turn and run_end with one write each. The same events give the
// same bytes everywhere: keys have a fixed order, and no time, path or name is written.
//
// Turns reads a log turn by turn and checks the order of its events; Read gives the events
// alone. Verify recomputes everything that follows from something else in the log (numbers,
// levels, hashes, parents, counts, what ended the run) and reports one of three states:
//
//   - complete: from run_start to run_end;
//   - interrupted: whole turns, then at most the beginning of run_start, a turn or run_end. A
//     log that is cut at any byte is interrupted;
//   - corrupt: anything else, with the line and the rule.
//
// See ExampleVerify. A log has no digest of itself. Values that occur in it once, such as
// query_sha or the chunk_sha of a turn that retained, cannot be verified from it; package
// journal's End holds the SHA-256 of the finished log.
//
// A run that continues a session has start_turn and start_memory_sha in its run_start. Its
// turns are numbered on from start_turn, its first memory has the start memory as a parent,
// and chunks_seen and chunks_used count the turns of this log only. final_memory_sha is
// start_memory_sha if no turn wrote a memory.
package eventlog
