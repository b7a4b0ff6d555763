package openai

import (
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// farOff is longer than any wait that is heeded, and short enough for arithmetic.
const farOff = 1000 * time.Hour

// retryAfter is the wait that a refusal asks for; 0 is none. Retry-After-Ms goes before
// Retry-After, and both before the times at which rate limits are reset, which many servers
// send with every reply: they are an answer only where one was refused for load.
func retryAfter(status int, h http.Header, now time.Time) time.Duration {
	if theirs, err := http.ParseTime(h.Get("Date")); err == nil {
		now = theirs // a time is one of the server's own clock
	}
	if ms, err := strconv.ParseFloat(h.Get("Retry-After-Ms"), 64); err == nil && ms > 0 {
		return duration(ms / 1000)
	}
	if wait, ok := parseWait(h.Get("Retry-After"), now); ok {
		return wait
	}
	switch status {
	case http.StatusTooManyRequests, http.StatusServiceUnavailable, statusOverloaded:
		return resetAfter(h, now)
	}
	return 0
}

// resetAfter is when the limits are reset that may have refused a request: the latest of
// those that are used up or do not say so, or the first of those that are not used up.
func resetAfter(h http.Header, now time.Time) (wait time.Duration) {
	var left time.Duration
	for name := range h {
		limit, ok := strings.CutPrefix(strings.ToLower(name), "x-")
		if !ok {
			limit = strings.TrimPrefix(limit, "anthropic-")
		}
		if !strings.HasPrefix(limit, "ratelimit-") || !strings.Contains(limit, "reset") {
			continue
		}
		after, ok := parseWait(h.Get(name), now)
		remaining, err := strconv.ParseFloat(h.Get(strings.Replace(strings.ToLower(name), "reset", "remaining", 1)), 64)
		switch {
		case !ok:
		case err != nil || remaining <= 0:
			wait = max(wait, after)
		case left == 0 || after < left:
			left = after
		}
	}
	if wait == 0 {
		return left
	}
	return wait
}

// parseWait reads seconds, a duration such as 6m0s, a date of HTTP or RFC 3339, or a time
// since 1970 in seconds or milliseconds.
func parseWait(value string, now time.Time) (time.Duration, bool) {
	value = strings.TrimSpace(value)
	if n, err := strconv.ParseFloat(value, 64); err == nil {
		switch {
		case math.IsNaN(n):
			return 0, false
		case n >= 1e15: // nothing that is a time
			return farOff, true
		case n >= 1e11:
			return until(time.UnixMilli(int64(n)), now), true
		case n >= 1e9:
			return until(time.Unix(int64(n), 0), now), true
		}
		return duration(n), true
	}
	if d, err := time.ParseDuration(value); err == nil {
		return min(max(d, 0), farOff), true
	}
	if at, err := http.ParseTime(value); err == nil {
		return until(at, now), true
	}
	if at, err := time.Parse(time.RFC3339, value); err == nil {
		return until(at, now), true
	}
	return 0, false
}

func until(at, now time.Time) time.Duration { return min(max(at.Sub(now), 0), farOff) }

func duration(seconds float64) time.Duration {
	return time.Duration(min(max(seconds, 0), farOff.Seconds()) * float64(time.Second))
}
