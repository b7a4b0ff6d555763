// Package record is the folder that an experiment leaves: its layout, what a run writes while
// it goes on, and how that is read back. It is the only package that knows file names.
//
//	OUT/EXPERIMENT/            Folder
//	  summary.json, report.md, report.html, junit.xml    functions of the spec and the records
//	  timing.json                                        all that a clock touched
//	  runs/looks.jsonl                                   earlier decisions on live models
//	  runs/expected.json                                 live models that shards were to ask
//	  runs/RUN/events.jsonl                              what the loop decided (loop/eventlog)
//	  runs/RUN/calls.jsonl                               what was asked and answered (loop/journal)
//
// Records of live models were paid for: they are never overwritten. Files that mem did not
// create are left alone.
package record
