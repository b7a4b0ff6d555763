package main

import (
	"context"

	"github.com/poimen-memory/mem/harness"
	"github.com/poimen-memory/mem/harness/corpus"
	"github.com/poimen-memory/mem/harness/render"
	"github.com/poimen-memory/mem/harness/spec"
	"github.com/poimen-memory/mem/prompt"
)

// matrix shows the runs that would be done.
func (e *evaluation) matrix(ctx context.Context, all []experiment) error {
	for _, x := range all {
		chunks, err := chunksOf(ctx, x.Spec)
		if err != nil {
			return err
		}
		var rows []render.MatrixRow
		for _, c := range x.Cells() {
			rows = append(rows, render.MatrixRow{Cell: c, Turns: turns(c, x.Cells(), chunks)})
		}
		if err := e.show.Matrix(e.stdout, x.Spec.Experiment.Value, rows); err != nil {
			return err
		}
	}
	return nil
}

// chunksOf is the number of chunks of each session.
func chunksOf(ctx context.Context, s *spec.Spec) (map[string]int, error) {
	count, err := counter(string(s.Tokenizer))
	if err != nil {
		return nil, err
	}
	prompts, err := prompt.New(prompt.Config{Counter: count, System: s.System, Budget: prompt.Budget(s.Budget.Value)})
	if err != nil {
		return nil, err
	}
	chunks := map[string]int{}
	for _, c := range s.Corpora {
		sessions, err := corpus.Load(ctx, source(c, prompts))
		if err != nil {
			return nil, err
		}
		for _, session := range sessions {
			chunks[session.Name()] = session.Len()
		}
	}
	return chunks, nil
}

func source(c spec.Corpus, prompts *prompt.Builder) corpus.Config {
	cfg := corpus.Config{
		ID: c.ID.Value, Path: c.Path.Value, Prompts: prompts,
		Pack: corpus.Pack{Tokens: c.Chunk.Tokens.Value, Records: c.Chunk.Records.Value},
	}
	if c.Import != nil {
		cfg.Path, cfg.Format, cfg.Join = c.Import.Path.Value, c.Import.Format, c.Import.Join
	}
	return cfg
}

// turns bounds what a run reads: the chunks of its session or, over memories, one of each
// L1 run that it rests on.
func turns(c harness.Cell, all []harness.Cell, chunks map[string]int) int {
	if c.Session != harness.MemoriesSession {
		return chunks[c.Session]
	}
	n := 0
	for _, o := range all {
		if o.Level == 1 && o.ExitGate == spec.Record && o.Query == c.Query && o.Model == c.Model && o.Trial == c.Trial {
			n++
		}
	}
	return n
}
