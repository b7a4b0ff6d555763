package spec

import (
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/poimen-memory/mem/harness/diag"
	"github.com/poimen-memory/mem/harness/spec/yamlpos"
)

// Live is a model behind an OpenAI-compatible server. Texts may hold ${VAR}, which Expand
// replaces; a key is never written here, only the name of the variable that holds it.
type Live struct {
	At        diag.Place           `yaml:",pos" one:"base_url,command"`
	BaseURL   yamlpos.At[string]   `yaml:"base_url" min:"1"`    // before /chat/completions, such as http://localhost:8000/v1
	Command   []yamlpos.At[string] `yaml:"command" min:"1"`     // in place of a server: a program and its arguments, which reads a request a line and writes a reply a line
	Model     yamlpos.At[string]   `yaml:"model" min:"1"`       // as the server knows it; required beside base_url
	APIKeyEnv yamlpos.At[string]   `yaml:"api_key_env" min:"1"` // environment variable that holds the key; none: no key is sent

	// Sampling: what is not written is not sent.
	Temperature    yamlpos.At[float64] `yaml:"temperature" min:"0"`                                      // of sampling
	TopP           yamlpos.At[float64] `yaml:"top_p" min:"0" max:"1"`                                    // of sampling
	Seed           yamlpos.At[int64]   `yaml:"seed"`                                                     // a parse retry sends seed + attempt - 1, a trial adds 1000 to it
	Stop           []string            `yaml:"stop"`                                                     // where a reply ends, not included
	MaxTokensField string              `yaml:"max_tokens_field" enum:"max_tokens,max_completion_tokens"` // which field limits a reply; max_tokens
	LogProbs       bool                `yaml:"logprobs"`                                                 // ask how sure the model is of its gates; shown, never decided on
	Extra          Extra               `yaml:"extra"`                                                    // further fields of the request's body, such as top_k

	Timeout           Duration          `yaml:"timeout"`                                   // of one attempt; 2m
	MaxConnections    yamlpos.At[int]   `yaml:"max_connections" min:"1"`                   // calls in flight; 8, or 1 process of a command
	RequestsPerMinute int               `yaml:"requests_per_minute" min:"1"`               // any number
	TokensPerMinute   int               `yaml:"tokens_per_minute" min:"1"`                 // prompts and replies; any number
	MaxTries          int               `yaml:"max_tries" min:"1"`                         // attempts of one call that fails in transport; 10
	MaxElapsed        Duration          `yaml:"max_elapsed"`                               // of all attempts of one call; 10m, or five timeouts
	MaxRetryAfter     Duration          `yaml:"max_retry_after"`                           // the most that a server's Retry-After is heeded; 5m
	GiveUpAfter       Duration          `yaml:"give_up_after"`                             // without one reply, of all calls together; 45s
	MaxResponseBytes  yamlpos.At[int64] `yaml:"max_response_bytes" min:"1" max:"16777216"` // of one reply; 16 MiB
}

// Connections is how many calls may be in flight, its default filled in.
func (l *Live) Connections() int {
	switch {
	case l.MaxConnections.Present():
		return l.MaxConnections.Value
	case l.Command != nil:
		return 1
	}
	return 8
}

// Divide leaves one of n processes that ask the server together its part of each limit, by a
// function that takes a part of a whole. Each part is at least 1.
func (l *Live) Divide(part func(whole int) int) {
	l.MaxConnections = yamlpos.At[int]{Place: l.MaxConnections.Place, Value: max(1, part(l.Connections()))}
	if !l.MaxConnections.Present() {
		l.MaxConnections.Place = l.At
	}
	for _, limit := range []*int{&l.RequestsPerMinute, &l.TokensPerMinute} {
		if *limit > 0 {
			*limit = max(1, part(*limit))
		}
	}
}

// Duration is written as Go writes one: 90s, 2m, 1m30s.
type Duration struct {
	diag.Place
	Value time.Duration
}

