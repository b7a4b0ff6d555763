package plan

import (
	"context"
	"fmt"
	"hash/maphash"
	"maps"
	"slices"
	"strings"

	"github.com/poimen-memory/mem/harness/diag"
	"github.com/poimen-memory/mem/harness/spec"
	"github.com/poimen-memory/mem/harness/stat/cluster"
	"github.com/poimen-memory/mem/internal/digest"
	"github.com/poimen-memory/mem/internal/inputfile"
	"github.com/poimen-memory/mem/prompt"
)

// Config says how a spec is planned. Counter is required.
type Config struct {
	Counter  func(spec.Tokenizer) (Counter, error) // makes the token counter that a spec names
	Select   func(Cell) bool                       // which runs; nil: all. Runs that a selected run depends on are included
	Template string                                // of prompts; empty: Figure 10a
}

// Counter counts tokens in one vocabulary; reports and logs show its name.
type Counter interface {
	prompt.Counter
	Name() string
}

// Plan is an experiment that is ready to run: corpora read and packed, labels found, the
// matrix expanded, every file that the spec names read once.
type Plan struct {
	Spec   *spec.Spec
	*Setup          // of the spec by itself; what a run is made of is Run.Setup
	Setups []*Setup // of the spec's variants, in its order; without variants, the spec's own alone
	Runs   []*Run   // in the order of every output

	goldens []golden
	byName  map[string]*Run
	units   *cluster.Names
	scripts map[string]string // SHA-256 of each gate script's text, by path
}

// Template says which prompt is sent.
type Template struct {
	// Note says that a prompt is not the paper's and names its template's file; it is empty
	// for Figure 10a.
	Note   string `json:"note,omitempty"`
	SHA    string `json:"template_sha"`
	System string `json:"system,omitempty"` // the system message

	// Answer is the SHA-256 of the template that asks for answers, where any are asked for.
	Answer string `json:"answer_template_sha,omitempty"`
}

// Variation is a variant of the spec as results show it.
type Variation struct {
	ID      string        `json:"id"`
	Changes []string      `json:"changes,omitempty"` // phrases; none: the spec as it is
	Prompt  Template      `json:"prompt"`
	Budget  prompt.Budget `json:"budget"`
}

// String says what the variant changes.
func (v Variation) String() string {
	if v.Changes == nil {
		return "variant " + v.ID + ": the spec as it is"
	}
	return "variant " + v.ID + ": " + strings.Join(v.Changes, ", ")
}

// Variations are the variants of the spec, in its order.
func (p *Plan) Variations() (list []Variation) {
	for _, s := range p.Setups {
		if v := s.Variant; v != nil {
			list = append(list, Variation{ID: s.Name(), Changes: v.Changes(), Prompt: s.Template, Budget: s.Budget()})
		}
	}
	return list
}

// New plans a spec. Nothing is run or written. The error is a diag.Errors with all that
// is wrong with the spec, its labels or its corpora.
func New(ctx context.Context, cfg Config, s *spec.Spec) (*Plan, error) {
	p := &Plan{Spec: s}
	if err := p.prepareSetups(ctx, cfg); err != nil {
		return nil, err
	}
	if err := checkSize(p); err != nil {
		return nil, diag.Errors{err}
	}
	p.Runs = matrix(p)
	pairReplays(p.Spec, p.Runs)
	if cfg.Select == nil {
		cfg.Select = func(Cell) bool { return true }
	}
	p.byName = make(map[string]*Run, len(p.Runs))
	for _, r := range p.Runs {
		p.byName[r.Name] = r
	}
	p.units = cluster.NewNames(origins(p))
	selectRuns(p, cfg.Select)
	var errs diag.Errors
	errs = append(errs, p.checkNames()...)
	errs = append(errs, p.checkL2()...)
	errs = append(errs, checkDecision(p)...)
	errs = append(errs, checkCompare(p)...)
	errs = append(errs, p.readGoldens()...)
	errs = append(errs, p.readScripts()...)
	if err := errs.Err(); err != nil {
		return nil, err
	}
	return p, nil
}

// prepareSetups makes the spec's own setup and that of each variant.
func (p *Plan) prepareSetups(ctx context.Context, cfg Config) error {
	count, err := cfg.Counter(p.Spec.Tokenizer)
	if err != nil {
		return unreadable(p.Spec.Tokenizer.At, err)
	}
	p.Setup = &Setup{spec: p.Spec, count: count}
	if err := p.prepareTemplates(cfg); err != nil {
		return err
	}
	if err := loadCorpora(ctx, p.Setup); err != nil {
		return err
	}
	if len(p.Spec.Variants) == 0 {
		p.Setups = []*Setup{p.Setup}
	}
	for i := range p.Spec.Variants {
		v := &p.Spec.Variants[i]
		s := &Setup{Variant: v, spec: p.Spec.With(v), count: count}
		if err := s.prepareTemplates(cfg); err != nil {
			return err
		}
		if err := s.loadSessions(ctx, append(p.Setups, p.Setup)); err != nil {
			return err
		}
		p.Setups = append(p.Setups, s)
	}
	return nil
}

// Packing says how the chunks of a run's session are filled, where variants differ in it.
func (p *Plan) Packing(r *Run) string {
	same := func(s *Setup) bool { return s.chunking() == p.Setups[0].chunking() }
	if r.OverMemories() || !slices.ContainsFunc(p.Setups, func(s *Setup) bool { return !same(s) }) {
		return ""
	}
	return r.Session.Corpus.Chunk.String()
}

