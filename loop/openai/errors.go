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
	Status     int    // the HTTP status, which is 200 if the error stood in the reply's body
	Code, Type string // as the server names the error, if it does
	Message    string // the server's, from any of the known shapes; a line of at most 500 bytes
	RetryAfter time.Duration
}

func (e *StatusError) Error() string {
	return fmt.Sprintf("model %s at %s: status %d%s: %s", e.Model, e.URL, e.Status, e.kind(), e.Message)
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
	if code, err := strconv.Atoi(e.Code); err == nil && e.Status == http.StatusOK && code >= 400 && code < 600 {
		return code
	}
	return e.Status
}

// ContextLength reports whether the server found the prompt and reply too long for the
// model. There is no common code for that: most servers only say it in their message.
func (e *StatusError) ContextLength() bool {
	if e.Code == "context_length_exceeded" || e.Type == "exceed_context_size_error" {
		return true
	}
	if status := e.status(); status == http.StatusTooManyRequests || status < 400 && status != http.StatusOK {
		return false
	}
	said := strings.ToLower(e.Message)
	for _, words := range []string{
		"context length", "context size", "context window", // OpenAI, vLLM, SGLang, llama.cpp, Ollama, Mistral
		"maximum model length", "max_model_len", // vLLM
		"input token count",  // Gemini
		"prompt is too long", // Anthropic
		"max_new_tokens",     // TGI: `inputs` tokens + `max_new_tokens` must be <= N
	} {
		if strings.Contains(said, words) {
			return true
		}
	}
	return false
}

func (e *StatusError) passing() bool {
	if e.ContextLength() || e.Code == "insufficient_quota" {
		return false
	}
	switch status := e.status(); status {
	case http.StatusOK, http.StatusRequestTimeout, http.StatusConflict, http.StatusTooManyRequests:
		return true
	default:
		return status >= 500
	}
}

func (e *StatusError) outcome() outcome {
	switch status := e.status(); {
	case status == http.StatusTooManyRequests:
		return overloaded
	case status >= 500:
		return troubled
	}
	return refused
}

// ReplyError is a reply with status 200 that holds no completion.
type ReplyError struct {
	Model, URL string
	Problem    string // what is wrong with it, and its first bytes
	final      bool   // the same would come again
}

func (e *ReplyError) Error() string {
	return fmt.Sprintf("model %s at %s: %s", e.Model, e.URL, e.Problem)
}

func (e *ReplyError) passing() bool    { return !e.final }
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

func (e *TransportError) outcome() outcome { return troubled }

// failure is an attempt that brought no reply: one of the three above.
type failure interface {
	error
	passing() bool    // another attempt may go well
	outcome() outcome // what it says of the server's load
}
