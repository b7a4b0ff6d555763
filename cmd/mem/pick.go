package main

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/poimen-memory/mem/harness"
	"github.com/poimen-memory/mem/harness/spec"
	"github.com/poimen-memory/mem/harness/spec/yamlpos"
)

// picked are the runs that flags pick; the zero value picks all.
type picked struct {
	run    *regexp.Regexp
	models []string
	level  spec.Level // 0: any

	passed []string // names of all runs that were there to pick from
}

func parsePick(run, level string) (*regexp.Regexp, spec.Level, error) {
	levels := map[string]spec.Level{"": 0, "L1": 1, "L2": 2}
	l, ok := levels[level]
	if !ok {
		return nil, 0, fmt.Errorf("--level: %s", yamlpos.OneOf(level, []string{"L1", "L2"}))
	}
	if run == "" {
		return nil, l, nil
	}
	pattern, err := regexp.Compile(run)
	if err != nil {
		return nil, 0, fmt.Errorf("--run: %v", err)
	}
	return pattern, l, nil
}

func (p *picked) all() bool { return p.run == nil && p.models == nil && p.level == 0 }

// wants is a harness.Config.Select.
func (p *picked) wants(c harness.Cell) bool {
	p.passed = append(p.passed, c.Name)
	return (p.run == nil || p.run.MatchString(c.Name)) &&
		(p.models == nil || slices.Contains(p.models, c.Model)) &&
		(p.level == 0 || p.level == c.Level)
}

// judge leaves out experiments of which nothing was picked. That nothing at all was, or a
// model that is in no spec, is a mistake.
func (p *picked) judge(all []experiment) ([]experiment, error) {
	if p.all() {
		return all, nil
	}
	if err := p.judgeModels(all); err != nil {
		return nil, err
	}
	some := slices.DeleteFunc(all, func(e experiment) bool { return len(e.Cells()) == 0 })
	if len(some) == 0 {
		return nil, fmt.Errorf("%s: no run matches, want a part of a run's name, of which there are %s", p, examples(p.passed))
	}
	return some, nil
}

func (p *picked) judgeModels(all []experiment) error {
	var known []string
	for _, e := range all {
		for _, m := range e.Spec.Models {
			known = append(known, m.ID.Value)
		}
	}
	slices.Sort(known)
	known = slices.Compact(known)
	for _, id := range p.models {
		if !slices.Contains(known, id) {
			return fmt.Errorf("--model: %s", yamlpos.OneOf(id, known))
		}
	}
	return nil
}

// String is the flags as they may have been written.
func (p *picked) String() string {
	var flags []string
	if p.run != nil {
		flags = append(flags, fmt.Sprintf("--run %q", p.run))
	}
	for _, m := range p.models {
		flags = append(flags, "--model "+m)
	}
	if p.level != 0 {
		flags = append(flags, "--level "+p.level.String())
	}
	return strings.Join(flags, " ")
}

// examples shows some of the names.
func examples(names []string) string {
	const shown = 3
	switch {
	case len(names) == 0:
		return "none"
	case len(names) > shown:
		return fmt.Sprintf("%s and %d more", strings.Join(names[:shown], ", "), len(names)-shown)
	}
	return strings.Join(names, ", ")
}
