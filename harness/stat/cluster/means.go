package cluster

import "math"

// MeanBounds is the interval of the mean of the queries' means: t with G−1 degrees of
// freedom, alpha per side; NaN below 2 queries.
func MeanBounds(cells []Cell, alpha float64) (lower, upper float64) {
	means := QueryMeans(cells)
	if len(means) < 2 {
		return math.NaN(), math.NaN()
	}
	g := float64(len(means))
	mean, squares := Average(means), 0.0
	for _, v := range means {
		squares += (v - mean) * (v - mean)
	}
	half := tQuantile(len(means)-1, alpha) * math.Sqrt(squares/(g-1)/g)
	return mean - half, mean + half
}

// QueryMeans are the means of the queries, in the order of first appearance.
func QueryMeans(cells []Cell) []float64 {
	queries := newClusters(len(cells))
	for _, c := range cells {
		if c.N > 0 {
			queries.add(c.Query, c.X, c.N)
		}
	}
	means := make([]float64, len(queries.x))
	for i := range means {
		means[i] = queries.x[i] / queries.n[i]
	}
	return means
}

// Average is the mean of v.
func Average(v []float64) (mean float64) {
	for _, x := range v {
		mean += x
	}
	return mean / float64(len(v))
}
