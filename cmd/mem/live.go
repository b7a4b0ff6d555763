package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/poimen-memory/mem/harness"
	"github.com/poimen-memory/mem/harness/spec"
	"github.com/poimen-memory/mem/harness/spec/yamlpos"
	"github.com/poimen-memory/mem/loop"
	"github.com/poimen-memory/mem/loop/openai"
)

// clients are the live models of one evaluation, by experiment and model. A model's limits
// hold for all its runs: experiments are run one after the other.
type clients struct {
	meter   *meter
	waiting func(model string, until time.Time, why error) // when a call begins to wait to be tried again
	tries   int                                            // attempts of a call; 0: as the spec says
	byModel map[[2]string]*openai.Client
	warned  []string // each once
}

func newClients(m *meter, waiting func(string, time.Time, error)) *clients {
	return &clients{meter: m, waiting: waiting, byModel: map[[2]string]*openai.Client{}}
}

// open makes the clients of a spec's live models that are to run, which ask nothing more
// when ctx is done. No connection is opened; what the environment lacks is an error at its position.
func (c *clients) open(ctx context.Context, s *spec.Spec, cells []harness.Cell) yamlpos.Errors {
	var errs yamlpos.Errors
	for i := range s.Models {
		m := &s.Models[i]
		if m.Live == nil || !used(m.ID.Value, cells) {
			continue
		}
		if m.Price == nil && c.meter.maxCost > 0 {
			errs = append(errs, m.At.Errorf("price is missing, and --max-cost goes by it"))
		}
		live, wrong := m.Live.Expand(os.LookupEnv)
		if errs = append(errs, wrong...); wrong != nil {
			continue
		}
		if err := c.add(ctx, s.Experiment.Value, m.ID.Value, liveConfig(live)); err != nil {
			errs = append(errs, live.At.Errorf("%v", err))
		}
	}
	return errs
}

func (c *clients) add(ctx context.Context, experiment, model string, cfg openai.Config) error {
	cfg.Until = ctx
	if c.tries > 0 {
		cfg.Retry.MaxTries = c.tries
	}
	cfg.Waiting = func(until time.Time, why error) { c.waiting(model, until, why) }
	client, err := openai.New(cfg)
	if err != nil {
		return err
	}
	c.byModel[[2]string{experiment, model}] = client
	for _, w := range cfg.Warnings() {
		if !slices.Contains(c.warned, w) {
			c.warned = append(c.warned, w)
		}
	}
	return nil
}

// served is what the servers of a spec's live models did so far.
func (c *clients) served(s *spec.Spec) (list []served) {
	for i := range s.Models {
		id := s.Models[i].ID.Value
		if client := c.byModel[[2]string{s.Experiment.Value, id}]; client != nil {
			list = append(list, served{id, client.BaseURL(), client.Stats()})
		}
	}
	return list
}

// status is how a spec's live models stand, in a line; nil if none is to run.
func (c *clients) status(s *spec.Spec) func() string {
	if len(c.served(s)) == 0 {
		return nil
	}
	return func() string {
		var sum openai.Stats
		for _, m := range c.served(s) {
			sum.InFlight += m.InFlight
			sum.Limit += m.Limit
			sum.Broken += m.Failed()
			if m.BackoffUntil.After(sum.BackoffUntil) {
				sum.BackoffUntil = m.BackoffUntil
			}
		}
		_, usd := c.meter.now()
		line := fmt.Sprintf("%d of %d calls in flight, %d failed, %.4f USD", sum.InFlight, sum.Limit, sum.Broken, usd)
		if time.Until(sum.BackoffUntil) > 0 {
			line += ", waits until " + sum.BackoffUntil.Format(time.TimeOnly)
		}
		return line
	}
}

func used(model string, cells []harness.Cell) bool {
	for _, cell := range cells {
		if cell.Model == model {
			return true
		}
	}
	return false
}

func liveConfig(l spec.Live) openai.Config {
	return openai.Config{
		BaseURL: l.BaseURL.Value, Model: l.Model.Value, APIKey: openai.NewKey(os.Getenv(l.APIKeyEnv.Value)),
		Params: openai.Params{
			Temperature: given(l.Temperature), TopP: given(l.TopP), Seed: given(l.Seed),
			Stop: l.Stop, MaxTokensField: l.MaxTokensField, Extra: l.Extra,
		},
		Timeout: l.Timeout.Value, MaxResponseBytes: l.MaxResponseBytes.Value,
		Retry: openai.Retry{MaxTries: l.MaxTries, MaxElapsed: l.MaxElapsed.Value, MaxRetryAfter: l.MaxRetryAfter.Value},
		Limits: openai.Limits{
			MaxConnections: l.Connections(), RequestsPerMinute: l.RequestsPerMinute, TokensPerMinute: l.TokensPerMinute,
		},
	}
}

// given is what was written, nil for what was not: it is not sent.
func given[T any](field yamlpos.At[T]) *T {
	if !field.Present() {
		return nil
	}
	return &field.Value
}

// model is the live model of one run.
func (c *clients) model(m harness.ModelFor) (loop.Model, error) {
	client := c.byModel[[2]string{m.Spec.Experiment.Value, m.Cell.Model}]
	if client == nil {
		return nil, errors.New("a live model is run with --live only")
	}
	return metered{client.Trial(m.Cell.Trial), c.meter, m.Model}, nil
}