// setupOf is the setup of a variant by its id; "" is the spec by itself.
func (p *Plan) setupOf(variant string) (*Setup, error) {
	if variant == "" {
		return p.Setup, nil
	}
	var known []string
	for _, s := range p.Setups {
		if s.Name() == variant {
			return s, nil
		}
		known = append(known, s.Name())
	}
	if p.Spec.Variants == nil {
		return nil, fmt.Errorf("variant: found %s, but the spec has none", diag.Quote(variant))
	}
	return nil, fmt.Errorf("variant: %s", diag.OneOf(variant, known))
}

// setupFor is the setup of a model's runs.
func (p *Plan) setupFor(m *spec.Model) *Setup {
	for _, s := range p.Setups {
		if s.Variant == m.Variant {
			return s
		}
	}
	return p.Setup // of a spec that was not parsed
}

// Selected are the runs to execute, in the order of the plan.
func (p *Plan) Selected() (runs []*Run) {
	for _, r := range p.Runs {
		if r.Selected {
			runs = append(runs, r)
		}
	}
	return runs
}

// Narrow takes the runs that are not to be kept off the selection.
func (p *Plan) Narrow(keep func(*Run) bool) {
	for _, r := range p.Runs {
		r.Selected = r.Selected && keep(r)
	}
}

// Names are the names of all runs, and of the selected ones.
func (p *Plan) Names() (all, selected []string) {
	for _, r := range p.Runs {
		all = append(all, r.Name)
		if r.Selected {
			selected = append(selected, r.Name)
		}
	}
	return all, selected
}

// Tokenizer names the vocabulary that counts: of a file, with a part of its hash.
func (p *Plan) Tokenizer() string { return p.count.Name() }

// Counter counts with the spec's vocabulary.
func (p *Plan) Counter() prompt.Counter { return p.count }

// CountRendered is the token counter for a log that was counted with the named vocabulary;
// nil if that is not the plan's.
func (p *Plan) CountRendered(tokenizer string) func(string) int {
	if tokenizer != p.Tokenizer() {
		return nil
	}
	return func(text string) int { return p.Prompts.Measure(text).Tokens }
}

// Unit is the query and the session that the run counts for in statistics: ids whose questions
// are the same text about one session are one query, and the sessions that an L2 run joins are
// one session (docs/statistics.md).
func (p *Plan) Unit(r *Run) (query, session string) {
	return p.units.Query(r.Query), p.units.Session(r.Level.String(), sessionsOf(p, r))
}

// Tags are the tags that queries of the runs have, in ascending order.
func (p *Plan) Tags() []string {
	seen := map[string]bool{}
	for _, r := range p.Runs {
		for tag := range r.References.Tags {
			seen[tag] = true
		}
	}
	return slices.Sorted(maps.Keys(seen))
}

// Dividing are the tags that group the queries: those with at least two values, one of which
// at least two queries have.
func (p *Plan) Dividing() (tags []string) {
	for _, tag := range p.Tags() {
		queries, shared := map[string]string{}, false // by value: the first query
		for _, r := range p.Runs {
			value := r.References.Tags[tag]
			if first, seen := queries[value]; !seen {
				queries[value] = r.Query
			} else if first != r.Query {
				shared = true
			}
		}
		if shared && len(queries) > 1 {
			tags = append(tags, tag)
		}
	}
	return tags
}

// Merged are the query ids that count as one query, by its name.
func (p *Plan) Merged() map[string][]string { return p.units.Merged() }

// readScripts takes the digests of gate scripts, with the same line ends from any checkout.
func (p *Plan) readScripts() (errs diag.Errors) {
	p.scripts = map[string]string{}
	for i := range p.Spec.Models {
		at := p.Spec.Models[i].Script
		if !at.Present() {
			continue
		}
		text, wrong := readFile(at, inputfile.MaxScript)
		if wrong != nil {
			errs = append(errs, wrong)
		}
		p.scripts[at.Value] = digest.Of(strings.ReplaceAll(text, "\r\n", "\n"))
	}
	return errs
}

// checkNames refuses runs whose names, which are also folders, are not unique: imports
// bring names that no spec has checked.
func (p *Plan) checkNames() (errs diag.Errors) {
	seed, checked := maphash.MakeSeed(), map[string]bool{}
	seen := make(map[uint64]int, len(p.Runs)/max(p.Spec.Trials, 1)) // a hash of the name in lower case: the run
	for i, r := range p.Runs {
		if r.Trial > 1 {
			continue // the names of trials differ in their numbers alone
		}
		at := p.Spec.At
		if r.Session != nil {
			at = r.Session.Corpus.At
		}
		lower := strings.ToLower(r.Name)
		key := maphash.String(seed, lower)
		if other, ok := seen[key]; ok && strings.ToLower(p.Runs[other].Name) == lower {
			errs = append(errs, at.Errorf("two runs are named %s and %s: want names that differ in more than case", p.Runs[other].Name, r.Name))
		}
		seen[key] = i
		for part := range strings.SplitSeq(r.Name, "/") {
			if checked[part] || part == r.Model { // whose id the spec has checked, the model's and the variant's
				continue
			}
			checked[part] = true
			if err := spec.CheckName(part); err != nil {
				errs = append(errs, at.Errorf("a part of a run's name: %v", err))
			}
		}
	}
	return errs
}

// checkL2 refuses a matrix in which an L2 run has no L1 run to read memories from.
func (p *Plan) checkL2() (errs diag.Errors) {
	for _, r := range p.Runs {
		if r.OverMemories() && len(r.Sources) == 0 {
			return diag.Errors{p.Spec.At.Errorf("levels: L2 reads the memories of recorded L1 runs: want L1 before L2 in levels, and record in exit_gate (or l2_source: chunks)")}
		}
	}
	return nil
}
