package fakeserver

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Fault is a way to fail one request. The zero value is none: the answer is given.
type Fault struct {
	Name string
	// Serve does it in place of the answer, whose whole body it is given.
	Serve func(w http.ResponseWriter, r *http.Request, answer []byte)
}

// Plan says how each request fails. It is called from many goroutines.
type Plan func(Request) Fault

// Script fails the first requests with faults, in order of arrival, and no other.
func Script(faults ...Fault) Plan {
	return func(r Request) Fault {
		if r.N > len(faults) {
			return Fault{}
		}
		return faults[r.N-1]
	}
}

// Random fails a rate of all requests, each with one of faults, and no request more than
// most times. The draw depends on seed, the request's bytes and how often they came.
func Random(seed uint64, rate float64, most int, faults ...Fault) Plan {
	return func(r Request) Fault {
		draw := chance(seed, r)
		if r.Again >= most || draw.Float64() >= rate {
			return Fault{}
		}
		return faults[draw.IntN(len(faults))]
	}
}

// Passing is a fault of each kind that a client should survive by asking again.
func Passing() []Fault {
	return []Fault{
		TooMany("0"), TooMany(""), Status(http.StatusInternalServerError, VLLM), Status(http.StatusServiceUnavailable, LlamaCpp),
		ErrorIn200(), Truncated(), Dropped(), Reset(),
	}
}

// TooMany is 429, with a Retry-After of those bytes unless they are empty.
func TooMany(retryAfter string) Fault {
	return Fault{"too many", func(w http.ResponseWriter, _ *http.Request, _ []byte) {
		if retryAfter != "" {
			w.Header().Set("Retry-After", retryAfter)
		}
		writeJSON(w, http.StatusTooManyRequests, VLLM.Error(http.StatusTooManyRequests, "slow down"))
	}}
}

// Status is an error status with the shape's error body.
func Status(status int, s Shape) Fault {
	return Raw(status, "application/json", string(s.Error(status, "fault: "+http.StatusText(status))))
}

// Raw is a whole response as it stands.
func Raw(status int, contentType, body string) Fault {
	return Fault{"status " + strconv.Itoa(status), func(w http.ResponseWriter, _ *http.Request, _ []byte) {
		w.Header().Set("Content-Type", contentType)
		w.WriteHeader(status)
		w.Write([]byte(body))
	}}
}

// ErrorIn200 is an error body under status 200.
func ErrorIn200() Fault {
	return named("error in 200", Raw(http.StatusOK, "application/json", string(VLLM.Error(http.StatusInternalServerError, "engine died"))))
}

// NoChoices is a completion with an empty list of choices.
func NoChoices() Fault {
	return named("no choices", Raw(http.StatusOK, "application/json", `{"object":"chat.completion","choices":[]}`))
}

// NullChoice is a completion whose only choice is null.
func NullChoice() Fault {
	return named("null choice", Raw(http.StatusOK, "application/json", `{"object":"chat.completion","choices":[null]}`))
}

// Answer is the whole answer with another status, and with headers, in pairs.
func Answer(status int, headers ...string) Fault {
	return Fault{"answer " + strconv.Itoa(status), func(w http.ResponseWriter, _ *http.Request, answer []byte) {
		set(w, headers)
		writeJSON(w, status, answer)
	}}
}

// Refusal is an error status with headers, in pairs.
func Refusal(status int, headers ...string) Fault {
	return Fault{"refusal " + strconv.Itoa(status), func(w http.ResponseWriter, _ *http.Request, _ []byte) {
		set(w, headers)
		writeJSON(w, status, VLLM.Error(status, "fault: "+http.StatusText(status)))
	}}
}

func set(w http.ResponseWriter, headers []string) {
	for i := 0; i+1 < len(headers); i += 2 {
		w.Header().Set(headers[i], headers[i+1])
	}
}

// Malformed is JSON that breaks off, in a response that is whole.
func Malformed() Fault {
	return Fault{"malformed", func(w http.ResponseWriter, _ *http.Request, answer []byte) {
		writeJSON(w, http.StatusOK, answer[:len(answer)/2])
	}}
}

// WrongType is a gateway's page under status 200.
func WrongType() Fault {
	return named("wrong type", Raw(http.StatusOK, "text/html", "<html><body>Please log in</body></html>"))
}

func named(name string, f Fault) Fault {
	f.Name = name
	return f
}

// Truncated announces the whole answer and closes the connection after half.
func Truncated() Fault {
	return Fault{"truncated", func(w http.ResponseWriter, _ *http.Request, answer []byte) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Content-Length", strconv.Itoa(len(answer)))
		w.Write(answer[:len(answer)/2])
		w.(http.Flusher).Flush()
		panic(http.ErrAbortHandler)
	}}
}

// Dropped closes the connection in the middle of a chunked answer.
func Dropped() Fault {
	return Fault{"dropped", func(w http.ResponseWriter, _ *http.Request, answer []byte) {
		w.Header().Set("Content-Type", "application/json")
		w.Write(answer[:len(answer)/2])
		w.(http.Flusher).Flush()
		panic(http.ErrAbortHandler)
	}}
}

// Reset closes the connection before the first byte.
func Reset() Fault {
	return Fault{"reset", func(http.ResponseWriter, *http.Request, []byte) { panic(http.ErrAbortHandler) }}
}

// Garbage answers what is no HTTP.
func Garbage(bytes string) Fault {
	return Fault{"garbage", func(w http.ResponseWriter, _ *http.Request, _ []byte) {
		conn, _, err := w.(http.Hijacker).Hijack()
		if err != nil {
			panic(err)
		}
		defer conn.Close()
		conn.Write([]byte(bytes))
	}}
}

// Drip gives the answer a byte at a time, with a pause before each.
func Drip(pause time.Duration) Fault {
	return Fault{"drip", func(w http.ResponseWriter, r *http.Request, answer []byte) {
		w.Header().Set("Content-Type", "application/json")
		for _, b := range answer {
			if !sleep(r.Context(), pause) {
				return
			}
			w.Write([]byte{b})
			w.(http.Flusher).Flush()
		}
	}}
}

// Silence answers nothing until the client leaves.
func Silence() Fault {
	return Fault{"silence", func(_ http.ResponseWriter, r *http.Request, _ []byte) { <-r.Context().Done() }}
}

// Huge is a completion of at least so many bytes.
func Huge(bytes int) Fault {
	return Fault{"huge", func(w http.ResponseWriter, _ *http.Request, _ []byte) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":"`)
		block := strings.Repeat("a", 1<<16)
		for sent := 0; sent < bytes; sent += len(block) {
			if _, err := w.Write([]byte(block)); err != nil {
				return
			}
		}
		fmt.Fprint(w, `"}}]}`)
	}}
}

// Redirect sends the client elsewhere.
func Redirect(status int, to string) Fault {
	return Fault{"redirect", func(w http.ResponseWriter, r *http.Request, _ []byte) { http.Redirect(w, r, to, status) }}
}
