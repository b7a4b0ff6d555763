package harness

import (
	"github.com/poimen-memory/mem/harness/corpus"
	"github.com/poimen-memory/mem/harness/spec"
)

// synth is what the spec has a corpus made of, nil if it is not made.
func synth(s *spec.Synth) *corpus.Synth {
	if s == nil {
		return nil
	}
	made := &corpus.Synth{
		Task: s.Task.Value, Samples: s.Samples.Value, Needles: s.Needles.Value, Values: s.Values.Value,
		Queries: s.Queries.Value, Depth: string(s.Depth.Value), Seed: s.Seed.Value,
		Haystack: s.Haystack.Name.Value, File: s.Haystack.File.Value,
	}
	if f := s.From; f != nil {
		made.From = corpus.From{Format: f.Format.Value, Path: f.Path.Value, Labels: f.Labels.Value}
	}
	if made.File != "" {
		made.Haystack = "file"
	}
	if s.Tokens.Present() {
		made.Lengths = []int{int(s.Tokens.Value)}
	}
	for _, l := range s.Lengths.Value {
		made.Lengths = append(made.Lengths, int(l))
	}
	return made
}
