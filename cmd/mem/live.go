package main

import (
	"errors"
	"fmt"
	"os"
	"sync"

	"github.com/poimen-memory/mem/harness"
	"github.com/poimen-memory/mem/harness/spec"
	"github.com/poimen-memory/mem/harness/spec/yamlpos"
	"github.com/poimen-memory/mem/loop"
	"github.com/poimen-memory/mem/loop/openai"
)

// clients are the live models of one evaluation, by the id of their experiment and model.
// Specs that write a model the same way share one client, and with it its limits.
type clients struct {
	meter   *meter
	mu      sync.Mutex
	byModel map[[2]string]*openai.Client
	same    map[string]*openai.Client
	warned  []string
}

func newClients(m *meter) *clients {
	return &clients{meter: m, byModel: map[[2]string]*openai.Client{}, same: map[string]*openai.Client{}}
}

// open makes the clients of a spec's live models that are to run. No connection is opened;
// what the environment lacks is an error at its position.
func (c *clients) open(s *spec.Spec, cells []harness.Cell) yamlpos.Errors {
	var errs yamlpos.Errors
	for i := range s.Models {
		m := &s.Models[i]
		if m.Live == nil || !used(m.ID.Value, cells) {
			continue
		}
		live, wrong := m.Live.Expand(os.LookupEnv)
		if errs = append(errs, wrong...); wrong != nil {
			continue
		}
		client, err := c.client(live)
		if err != nil {
			errs = append(errs, live.At.Errorf("%v", err))
			continue
		}
		c.byModel[[2]string{s.Experiment.Value, m.ID.Value}] = client
	}
	return errs
}

func used(model string, cells []harness.Cell) bool {
	for _, cell := range cells {
		if cell.Model == model {
			return true
		}
	}
	return false
}

func (c *clients) client(live spec.Live) (*openai.Client, error) {
	cfg := liveConfig(live)
	key := fmt.Sprintf("%+v %v", cfg.Limits, live.APIKeyEnv.Value) + cfg.BaseURL + " " + cfg.Model + sampling(cfg)
	if client := c.same[key]; client != nil {
		return client, nil
	}
	client, err := openai.New(cfg)
	if err != nil {
		return nil, err
	}
	c.same[key] = client
	c.warned = append(c.warned, cfg.Warnings()...)
	return client, nil
}

// sampling tells configurations apart whose requests differ.
func sampling(cfg openai.Config) string {
	client, err := openai.New(cfg)
	if err != nil {
		return err.Error()
	}
	return fmt.Sprintf("%s %v %v %v", client.Sampling(), cfg.Timeout, cfg.Retry, cfg.MaxResponseBytes)
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
