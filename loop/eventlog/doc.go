// Package eventlog writes, reads and verifies a run's log: one JSON event a line, one
// write a unit (the opening, a turn, the end).
//
// Verify tells a log that is complete from one that was interrupted and from one that no
// run ever wrote. A log cut at any byte is interrupted and keeps its verified turns; a
// changed byte is corrupt wherever anything else in the log lets it be recomputed.
package eventlog
