package synth

import (
	"context"
	"io"

	"github.com/poimen-memory/mem/harness/corpus"
	"github.com/poimen-memory/mem/prompt"
)

// Sample is a generated session that is to be written.
type Sample struct {
	Name    string // its number, with its length if there are several
	source  corpus.Source
	counter prompt.Counter
}

// Plan plans the sessions that corpus.Load generates for a corpus named id.
func (s Config) Plan(ctx context.Context, id string, counter prompt.Counter) ([]Sample, error) {
	prompts, err := prompt.New(prompt.Config{Counter: counter})
	if err != nil {
		return nil, err
	}
	sources, err := s.Sources(ctx, corpus.Config{ID: id, Prompts: prompts})
	if err != nil {
		return nil, err
	}
	var samples []Sample
	for _, source := range sources {
		samples = append(samples, Sample{source.Name, source, counter})
	}
	return samples, nil
}

// Write generates the session's records and writes them as a JSONL corpus. The result has its
// query, with labels that name the records.
func (s Sample) Write(ctx context.Context, out io.Writer) (*corpus.Written, error) {
	return corpus.Write(ctx, corpus.Source{Records: s.source.Records, Queries: s.source.Queries}, "", s.counter, out)
}
