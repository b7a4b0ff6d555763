package decide

import (
	"errors"
	"fmt"

	"github.com/poimen-memory/mem/harness/diag"
	"github.com/poimen-memory/mem/harness/stat"
)

// Made is an earlier decision of the same id, model and level in the same folder.
type Made struct {
	Look  int `json:"look"`  // 1-based index into the planned looks; 0: none were planned
	Units int `json:"units"` // queries (sessions under unit session) it was made on
}

// Look is when a decision is made, and with how much of the error.
type Look struct {
	Number  int     `json:"number,omitempty"` // 1-based; 0: no looks are planned
	Units   int     `json:"units"`            // queries (sessions under unit session) present
	Alpha   float64 `json:"alpha"`            // 0: there is no decision now
	Planned bool    `json:"planned"`          // false: it can be NO-GO, never GO
	Note    string  `json:"note,omitempty"`   // why there is no decision, or why it was not planned
}

// SpendAlpha is the error of look j made after look i (1-based; i = 0: none was made).
func SpendAlpha(looks []int, j, i int) float64 {
	last := float64(looks[len(looks)-1])
	u := func(look int) float64 {
		if look == 0 {
			return 0
		}
		return float64(looks[look-1]) / last
	}
	return decisionAlpha * (u(j)*u(j) - u(i)*u(i))
}

func validateLooks(looks []int) error {
	for i, n := range looks {
		if n < 1 || i > 0 && n <= looks[i-1] {
			return fmt.Errorf("looks %v: want numbers of queries (sessions under unit session), each above the one before", looks)
		}
	}
	return nil
}

func validateMade(made []Made, looks []int) (err error) {
	for _, m := range made {
		if m.Look < 0 || len(looks) > 0 && m.Look > len(looks) {
			err = errors.Join(err, fmt.Errorf("an earlier decision was look %d, and %d are planned: keep the planned looks", m.Look, len(looks)))
		}
	}
	return err
}

// look is the look that so many units allow. An earlier decision on as many units is the
// same look again; a planned look that was made on another number is spent.
func (r Rule) look(units int) Look {
	l := Look{Units: units, Alpha: decisionAlpha, Planned: true}
	before := 0
	for _, m := range r.Made {
		switch {
		case m.Units == units:
		case m.Look == 0:
			l.Planned = false
			l.Note = fmt.Sprintf("decided before on %s and no looks were planned", diag.Count(m.Units, r.unitName()))
		default:
			before = max(before, m.Look)
		}
	}
	if len(r.Looks) == 0 {
		return l
	}
	for i, n := range r.Looks {
		if n <= units {
			l.Number = i + 1
		}
	}
	if l.Number <= before {
		l.Alpha, l.Note = 0, r.nextLook(max(l.Number, before))
		return l
	}
	l.Alpha = SpendAlpha(r.Looks, l.Number, before)
	return l
}

// nextLook says when the look after one that is spent, or too early, is.
func (r Rule) nextLook(after int) string {
	if after == len(r.Looks) {
		return "every planned look is made"
	}
	return fmt.Sprintf("next look at %s", diag.Count(r.Looks[after], r.unitName()))
}

// lastAlpha is the error of the last planned look when every look is made.
func (r Rule) lastAlpha() float64 {
	if n := len(r.Looks); n > 0 {
		return SpendAlpha(r.Looks, n, n-1)
	}
	return decisionAlpha
}

func (r Rule) unitName() string {
	if r.Unit == stat.BySession {
		return "session"
	}
	return "query"
}

func (r Rule) unitNames() string {
	if r.Unit == stat.BySession {
		return "sessions"
	}
	return "queries"
}
