// Package command carries the requests of a live model to a program on this machine: it reads a
// request a line and writes a reply a line, JSON both. A Transport is the Transport of an
// openai.Config, so limits, retries, usage and journal are those of any live model.
//
// A request is the body of a chat completion, with messages, max_tokens and what the sampling
// parameters are. A reply is one of:
//
//	{"content": "…"}                         and, where known, reasoning, finish_reason, usage
//	{"choices": [{"message": {…}}], …}       a chat completion as OpenAI writes it
//	{"error": "…"}                           the request is refused; "retry": true: ask again
//
// A program may answer any number of requests, one after the other. One that ends after a reply
// is started again for the next request.
package command

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Config is how a program is started. Program is required.
type Config struct {
	Program  string // a name that PATH finds, or a path: a relative one is below Dir
	Args     []string
	Dir      string // where it is started; "": the current folder
	MaxReply int64  // bytes of a line of reply; 0: 16 MiB
}

const defaultMaxReply = 16 << 20

// Transport is an http.RoundTripper of a program. It keeps as many processes as there were
// requests at the same time. It may be used by several goroutines.
type Transport struct {
	cfg  Config
	path string

	answers atomic.Bool // it has, once

	mu   sync.Mutex
	idle []*process
}

// New looks the program up. It starts nothing.
func New(cfg Config) (*Transport, error) {
	if cfg.MaxReply == 0 {
		cfg.MaxReply = defaultMaxReply
	}
	name := cfg.Program
	if strings.ContainsAny(name, `/\`) && !filepath.IsAbs(name) {
		var err error
		if name, err = filepath.Abs(filepath.Join(cfg.Dir, name)); err != nil {
			return nil, err
		}
	}
	path, err := exec.LookPath(name)
	if err != nil {
		if cause := errors.Unwrap(err); cause != nil {
			err = cause
		}
		words := strings.Fields(cfg.Program)
		if len(words) > 1 {
			return nil, fmt.Errorf("the program %q cannot be started: %w; want its words apart, as in [\"%s\"]", cfg.Program, err, strings.Join(words, `", "`))
		}
		return nil, fmt.Errorf("the program %q cannot be started: %w", cfg.Program, err)
	}
	return &Transport{cfg: cfg, path: path}, nil
}

// Close ends the processes that answer no request: their input ends, and what does not end then
// is killed after a while.
func (t *Transport) Close() {
	t.mu.Lock()
	idle := t.idle
	t.idle = nil
	t.mu.Unlock()
	for _, p := range idle {
		p.end()
	}
}

// RoundTrip hands a request's body to a process, and makes a response of its reply.
func (t *Transport) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.Method != http.MethodPost {
		return response(req, http.StatusNotFound, refusal("a program has no list of models")), nil
	}
	body, err := io.ReadAll(req.Body)
	req.Body.Close()
	if err != nil {
		return nil, err
	}
	var line bytes.Buffer
	if err := json.Compact(&line, body); err != nil {
		return nil, err
	}
	line.WriteByte('\n')
	reply, err := t.ask(req.Context(), line.Bytes())
	switch {
	case errors.Is(err, errEnded) && !t.answers.Load(): // it would end again
		return response(req, http.StatusBadRequest, refusal(err.Error())), nil
	case err != nil:
		return nil, err
	}
	t.answers.Store(true)
	status, body := completion(reply)
	return response(req, status, body), nil
}

// ask asks a process that waits, or a new one. One that waited may have ended meanwhile: then
// the request was not read, and it is asked of a new one.
func (t *Transport) ask(ctx context.Context, line []byte) ([]byte, error) {
	for {
		p, waited, err := t.process()
		if err != nil {
			return nil, err
		}
		reply, err := p.ask(ctx, line, t.cfg.MaxReply)
		switch {
		case err == nil && int64(len(reply)) <= t.cfg.MaxReply:
			t.mu.Lock()
			t.idle = append(t.idle, p)
			t.mu.Unlock()
			return reply, nil
		case err == nil: // the rest of the line would be the next reply
			p.kill()
			p.wait()
			return reply, nil
		}
		if !errors.Is(err, errEnded) { // else how it ended is to be known
			p.kill()
		}
		ended := p.end()
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case waited && errors.Is(err, errEnded):
			continue
		}
		return nil, fmt.Errorf("%w (%s)%s", err, ended, p.said())
	}
}

func (t *Transport) process() (p *process, waited bool, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if n := len(t.idle); n > 0 {
		p, t.idle = t.idle[n-1], t.idle[:n-1]
		return p, true, nil
	}
	p, err = start(t.path, t.cfg)
	return p, false, err
}

// process is a running program.
type process struct {
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    *bufio.Reader
	stderr tail

	mu   sync.Mutex
	gone bool // its number may be another's
}

func start(path string, cfg Config) (*process, error) {
	p := &process{cmd: exec.Command(path, cfg.Args...)}
	p.cmd.Dir, p.cmd.Stderr, p.cmd.WaitDelay = cfg.Dir, &p.stderr, time.Second
	apart(p.cmd)
	in, err := p.cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	p.in, p.out = in, bufio.NewReaderSize(out, 64<<10)
	if err := p.cmd.Start(); err != nil {
		return nil, fmt.Errorf("the program cannot be started: %w", err)
	}
	return p, nil
}

// errEnded is of a process that ended without a byte of a reply.
var errEnded = errors.New("the program ended without a reply")

// ask writes a line and reads one, without its end; of one that is longer than most, the first
// most+1 bytes.
func (p *process) ask(ctx context.Context, line []byte, most int64) ([]byte, error) {
	defer context.AfterFunc(ctx, p.kill)()
	if _, err := p.in.Write(line); err != nil {
		return nil, errEnded
	}
	var reply []byte
	for {
		piece, err := p.out.ReadSlice('\n')
		reply = append(reply, piece[:min(int64(len(piece)), most+2-int64(len(reply)))]...)
		switch {
		case err == nil && int64(len(reply)) <= most+1 || int64(len(reply)) > most+1:
			return bytes.TrimSuffix(bytes.TrimSuffix(reply, []byte("\n")), []byte("\r")), nil
		case errors.Is(err, bufio.ErrBufferFull):
		case len(reply) == 0:
			return nil, errEnded
		default:
			return nil, fmt.Errorf("the program ended within a reply, after %d bytes of a line", len(reply))
		}
	}
}

// kill ends the process and what it has started.
func (p *process) kill() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.gone {
		kill(p.cmd.Process)
	}
}

// wait waits for the end and says how the process ended.
func (p *process) wait() string {
	p.in.Close()
	err := p.cmd.Wait()
	p.mu.Lock()
	p.gone = true
	p.mu.Unlock()
	if err != nil {
		return err.Error()
	}
	return "exit status 0"
}

// grace is how long a process may take to end when its input has ended.
const grace = 5 * time.Second

// end lets the process end, and ends it after a while.
func (p *process) end() string {
	defer time.AfterFunc(grace, p.kill).Stop()
	p.in.Close()
	io.Copy(io.Discard, p.out)
	return p.wait()
}

// said is the last that the program wrote to its standard error.
func (p *process) said() string {
	if text := strings.TrimSpace(p.stderr.String()); text != "" {
		return ": " + text
	}
	return ""
}

// tail keeps the last bytes that were written.
type tail struct {
	mu   sync.Mutex
	last []byte
}

const tailBytes = 400

// Write implements io.Writer.
func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.last = append(t.last, b...)
	if cut := len(t.last) - tailBytes; cut > 0 {
		t.last = append([]byte(nil), t.last[cut:]...)
	}
	return len(b), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.last)
}

// short is a reply without the shell of a chat completion. Its fields have the types that the
// reader of replies knows, and it says of others what is wrong.
type short struct {
	Content   json.RawMessage `json:"content,omitempty"`
	Reasoning json.RawMessage `json:"reasoning,omitempty"`
}

// completion makes a chat completion of a reply, with the status of a server that says the same.
func completion(line []byte) (status int, body []byte) {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(line, &fields); err != nil {
		return http.StatusOK, line // which the reader of replies complains about
	}
	switch {
	case has(fields, "error"):
		if string(fields["retry"]) == "true" {
			return http.StatusServiceUnavailable, line
		}
		return http.StatusBadRequest, line
	case has(fields, "choices"):
		return http.StatusOK, line
	case !has(fields, "content"):
		return http.StatusBadRequest, refusal(fmt.Sprintf(`found a reply with %s, want content, as in {"content": "…"}`, keys(fields)))
	}
	choice := map[string]any{"index": 0, "message": short{fields["content"], fields["reasoning"]}}
	if has(fields, "finish_reason") {
		choice["finish_reason"] = fields["finish_reason"]
	}
	whole := map[string]any{"choices": []any{choice}}
	if has(fields, "usage") {
		whole["usage"] = fields["usage"]
	}
	body, err := json.Marshal(whole)
	if err != nil {
		return http.StatusOK, line
	}
	return http.StatusOK, body
}

func has(fields map[string]json.RawMessage, key string) bool {
	value, ok := fields[key]
	return ok && string(value) != "null"
}

func keys(fields map[string]json.RawMessage) string {
	if len(fields) == 0 {
		return "no key"
	}
	return strings.Join(slices.Sorted(maps.Keys(fields)), ", ")
}

func refusal(message string) []byte {
	body, _ := json.Marshal(map[string]string{"error": message}) // of texts: cannot fail
	return body
}

func response(req *http.Request, status int, body []byte) *http.Response {
	return &http.Response{
		Status: http.StatusText(status), StatusCode: status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header:        http.Header{"Content-Type": {"application/json"}},
		Body:          io.NopCloser(bytes.NewReader(body)),
		ContentLength: int64(len(body)), Request: req,
	}
}
