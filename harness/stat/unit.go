package stat

import "github.com/poimen-memory/mem/harness/stat/cluster"

// Unit says what an interval holds for; Cell is what one query contributes on one session.
type (
	Unit = cluster.Unit
	Cell = cluster.Cell
)

// The units of docs/statistics.md. The empty Unit is Auto.
const (
	Auto      = cluster.Auto
	ByQuery   = cluster.ByQuery
	BySession = cluster.BySession
)

// MinQueries is the number of queries (sessions under unit session) below which no claim
// is decided.
const MinQueries = cluster.MinUnits
