// Package timing measures evaluations and keeps timing.json, the only file of an experiment's
// folder that a clock or a host touches.
package timing

import (
	"encoding/json"
	"io"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/poimen-memory/mem/harness/atomicfile"
	"github.com/poimen-memory/mem/harness/models"
	"github.com/poimen-memory/mem/harness/record"
	"github.com/poimen-memory/mem/harness/render"
	"github.com/poimen-memory/mem/harness/result"
	"github.com/poimen-memory/mem/internal/inputfile"
)

// file is timing.json. An evaluation that resumes another adds its session to those before; one
// that was killed has left none.
type file struct {
	Schema   int       `json:"schema"`
	Sessions []Session `json:"sessions"`
}

const schema = 1

// Session is one evaluation of an experiment.
type Session struct {
	Started time.Time       `json:"started"`
	Took    time.Duration   `json:"took_ns"`
	Shard   string          `json:"shard,omitempty"` // of several that executed the experiment: 3/7
	Program string          `json:"program"`
	Go      string          `json:"go"`
	OS      string          `json:"os"` // and architecture
	CPUs    int             `json:"cpus"`
	Runs    []Run           `json:"runs"`             // those that took place, in the order of the result
	Models  []models.Served `json:"models,omitempty"` // live ones
}

// Run is how long one run took.
type Run struct {
	Name  string        `json:"run"`
	Turns int           `json:"turns"`
	Took  time.Duration `json:"took_ns"`
}

// Stopwatch keeps how long runs took, by experiment/run.
type Stopwatch struct {
	mu   sync.Mutex
	took map[string]time.Duration
}

// Timed is a run.Config.Timed.
func (w *Stopwatch) Timed(run string, took time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.took == nil {
		w.took = map[string]time.Duration{}
	}
	w.took[run] = took
}

// Session is what an experiment took that has just ended. program is the version of mem.
func (w *Stopwatch) Session(program string, r *result.Result, started time.Time, live []models.Served) Session {
	w.mu.Lock()
	defer w.mu.Unlock()
	s := Session{
		Started: started.UTC(), Took: time.Since(started), Program: program, Go: runtime.Version(),
		OS: runtime.GOOS + "/" + runtime.GOARCH, CPUs: runtime.NumCPU(), Runs: []Run{}, Models: live,
	}
	for _, run := range r.Runs {
		if took, ok := w.took[r.Experiment+"/"+run.Name]; ok {
			s.Runs = append(s.Runs, Run{run.Name, run.ChunksSeen, took})
		}
	}
	return s
}

// Save writes timing.json, after the sessions of the folder that this one goes on from.
func Save(write render.WriteFile, folder record.Folder, s Session, resumed bool) error {
	var earlier []Session
	if resumed {
		earlier = earlierSessions(folder.Path(record.Timing))
	}
	return save(write, folder, append(earlier, s))
}

// SaveShard is Save of one of several processes that write into the folder. What other shards
// saved stays.
func SaveShard(write render.WriteFile, folder record.Folder, s Session, resumed bool) error {
	return record.Alone(folder, record.Timing, func() error {
		earlier := slices.DeleteFunc(earlierSessions(folder.Path(record.Timing)), func(e Session) bool {
			return !resumed && (e.Shard == "" || e.Shard == s.Shard)
		})
		return save(write, folder, append(earlier, s))
	})
}

// Merge unites the sessions of folders in the folder to, each once, in the order of time.
func Merge(to record.Folder, from []record.Folder) error {
	var all []Session
	seen := map[string]bool{}
	for _, f := range append([]record.Folder{to}, from...) {
		for _, s := range earlierSessions(f.Path(record.Timing)) {
			text, err := json.Marshal(s)
			if err != nil {
				return err
			}
			if !seen[string(text)] {
				seen[string(text)] = true
				all = append(all, s)
			}
		}
	}
	if len(all) == 0 {
		return nil
	}
	slices.SortStableFunc(all, func(a, b Session) int { return a.Started.Compare(b.Started) })
	return save(atomicfile.Write, to, all)
}

func save(write render.WriteFile, folder record.Folder, sessions []Session) error {
	return write(folder.Path(record.Timing), func(w io.Writer) error {
		enc := json.NewEncoder(w)
		enc.SetIndent("", "  ")
		return enc.Encode(file{schema, sessions})
	})
}

// earlierSessions are none where the file is not one of this schema: times are no results,
// and does not fail the command.
func earlierSessions(path string) []Session {
	data, err := inputfile.Read(path, inputfile.MaxSummary)
	var t file
	if err != nil || json.Unmarshal(data, &t) != nil || t.Schema != schema {
		return nil
	}
	return t.Sessions
}

// Service is how the servers of a session's live models did. One that was asked nothing has no
// row.
func (s Session) Service() (rows []render.ServiceRow) {
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
