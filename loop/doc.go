// Package loop runs the gated recurrent memory loop of GRU-Mem (arXiv 2602.10560,
// Algorithm 1). It reads a session chunk by chunk and keeps one memory, a text:
//
//	t ← 1;  M_0 ← none
//	while there is a chunk C_t:
//	    U_t, M̂_t, E_t = φ(Q, C_t, M_{t-1})        one call of the Model
//	    if U_t:  M_t ← M̂_t    else:  M_t ← M_{t-1}
//	    if UseExitGate and E_t: stop
//	    t ← t + 1
//	answer = ψ(Q, M_t)                             AskAnswer
//
// See ExampleRun. Run takes the chunks as a sequence, asks a Model, and hands each turn's events to a Sink
// as one unit once the turn is resolved. A run that is cancelled or killed leaves whole
// turns. It holds one chunk and one memory, so a stream may be endless. Config can give the
// turn and the memory from which a run continues.
//
// The rules of a turn:
//
//   - A reply that cannot be parsed is asked for again with the same bytes, Attempts times in
//     all. Then the turn is ParseFailed and retains the memory. No gate has a default.
//   - A candidate that is longer than the memory budget is BudgetExceeded, and the turn
//     retains the memory. Nothing is truncated.
//   - To retain is to send the same bytes at the next turn.
//   - The exit gate is recorded at every turn and acted on with Config.UseExitGate only. It
//     ends the run also if the turn's update was rejected.
//   - The level is recorded and changes nothing else.
//
// A call that brings no reply is neither a gate's decision nor a parse failure: Run returns a
// *ModelError and the state after the last whole turn. Errors of models have kinds
// (Misconfigured, ContextLength, NotSent) that callers can tell apart. A Config that cannot run
// is a *ConfigError.
package loop
