package plan

import (
	"fmt"

	"github.com/poimen-memory/mem/harness/diag"
	"github.com/poimen-memory/mem/harness/spec"
	"github.com/poimen-memory/mem/harness/synth"
)

// synthConfig is what a spec generates a corpus from.
func synthConfig(s *spec.Synth) synth.Config {
	made := synth.Config{
		Task: s.Task.Value, Samples: s.Samples.Value, Needles: s.Needles.Value, Values: s.Values.Value,
		Queries: s.Queries.Value, Depth: string(s.Depth.Value), Seed: s.Seed.Value,
		Haystack: s.Haystack.Name.Value, File: s.Haystack.File.Value,
	}
	if f := s.From; f != nil {
		made.From = synth.From{Format: f.Format.Value, Path: f.Path.Value, Labels: f.Labels.Value}
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

// synthField is where the spec has the field that an error is about, and the error without
// the field's name; of a field that is not written, the map and the whole error but for its "synth: ".
func synthField(s *spec.Synth, err *synth.FieldError) (diag.Place, error) {
	fields := map[string]diag.Place{
		"tokens": s.Tokens.Place, "samples": s.Samples.Place, "needles": s.Needles.Place, "values": s.Values.Place,
		"queries": s.Queries.Place, "depth": s.Depth.Place, "haystack": s.Haystack.At,
	}
	if s.Lengths.Present() {
		fields["tokens"] = s.Lengths.Place
	}
	if at := fields[err.Field]; at.Present() {
		return at, err.Err
	}
	return s.At, fmt.Errorf("%s: %w", err.Field, err.Err)
}
