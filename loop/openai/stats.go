package openai

import (
	"cmp"
	"errors"
	"math"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/poimen-memory/mem/loop"
)

// Stats is what a Client has done so far. Attempts of transport are counted here; those of
// parsing are the loop's, and here are calls like any other.
type Stats struct {
	Calls        int `json:"calls"`         // that have ended, with a reply or without
	Failures     int `json:"failures"`      // of them without a reply; not those the caller gave up
	ParseRetries int `json:"parse_retries"` // of Calls those that the loop asked again for (Attempt > 1)

	Attempts     int `json:"attempts"`      // requests sent
	Retries      int `json:"retries"`       // of them after one that failed
	TooMany      int `json:"too_many"`      // answered 429
	ServerErrors int `json:"server_errors"` // answered 5xx
	Refused      int `json:"refused"`       // answered with any other error
	Broken       int `json:"broken"`        // not answered whole, or by no completion

	Errors []AttemptError `json:"errors,omitempty"` // the first 100

	Replies Replies `json:"replies"`
	Latency Latency `json:"latency"`

	PromptTokens     int64 `json:"prompt_tokens"` // the server's count, where it reports one
	CompletionTokens int64 `json:"completion_tokens"`
	Unmetered        int   `json:"unmetered"` // replies without a count

	BadUsage    int    `json:"bad_usage,omitempty"`     // of them with a count that cannot be one
	BadUsageWhy string `json:"bad_usage_why,omitempty"` // the first of those, and what a count is

	InFlight     int           `json:"-"` // attempts being made
	Waiting      int           `json:"-"` // calls in line for a connection
	InBackoff    int           `json:"-"` // calls waiting to be tried again
	BackoffUntil time.Time     `json:"-"` // when the last of them will be; zero if there are none
	FailingSince time.Time     `json:"-"` // the first failure after the last success; zero: it answers
	GivenUpAt    time.Time     `json:"-"` // when nothing more is asked, unless it answers; zero: it answers
	Limit        int           `json:"limit"`
	LimitHistory []LimitChange `json:"limit_history"` // from the first on; a long one is thinned out
}

// Failed is how many attempts brought no reply, whatever became of their calls.
func (s Stats) Failed() int { return s.TooMany + s.ServerErrors + s.Refused + s.Broken }

// AttemptError is an attempt that brought no reply.
type AttemptError struct {
	At    time.Time `json:"at"`
	Error string    `json:"error"` // one or two lines, without the key
}

const mostErrors = 100

// Replies counts completions that are not ordinary text. They are disjoint.
type Replies struct {
	Cut       int `json:"cut"`        // by the token limit
	Filtered  int `json:"filtered"`   // finish_reason content_filter
	ToolCalls int `json:"tool_calls"` // instead of text
	Refused   int `json:"refused"`    // null content with a refusal
	Null      int `json:"null"`       // null content with nothing in its place
}

// Latency is of attempts that brought a completion, from sending to the reply's last byte.
// Percentiles are nearest-rank, and up to 3 % high.
type Latency struct {
	Count int           `json:"count"`
	Sum   time.Duration `json:"sum_ns"`
	P50   time.Duration `json:"p50_ns"`
	P95   time.Duration `json:"p95_ns"`
	Max   time.Duration `json:"max_ns"`
}

// statsRecorder computes Stats.
type statsRecorder struct {
	mu        sync.Mutex
	stats     Stats
	latencies histogram
}

// attempt counts a request that took a while.
func (t *statsRecorder) attempt(a answer, err error, took time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.stats.Attempts++
	if err != nil {
		t.failed(err)
		return
	}
	t.latencies.add(took)
	t.stats.Replies.add(a.kind)
	t.use(a)
}

func (t *statsRecorder) failed(err error) {
	var f failure
	if errors.As(err, &f) && len(t.stats.Errors) < mostErrors {
		t.stats.Errors = append(t.stats.Errors, AttemptError{time.Now().UTC(), f.Error()})
	}
	switch e := err.(type) {
	case *ReplyError, *TransportError:
		t.stats.Broken++
	case *StatusError:
		t.refused(e.status())
	}
}

func (t *statsRecorder) refused(status int) {
	switch {
	case status == http.StatusTooManyRequests:
		t.stats.TooMany++
	case status >= 500:
		t.stats.ServerErrors++
	default:
		t.stats.Refused++
	}
}

func (r *Replies) add(k replyKind) {
	switch k {
	case cut:
		r.Cut++
	case filtered:
		r.Filtered++
	case toolCalls:
		r.ToolCalls++
	case refusal:
		r.Refused++
	case null:
		r.Null++
	}
}

func (t *statsRecorder) use(a answer) {
	switch {
	case a.Usage != nil:
		t.stats.PromptTokens += int64(a.Usage.PromptTokens)
		t.stats.CompletionTokens += int64(a.Usage.CompletionTokens)
		return
	case a.badUsage != "":
		t.stats.BadUsage++
		t.stats.BadUsageWhy = cmp.Or(t.stats.BadUsageWhy, a.badUsage)
	}
	t.stats.Unmetered++
}

// call counts a call that ended.
func (t *statsRecorder) call(r loop.Request, failed bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.stats.Calls++
	if r.Attempt > 1 {
		t.stats.ParseRetries++
	}
	if failed {
		t.stats.Failures++
	}
}

// pause enters a call that waits to be tried again.
func (t *statsRecorder) pause(until time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.stats.InBackoff++
	if until.After(t.stats.BackoffUntil) {
		t.stats.BackoffUntil = until
	}
}

// resume ends a pause, in another attempt or because the caller gave up.
func (t *statsRecorder) resume(retried bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if retried {
		t.stats.Retries++
	}
	if t.stats.InBackoff--; t.stats.InBackoff == 0 {
		t.stats.BackoffUntil = time.Time{}
	}
}

func (t *statsRecorder) snapshot() Stats {
	t.mu.Lock()
	defer t.mu.Unlock()
	s := t.stats
	s.Errors = slices.Clone(s.Errors)
	s.Latency = t.latencies.summary()
	return s
}

// histogram counts durations in buckets, each 3 % wider than the one before, from 10 µs to
// an hour: its size does not depend on the number of calls.
type histogram struct {
	counts   [700]int
	n        int
	sum, max time.Duration
}

const (
	bucketFrom  = float64(10 * time.Microsecond)
	bucketRatio = 1.03
)

func (h *histogram) add(d time.Duration) {
	i := int(math.Ceil(math.Log(float64(d)/bucketFrom) / math.Log(bucketRatio)))
	h.counts[min(max(i, 0), len(h.counts)-1)]++
	h.n++
	h.sum += d
	h.max = max(h.max, d)
}

func (h *histogram) summary() Latency {
	return Latency{Count: h.n, Sum: h.sum, P50: h.percentile(50), P95: h.percentile(95), Max: h.max}
}

// percentile is the upper end of the bucket that holds the rank, at most the maximum.
func (h *histogram) percentile(p int) time.Duration {
	rank, seen := (h.n*p+99)/100, 0
	for i, n := range h.counts {
		if seen += n; n > 0 && seen >= rank {
			return min(h.max, time.Duration(bucketFrom*math.Pow(bucketRatio, float64(i))))
		}
	}
	return 0
}
