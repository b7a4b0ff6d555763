// Package journal writes and reads call journals. A journal is a file of JSON lines that
// records the model calls of one run:
//
//   - line 1 is the Header: the template, query, session, budget (in tokens), tokenizer, model
//     and sampling parameters that the calls were made with;
//   - each line after it is a Call: one attempt at a turn, with its request and its reply or
//     error. It is written, and synced if the Recorder has a Sync, before the loop sees the
//     reply;
//   - the last line is the End: how the run ended, and the SHA-256 of its event log. A run
//     that was killed has none.
//
// A Recorder writes a journal while it asks a Model; Read and Reader read one; a Replay answers
// requests from one, so that a journal is also a recording. See ExampleReplay. API keys, HTTP
// headers and durations are never written.
//
// Each line ends with the key "chain": the SHA-256 of the previous line's chain and of the
// bytes of this line before the key. Read returns a *Corrupt error, with the line, if a byte
// was changed or a line was moved, repeated, removed or taken from another journal. The chain
// detects accidents and edits. It is not a signature: a program that computes the chain again
// can write any journal.
//
// Read drops an incomplete last line, whose reply was never used. A journal that lacks whole
// lines at its end is that of an interrupted run.
//
// Journals of schema 1 have no chain and no End; their replies cannot be verified. A run
// that is resumed from one appends lines of schema 1.
package journal