// DecodeYAML implements yamlpos.Unmarshaler.
func (d *Duration) DecodeYAML(n yamlpos.Node) {
	d.Place = n.Place()
	value, err := time.ParseDuration(n.Text())
	if n.Kind() != yamlpos.Text || err != nil || value <= 0 {
		n.Want("a duration above zero, such as 90s or 2m")
		return
	}
	d.Value = value
}

// Extra is an open map: what is in it is between the user and the server.
type Extra map[string]any

// DecodeYAML implements yamlpos.Unmarshaler.
func (e *Extra) DecodeYAML(n yamlpos.Node) {
	fields, ok := n.Any().(map[string]any)
	if !ok {
		n.Want("a map of fields of the request's body")
		return
	}
	*e = fields
}

// Replay is a recording that answers in a model's place: the folder of an experiment's
// live results, of which one model is taken. It is also written as the bare path.
type Replay struct {
	At    diag.Place         `yaml:",pos"`
	Path  yamlpos.At[string] `yaml:"path,required" min:"1"` // such as reports/EXPERIMENT
	Model yamlpos.At[string] `yaml:"model" min:"1"`         // id in the recording; needed where it holds several and none has this model's id
}

// DecodeYAML implements yamlpos.Unmarshaler.
func (r *Replay) DecodeYAML(n yamlpos.Node) {
	if n.Kind() == yamlpos.Map {
		type fields Replay // without this method
		n.Decode((*fields)(r))
		return
	}
	if n.Kind() != yamlpos.Text || strings.TrimSpace(n.Text()) == "" {
		n.Want("a folder, or a map of path and model")
		return
	}
	r.Path.DecodeYAML(n)
	r.At = n.Place()
}

var variable = regexp.MustCompile(`\$\{([^}]*)\}`)

// Expand replaces ${VAR} in the texts of a live model. Every variable that is not set, or
// whose value makes no sense, is an error at its position.
func (l Live) Expand(lookup func(string) (string, bool)) (Live, diag.Errors) {
	var errs diag.Errors
	fields := []*yamlpos.At[string]{&l.BaseURL, &l.Model}
	l.Command = slices.Clone(l.Command) // l is a copy
	for i := range l.Command {
		fields = append(fields, &l.Command[i])
	}
	for _, field := range fields {
		field.Value = variable.ReplaceAllStringFunc(field.Value, func(ref string) string {
			name := ref[2 : len(ref)-1]
			value, ok := lookup(name)
			if !ok || value == "" {
				errs = append(errs, field.Errorf("the environment variable %s is not set", name))
			}
			return value
		})
	}
	if name := l.APIKeyEnv.Value; name != "" {
		if key, ok := lookup(name); !ok || key == "" {
			errs = append(errs, l.APIKeyEnv.Errorf("the environment variable %s is not set", name))
		}
	}
	if len(errs) == 0 && l.Command == nil {
		errs = append(errs, checkURL(l.BaseURL)...)
	}
	return l, errs
}

// checkURL wants a server's address that may be shown: without credentials.
func checkURL(base yamlpos.At[string]) diag.Errors {
	u, err := url.Parse(base.Value)
	switch {
	case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
		return diag.Errors{base.Errorf("found no http:// or https:// with a host, want a URL such as http://localhost:8000/v1")}
	case u.User != nil:
		return diag.Errors{base.Errorf("found user info in the URL: want the key in an environment variable, named by api_key_env")}
	case u.RawQuery != "" || u.Fragment != "":
		return diag.Errors{base.Errorf("found a query or fragment in the URL, want it to end before /chat/completions")}
	}
	return nil
}

func isVariable(s string) bool {
	const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ_"
	return s == "" || strings.Trim(s, letters+"0123456789") == "" && strings.Trim(s[:1], letters) == ""
}

// Of is what calls cost in USD; nothing where no price is given.
func (p *Price) Of(promptTokens, completionTokens int) float64 {
	if p == nil {
		return 0
	}
	return (p.Prompt.Value*float64(promptTokens) + p.Completion.Value*float64(completionTokens)) / 1e6
}
