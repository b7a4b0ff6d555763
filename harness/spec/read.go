package spec

import (
	"errors"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/poimen-memory/mem/harness/diag"
	"github.com/poimen-memory/mem/harness/spec/yamlpos"
	"github.com/poimen-memory/mem/internal/inputfile"
	"github.com/poimen-memory/mem/prompt"
)

// LoadAll reads specs that are to run together: two with the same experiment name, which
// would write to one folder, are an error. The error is a diag.Errors over all files.
func LoadAll(paths []string) ([]*Spec, error) {
	var specs []*Spec
	var errs diag.Errors
	for _, path := range paths {
		s, err := Load(path)
		if err != nil {
			errs = append(errs, all(err)...)
			continue
		}
		specs = append(specs, s)
	}
	errs = append(errs, sameName(specs)...)
	if err := errs.Err(); err != nil {
		return nil, err
	}
	return specs, nil
}

// sameName compares without case: the names become folders.
func sameName(specs []*Spec) (errs diag.Errors) {
	first := map[string]*Spec{}
	for _, s := range specs {
		key := strings.ToLower(s.Experiment.Value)
		if before, ok := first[key]; ok {
			errs = append(errs, s.Experiment.Errorf("found %q, which is also the experiment of %s: want a name of its own (case does not count)",
				s.Experiment.Value, before.Experiment.Pos))
			continue
		}
		first[key] = s
	}
	return errs
}

// Load reads a spec. The error is a diag.Errors.
func Load(path string) (*Spec, error) {
	if strings.HasPrefix(strings.ToLower(filepath.Ext(path)), ".jsonl") {
		return nil, diag.Errors{{Pos: diag.Pos{File: path}, Msg: "found a session, want a spec, which is YAML and names sessions: corpora: [{id: s, path: FILE}]; mem corpus show looks into a session"}}
	}
	data, err := inputfile.Read(path, inputfile.MaxSpec)
	if err != nil {
		var why *fs.PathError
		if errors.As(err, &why) {
			err = why.Err
		}
		return nil, diag.Errors{{Pos: diag.Pos{File: path}, Msg: err.Error()}}
	}
	return Parse(path, data)
}

// Parse reads a spec from data; file is its name in messages, and its folder is where
// relative paths start. The error is a diag.Errors with all that is wrong.
func Parse(file string, data []byte) (*Spec, error) {
	s := Defaults()
	errs := all(yamlpos.Decode(file, data, s))
	if s.At.Present() { // else there is no map to judge
		errs = append(errs, validate(s, len(errs) == 0)...)
	}
	if err := errs.Err(); err != nil {
		return nil, err
	}
	s.File, s.Dir = file, filepath.Dir(file)
	s.complete()
	return s, nil
}

func all(err error) diag.Errors {
	var errs diag.Errors
	errors.As(err, &errs)
	return errs
}

// Defaults is a spec before it is read. A key that is not written keeps its value.
func Defaults() *Spec {
	s := &Spec{
		L2Source: Memories,
		Trials:   1,
		Checks:   Checks{Retain: "bytes", Log: "verify"},
	}
	s.Tokenizer.Name.Value = "o200k_base"
	s.Levels.Value = Set[Level]{1}
	s.ExitGate.Value = Set[string]{Record}
	s.Budget.Value = Budget(prompt.Budget{}.WithDefaults())
	s.Checks.Budget.Value = BudgetCheck{Percentile: 95}
	s.Checks.Tokenizer.Value = TokenizerCheck{MaxUndercount: 0.05}
	return s
}

// complete fills in the defaults that depend on other fields, and joins the paths.
func (s *Spec) complete() {
	for i := range s.Corpora {
		c := &s.Corpora[i]
		if !c.Chunk.At.Present() {
			c.Chunk.Tokens.Value = min(ChunkTokens, s.Budget.Value.Chunk)
		}
	}
	for i := range s.Queries {
		q := &s.Queries[i]
		if q.Corpora != nil {
			continue
		}
		for _, c := range s.Corpora {
			q.Corpora = append(q.Corpora, c.ID)
		}
	}
	for i := range s.Models {
		if m := &s.Models[i]; m.Command != nil && m.Live == nil {
			m.Live = &Live{At: m.At, Command: m.Command}
		}
	}
	if a := s.Answer; a != nil && !a.MaxTokens.Present() {
		a.MaxTokens.Value = s.Budget.Value.Response
	}
	if d := s.Decision; d != nil && !d.For.Levels.Present() {
		d.For.Levels.Value = s.Levels.Value
	}
	for _, p := range s.paths() {
		p.Value = join(s.Dir, p.Value)
	}
	s.expandVariants()
}

// join gives a path one spelling on every system, for it is shown in reports. Go opens
// paths with / on Windows too.
func join(dir, path string) string {
	if !filepath.IsAbs(path) {
		path = filepath.Join(dir, path)
	}
	return filepath.ToSlash(path)
}

// Files are the spec's own file and all that it names.
func (s *Spec) Files() []string {
	files := []string{s.File}
	for _, p := range s.paths() {
		files = append(files, p.Value)
	}
	return files
}

// paths are the names of files that stand in the spec.
func (s *Spec) paths() (paths []*yamlpos.At[string]) {
	add := func(p *yamlpos.At[string]) {
		if p.Present() {
			paths = append(paths, p)
		}
	}
	add(&s.Tokenizer.File)
	if s.Prompt != nil {
		add(&s.Prompt.Template)
	}
	for i := range s.Variants {
		if p := s.Variants[i].Prompt; p != nil {
			add(&p.Template)
		}
	}
	if s.Answer != nil {
		add(&s.Answer.Template)
	}
	for i := range s.Corpora {
		add(&s.Corpora[i].Path)
		add(&s.Corpora[i].Labels)
		if im := s.Corpora[i].Import; im != nil {
			add(&im.Path)
		}
		if sy := s.Corpora[i].Synth; sy != nil {
			add(&sy.Haystack.File)
			if sy.From != nil {
				add(&sy.From.Path)
				add(&sy.From.Labels)
			}
		}
	}
	for i := range s.Models {
		add(&s.Models[i].Script)
		if r := s.Models[i].Replay; r != nil {
			add(&r.Path)
		}
	}
	for i := range s.Golden {
		add(&s.Golden[i].File)
		add(&s.Golden[i].Memory)
		add(&s.Golden[i].L1Memory)
	}
	return paths
}
