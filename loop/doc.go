// Package loop is the gated recurrence of GRU-Mem (arXiv 2602.10560, Algorithm 1;
// seed M1.5): for each chunk one model call decides whether the memory is replaced
// (update gate) and whether enough was read (exit gate).
//
// It refuses to guess: a reply that does not parse is asked for again, twice, and then
// the turn retains; an over-budget candidate is never cut, the turn retains. A turn's
// events are emitted together once it is resolved, so a run killed at any instant
// leaves whole turns.
package loop
