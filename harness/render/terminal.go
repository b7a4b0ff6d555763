package render

import (
	"io"

	"github.com/poimen-memory/mem/harness"
	"github.com/poimen-memory/mem/harness/check"
)

// Terminal shows results to a person.
type Terminal struct {
	Width  int  // columns of the terminal; 0: no limit
	Colour bool // may use ANSI colours
	Quiet  bool // sentences and failures only
}

// MatrixRow is a run that would be done, with the chunks it would read.
type MatrixRow struct {
	Cell  harness.Cell
	Turns int
}

// TokenRow is what one component of a prompt takes, in tokens, and what it may take.
type TokenRow struct {
	Component     string
	Tokens, Limit int
}

// Result shows one experiment.
func (t Terminal) Result(w io.Writer, r *harness.Result) error { return nil }

// Total shows the sentence of result over several experiments.
func (t Terminal) Total(w io.Writer, rs []*harness.Result) error { return nil }

// Matrix shows an experiment's runs without running them.
func (t Terminal) Matrix(w io.Writer, experiment string, rows []MatrixRow) error { return nil }

// Budget shows what the prompts over each corpus take.
func (t Terminal) Budget(w io.Writer, tables []check.BudgetTable) error { return nil }

// Tokens shows what one prompt takes, under a title.
func (t Terminal) Tokens(w io.Writer, title string, rows []TokenRow) error { return nil }
