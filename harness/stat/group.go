package stat

import (
	"maps"
	"slices"
)

// Group is a metric on the queries with one value of a tag.
type Group struct {
	Tag      string   `json:"tag"`
	Value    string   `json:"value"`
	Estimate Estimate `json:"estimate"`
}

// Tags are the tags that any query has, in ascending order.
func (s *Sample) Tags() []string {
	seen := map[string]bool{}
	for _, tags := range s.tags {
		for tag := range tags {
			seen[tag] = true
		}
	}
	return slices.Sorted(maps.Keys(seen))
}

// NoTag stands for the value of a tag that a query does not have.
const NoTag = "(none)"

// ValueOf is the value of a tag by query; NoTag for those without.
func (s *Sample) ValueOf(tag string) func(query string) string {
	return func(query string) string {
		if v := s.tags[query][tag]; v != "" {
			return v
		}
		return NoTag
	}
}

// By is a metric on each group of a tag, in ascending order of its values; an error if
// there is no metric of that name.
func (s *Sample) By(tag, name string, unit Unit) (groups []Group, err error) {
	m, ok := find(name)
	if !ok {
		return nil, UnknownMetric(name)
	}
	for _, part := range s.measure(m, false).Split(s.ValueOf(tag)) {
		groups = append(groups, Group{Tag: tag, Value: part.Value, Estimate: part.Estimate(unit)})
	}
	return groups, nil
}

// Units is the number of queries (sessions under unit session), those of incomplete runs
// included.
func (s *Sample) Units(unit Unit) int {
	names := map[string]bool{}
	for _, c := range s.cells {
		name := c.query
		if unit == BySession {
			name = c.session
		}
		names[name] = true
	}
	return len(names)
}
