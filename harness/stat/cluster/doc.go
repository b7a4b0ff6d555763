// Package cluster computes intervals, differences and forecasts of rates whose observations
// come in clusters: the turns of a query, the queries of a session. It implements
// to 4 of docs/statistics.md; it knows no run and no metric.
//
// The observations of a cluster share a question or a text, so none of them is a sample of
// its own: an interval over observations (Wilson's, say) claims a certainty that the data do
// not have, and is not offered.
package cluster
