package fakeserver

import (
	"context"
	"encoding/json"
	"hash/maphash"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"sync"
	"time"
)

// Config is a server's. The zero value is a vLLM that answers "ok" at once to anybody.
type Config struct {
	Reply   func(Request) Reply // nil: "ok"
	Plan    Plan                // nil: no faults
	Shape   Shape
	Model   string        // the only one served; "": any
	Key     string        // that requests must carry; "": none
	Latency time.Duration // before each answer, faults too
	Jitter  time.Duration // up to so much more, by chance
	Seed    uint64        // of Jitter
}

// Request is a chat completion as it was asked for.
type Request struct {
	Model    string    `json:"model"`
	Messages []Message `json:"messages"`

	N      int         `json:"-"` // in order of arrival, from 1
	Again  int         `json:"-"` // how often these bytes have come before
	Body   []byte      `json:"-"` // as sent
	Header http.Header `json:"-"`
}

// Message is one of a request's.
type Message struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

// Text is the content of the messages in a role, one after the other.
func (r Request) Text(role string) (text string) {
	for _, m := range r.Messages {
		if m.Role == role {
			text += m.Content
		}
	}
	return text
}

// Server is a running server. Its URL ends where /v1 begins; BaseURL has both.
type Server struct {
	*httptest.Server
	cfg Config

	mu       sync.Mutex
	requests int
	seen     map[uint64]int // by the hash of the body
	hash     maphash.Seed   // of seen, and of nothing that a test could observe
	flying   int
	most     int
}

// Start starts a server. Close it.
func Start(cfg Config) *Server {
	if cfg.Reply == nil {
		cfg.Reply = func(Request) Reply { return Reply{Text: "ok"} }
	}
	if cfg.Plan == nil {
		cfg.Plan = func(Request) Fault { return Fault{} }
	}
	s := &Server{cfg: cfg, seen: map[uint64]int{}, hash: maphash.MakeSeed()}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/chat/completions", s.complete)
	mux.HandleFunc("GET /v1/models", s.models)
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) { s.fail(w, http.StatusNotFound, "Not Found") })
	s.Server = httptest.NewServer(mux)
	return s
}

// BaseURL is what a client's configuration asks for.
func (s *Server) BaseURL() string { return s.URL + "/v1" }

// Close drops the calls in flight first: a slow one would hold it up.
func (s *Server) Close() {
	s.CloseClientConnections()
	s.Server.Close()
}

// Requests is how many chat completions were asked for, faults included.
func (s *Server) Requests() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.requests
}

// MostAtOnce is the highest number of them in flight together.
func (s *Server) MostAtOnce() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.most
}

func (s *Server) complete(w http.ResponseWriter, r *http.Request) {
	start := time.Now()
	body, err := readAll(r)
	if err != nil {
		return // the client left
	}
	req := s.enter(body, r.Header)
	defer s.leave()
	serve := s.answer(w, r, req)
	if sleep(r.Context(), s.latency(req)-time.Since(start)) { // what it does is a part of what it takes
		serve()
	}
}

// answer is what remains to be done once the latency is over.
func (s *Server) answer(w http.ResponseWriter, r *http.Request, req Request) (serve func()) {
	if err := json.Unmarshal(req.Body, &req); err != nil {
		return func() { s.fail(w, http.StatusBadRequest, err.Error()) }
	}
	if status, message := s.refuses(req); status != 0 {
		return func() { s.fail(w, status, message) }
	}
	answer := s.cfg.Shape.completion(req, s.cfg.Reply(req))
	if fault := s.cfg.Plan(req); fault.Serve != nil {
		return func() { fault.Serve(w, r, answer) }
	}
	return func() { writeJSON(w, http.StatusOK, answer) }
}

// readAll is io.ReadAll in one piece where the request says how long it is: the server
// shares the processors with the client that it measures.
func readAll(r *http.Request) ([]byte, error) {
	if r.ContentLength < 0 || r.ContentLength > 1<<20 {
		return io.ReadAll(r.Body)
	}
	body := make([]byte, r.ContentLength)
	_, err := io.ReadFull(r.Body, body)
	return body, err
}

func (s *Server) enter(body []byte, head http.Header) Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests++
	s.flying++
	s.most = max(s.most, s.flying)
	sum := maphash.Bytes(s.hash, body)
	s.seen[sum]++
	return Request{N: s.requests, Again: s.seen[sum] - 1, Body: body, Header: head}
}

func (s *Server) leave() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.flying--
}

func (s *Server) latency(r Request) time.Duration {
	if s.cfg.Jitter == 0 {
		return s.cfg.Latency
	}
	return s.cfg.Latency + time.Duration(chance(s.cfg.Seed, r).Int64N(int64(s.cfg.Jitter)))
}

// refuses a request for another model or without the key; its status is 0 for any other.
func (s *Server) refuses(r Request) (status int, message string) {
	switch {
	case s.cfg.Key != "" && r.Header.Get("Authorization") != "Bearer "+s.cfg.Key:
		return http.StatusUnauthorized, "Unauthorized"
	case s.cfg.Model != "" && r.Model != s.cfg.Model:
		return http.StatusNotFound, "The model `" + r.Model + "` does not exist."
	}
	return 0, ""
}

func (s *Server) fail(w http.ResponseWriter, status int, message string) {
	writeJSON(w, status, s.cfg.Shape.Error(status, message))
}

func (s *Server) models(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, http.StatusOK, encode(object{
		"object": "list", "data": []object{{"id": s.cfg.Model, "object": "model", "owned_by": "fakeserver"}},
	}))
}

func writeJSON(w http.ResponseWriter, status int, body []byte) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	w.Write(body)
}

// sleep reports whether ctx was not done before.
func sleep(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// chance is a source that depends on seed, the request's bytes and how often they came.
func chance(seed uint64, r Request) *rand.Rand {
	return rand.New(rand.NewPCG(seed, digest(r)))
}
