package stat

import (
	"fmt"
	"math"

	"github.com/poimen-memory/mem/harness/stat/cluster"
)

// Mean is the mean over runs of a number without limits, such as tokens, with the interval
// of docs/statistics.md for unbounded means: t on query means. Each cell has the sum over its
// runs in X and their number in N. none says why it is undefined without a run.
func Mean(cells []Cell, none string) Estimate {
	m := Counting{metric: metric{Definition: Definition{Interval: byMeans}, none: none}, rate: cluster.NewRate(cells)}
	e := m.Estimate(ByQuery)
	if mean := cluster.Average(cluster.QueryMeans(cells)); e.Value != nil && math.Abs(mean-m.Value()) > 1e-9 {
		e.Notes = append(e.Notes, fmt.Sprintf("the interval is that of the mean of query means, %.3f", mean))
	}
	return e
}
