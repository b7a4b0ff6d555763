package main

import (
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"time"

	"github.com/poimen-memory/mem/harness"
	"github.com/poimen-memory/mem/harness/render"
	"github.com/poimen-memory/mem/loop/openai"
)

// timing is timing.json: all that a clock or a host touched, so that nothing else of a
// report is. An evaluation that resumes another adds its session to those before; one that
// was killed has left none.
type timing struct {
	Schema   int           `json:"schema"`
	Sessions []evalSession `json:"sessions"`
}

const timingSchema = 1

// evalSession is one evaluation of an experiment.
type evalSession struct {
	Started time.Time     `json:"started"`
	Took    time.Duration `json:"took_ns"`
	Program string        `json:"program"`
	Go      string        `json:"go"`
	OS      string        `json:"os"` // and architecture
	CPUs    int           `json:"cpus"`
	Runs    []runTime     `json:"runs"`             // those that took place, in the order of the result
	Models  []served      `json:"models,omitempty"` // live ones
}

type runTime struct {
	Run   string        `json:"run"`
	Turns int           `json:"turns"`
	Took  time.Duration `json:"took_ns"`
}

// served is what a live model's server did, in this session only.
type served struct {
	Model string `json:"model"`
	URL   string `json:"base_url"`
	openai.Stats
}

// stopwatch keeps how long runs took, by experiment/run.
type stopwatch struct {
	mu   sync.Mutex
	took map[string]time.Duration
}

// timed is a harness.Config.Timed.
func (w *stopwatch) timed(run string, took time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.took == nil {
		w.took = map[string]time.Duration{}
	}
	w.took[run] = took
}

// session is what an experiment took that has just ended.
func (w *stopwatch) session(r *harness.Result, started time.Time, models []served) evalSession {
	w.mu.Lock()
	defer w.mu.Unlock()
	s := evalSession{
		Started: started.UTC(), Took: time.Since(started), Program: version(), Go: runtime.Version(),
		OS: runtime.GOOS + "/" + runtime.GOARCH, CPUs: runtime.NumCPU(), Runs: []runTime{}, Models: models,
	}
	for _, run := range r.Runs {
		if took, ok := w.took[r.Experiment+"/"+run.Name]; ok {
			s.Runs = append(s.Runs, runTime{run.Name, run.ChunksSeen, took})
		}
	}
	return s
}

// saveTiming writes timing.json, after the sessions of dir that this one goes on from.
func saveTiming(dir string, s evalSession, resumed bool) error {
	path := filepath.Join(dir, "timing.json")
	t := timing{Schema: timingSchema}
	if resumed {
		t.Sessions = earlierSessions(path)
	}
	t.Sessions = append(t.Sessions, s)
	return writeFile(path, func(w io.Writer) error {
		enc := json.NewEncoder(w)
		enc.SetIndent("", "  ")
		return enc.Encode(t)
	})
}

// earlierSessions are none where the file is not one of this schema: times are no results,
// and not worth a failure.
func earlierSessions(path string) []evalSession {
	data, err := os.ReadFile(path)
	var t timing
	if err != nil || json.Unmarshal(data, &t) != nil || t.Schema != timingSchema {
		return nil
	}
	return t.Sessions
}

// serviceRows are a session's live models as a person wants to see them; one that was
// asked nothing has no row.
func serviceRows(s evalSession) (rows []render.ServiceRow) {
	for _, m := range s.Models {
		if m.Attempts == 0 {
			continue
		}
		turns := max(m.Latency.Count-m.ParseRetries, 0) // replies to a turn's first call
		rows = append(rows, render.ServiceRow{
			Model: m.Model, Calls: m.Latency.Count, P50: m.Latency.P50, P95: m.Latency.P95,
			TokensPerSecond: float64(m.CompletionTokens) / s.Took.Seconds(), TurnsPerMinute: float64(turns) / s.Took.Minutes(),
			Retries: m.Retries, Limit: m.Limit, Most: m.LimitHistory[0].Limit,
		})
	}
	return rows
}
