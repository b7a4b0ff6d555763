package openai

import (
	"cmp"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// StatusError is a server's refusal.
type StatusError struct {
	Model, URL string // of the request; a URL holds no credentials
	Status     int    // the HTTP status, which is 2xx if the error stood in the reply's body
	Code, Type string // as the server names the error, if it does
	Message    string // the server's, from any of the known shapes; a line of at most 500 bytes
	Hint       string // the edit that corrects it, where one is known
	RetryAfter time.Duration
}

func (e *StatusError) Error() string {
	return fmt.Sprintf("model %s at %s: status %d%s: %s%s", e.Model, e.URL, e.Status, e.kind(), e.Message, suffix("; ", e.Hint))
}

// kind is what the server calls the error, in brackets.
func (e *StatusError) kind() string {
	if name := cmp.Or(e.Code, e.Type); name != "" && name != strconv.Itoa(e.Status) {
		return " (" + name + ")"
	}
	return ""
}

// status is the one that counts: gateways put the true one into a 200.
func (e *StatusError) status() int {
	if code, err := strconv.Atoi(e.Code); err == nil && success(e.Status) && code >= 400 && code < 600 {
		return code
	}
	return e.Status
}

// statusOverloaded is what some servers answer in place of 503.
const statusOverloaded = 529

func (e *StatusError) passing() bool {
	if e.ContextLength() || e.Code == "insufficient_quota" {
		return false
	}
	switch status := e.status(); status {
	case http.StatusRequestTimeout, http.StatusConflict, http.StatusTooEarly, http.StatusTooManyRequests:
		return true
	default:
		return success(status) || status >= 500
	}
}

func (e *StatusError) outcome() outcome {
	switch status := e.status(); {
	case status == http.StatusTooManyRequests || status == statusOverloaded:
		return overloaded
	case status >= 500:
		return troubled
	}
	return refused
}

// ReplyError is a reply with a status of 2xx that holds no completion.
type ReplyError struct {
	Model, URL string
	Problem    string // what is wrong with it, and its first bytes
	Hint       string // the edit that corrects it, where one is known
	brokenOff  bool   // it may come whole when it is asked for again
}

func (e *ReplyError) Error() string {
	return fmt.Sprintf("model %s at %s: %s%s", e.Model, e.URL, e.Problem, suffix("; ", e.Hint))
}

func (e *ReplyError) passing() bool    { return e.brokenOff }
func (e *ReplyError) outcome() outcome { return troubled }

// TransportError is a call that brought no whole reply.
type TransportError struct {
	Model, URL string
	Err        error
}

func (e *TransportError) Error() string {
	return fmt.Sprintf("model %s at %s: %v", e.Model, e.URL, e.Err)
}

func (e *TransportError) Unwrap() error { return e.Err }

// passing is true but for what a person has to put right: the network's errors have no
// list that could be complete.
func (e *TransportError) passing() bool {
	var certificate *tls.CertificateVerificationError
	var name *net.DNSError
	switch {
	case errors.As(e.Err, &certificate):
		return false
	case errors.As(e.Err, &name):
		return !name.IsNotFound
	}
	// net/http says no more than this when a server answers https with plain HTTP.
	return !strings.Contains(e.Err.Error(), "server gave HTTP response to HTTPS client")
}

// sent reports whether the request may have reached the server.
func (e *TransportError) sent() bool {
	var certificate *tls.CertificateVerificationError
	var name *net.DNSError
	var op *net.OpError
	return !errors.As(e.Err, &certificate) && !errors.As(e.Err, &name) && !(errors.As(e.Err, &op) && op.Op == "dial")
}

func (e *TransportError) outcome() outcome { return troubled }

// failure is an attempt that brought no reply: one of the three above.
type failure interface {
	error
	passing() bool    // another attempt may go well
	outcome() outcome // what it says of the server's load
}
