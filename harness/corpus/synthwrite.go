package corpus

import (
	"context"
	"io"

	"github.com/poimen-memory/mem/prompt"
)

// Sample is a synthetic session that is to be written.
type Sample struct {
	Name    string // its number, with its length if there are several
	part    part
	counter prompt.Counter
}

// Synthesize plans the sessions of a Synth, as Load does for a corpus named id.
func Synthesize(ctx context.Context, id string, s Synth, counter prompt.Counter) ([]Sample, error) {
	prompts, err := prompt.New(prompt.Config{Counter: counter})
	if err != nil {
		return nil, err
	}
	l := &loader{Config: Config{ID: id, Synth: &s, Prompts: prompts}}
	parts, err := l.synthesize(ctx)
	if err != nil {
		return nil, err
	}
	var samples []Sample
	for _, p := range parts {
		samples = append(samples, Sample{p.name, p, counter})
	}
	return samples, nil
}

// Write makes the session's records and writes them as a JSONL corpus. What comes back
// has its query, with labels that name the records.
func (s Sample) Write(ctx context.Context, out io.Writer) (*Imported, error) {
	return newImporting(ImportConfig{Counter: s.counter}, out).all(ctx, part{read: s.part.read, own: s.part.own})
}
