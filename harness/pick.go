package harness

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/poimen-memory/mem/harness/diag"
	"github.com/poimen-memory/mem/harness/plan"
	"github.com/poimen-memory/mem/harness/spec"
)

// Pick selects runs as flags say; the zero value selects all.
type Pick struct {
	Run    *regexp.Regexp // that the name matches; nil: any
	Models []string       // ids; nil: any
	Level  spec.Level     // 0: any

	passed []string // names of the runs that were not picked
}

// All reports whether everything is selected.
func (p *Pick) All() bool { return p.Run == nil && p.Models == nil && p.Level == 0 }

// Wants is a Config.Select.
func (p *Pick) Wants(c plan.Cell) bool {
	base, _ := spec.SplitModel(c.Model)
	wanted := (p.Run == nil || p.Run.MatchString(c.Name)) &&
		(p.Models == nil || slices.Contains(p.Models, c.Model) || slices.Contains(p.Models, base)) &&
		(p.Level == 0 || p.Level == c.Level)
	if !wanted {
		p.passed = append(p.passed, c.Name)
	}
	return wanted
}

// Picked leaves out experiments of which nothing was picked. That nothing at all was, or a
// model that is in no spec, is a mistake.
func (p *Pick) Picked(all []Experiment) ([]Experiment, error) {
	if p.All() {
		return all, nil
	}
	if err := p.checkModels(all); err != nil {
		return nil, err
	}
	some := slices.DeleteFunc(all, func(e Experiment) bool { return len(e.Selected()) == 0 })
	if len(some) == 0 {
		return nil, fmt.Errorf("%s: no run matches, want a part of a run's name, of which there are %s", p, diag.Examples(p.passed))
	}
	return some, nil
}

func (p *Pick) checkModels(all []Experiment) error {
	var known []string
	for _, e := range all {
		for _, m := range e.Spec.Models {
			known = append(known, m.ID.Value, m.Base())
		}
	}
	slices.Sort(known)
	known = slices.Compact(known)
	for _, id := range p.Models {
		if !slices.Contains(known, id) {
			return fmt.Errorf("--model: %s", diag.OneOf(id, known))
		}
	}
	return nil
}

// String is the flags as they may have been written.
func (p *Pick) String() string {
	var flags []string
	if p.Run != nil {
		flags = append(flags, fmt.Sprintf("--run %q", p.Run))
	}
	for _, m := range p.Models {
		flags = append(flags, "--model "+m)
	}
	if p.Level != 0 {
		flags = append(flags, "--level "+p.Level.String())
	}
	return strings.Join(flags, " ")
}
