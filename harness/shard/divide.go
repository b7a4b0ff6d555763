package shard

import (
	"cmp"
	"container/heap"
	"slices"

	"github.com/poimen-memory/mem/harness/forecast"
	"github.com/poimen-memory/mem/harness/plan"
)

// Division says which shard executes each run.
type Division struct {
	Costs []int // planned tokens, prompts and replies, of each shard
	of    map[*plan.Run]int
}

// Of is the shard of a run, from 1; 0 if the run is in none.
func (d Division) Of(r *plan.Run) int { return d.of[r] }

// group is runs that rest on each other: one process executes them.
type group struct {
	experiment string
	first      int // its first run's place in the plan
	cost       int
	runs       []*plan.Run
}

// Divide gives each of n shards its runs, among the selected runs of the plans that are
// executed. What rests on each other stays together: an enforced run with the recorded run that
// it replays, an L2 run with the L1 runs that it reads. The costliest group is placed first,
// each on the shard that has least so far; the order of the plans does not matter.
func Divide(plans []*plan.Plan, executed func(*plan.Run) bool, n int) Division {
	var groups []*group
	for _, p := range plans {
		groups = append(groups, groupsOf(p, executed)...)
	}
	slices.SortFunc(groups, func(a, b *group) int {
		return cmp.Or(cmp.Compare(b.cost, a.cost), cmp.Compare(a.experiment, b.experiment), cmp.Compare(a.first, b.first))
	})
	d := Division{Costs: make([]int, n), of: map[*plan.Run]int{}}
	least := &loads{}
	for i := range n {
		*least = append(*least, load{shard: i})
	}
	for _, g := range groups {
		lowest := &(*least)[0]
		for _, r := range g.runs {
			d.of[r] = lowest.shard + 1
		}
		lowest.cost, lowest.runs = lowest.cost+g.cost, lowest.runs+len(g.runs)
		d.Costs[lowest.shard] = lowest.cost
		heap.Fix(least, 0)
	}
	return d
}

// groupsOf are the groups of a plan's runs, in its order.
func groupsOf(p *plan.Plan, executed func(*plan.Run) bool) (groups []*group) {
	costs := map[string]int{}
	for planned := range forecast.Runs(p) {
		costs[planned.Name] = planned.Prompt + planned.Completion
	}
	together := union{}
	for _, r := range p.Selected() {
		for _, name := range append(slices.Clone(r.Sources), r.ReplayOf) {
			if name != "" {
				together.join(r.Name, name)
			}
		}
	}
	byRoot := map[string]*group{}
	for i, r := range p.Selected() {
		if !executed(r) {
			continue
		}
		root := together.root(r.Name)
		g := byRoot[root]
		if g == nil {
			g = &group{experiment: p.Spec.Experiment.Value, first: i}
			byRoot[root] = g
			groups = append(groups, g)
		}
		g.cost, g.runs = g.cost+costs[r.Name], append(g.runs, r)
	}
	return groups
}

// union is sets of names that are joined.
type union map[string]string

func (u union) root(name string) string {
	for u[name] != "" && u[name] != name {
		if up := u[u[name]]; up != "" {
			u[name] = up // halves the path
		}
		name = u[name]
	}
	return name
}

func (u union) join(a, b string) {
	if a, b = u.root(a), u.root(b); a != b {
		u[a] = b
	}
}

// load is what a shard has so far.
type load struct{ shard, cost, runs int }

// loads is a heap with the shard that has least on top.
type loads []load

func (l loads) Len() int { return len(l) }

func (l loads) Less(i, j int) bool {
	a, b := l[i], l[j]
	return cmp.Or(cmp.Compare(a.cost, b.cost), cmp.Compare(a.runs, b.runs), cmp.Compare(a.shard, b.shard)) < 0
}

func (l loads) Swap(i, j int) { l[i], l[j] = l[j], l[i] }

// Push is never called: the number of shards is fixed.
func (l *loads) Push(x any) { *l = append(*l, x.(load)) }

// Pop is never called.
func (l *loads) Pop() any {
	last := (*l)[len(*l)-1]
	*l = (*l)[:len(*l)-1]
	return last
}

// Part is the i-th of n parts of a whole, from 1: the first ones are larger by one where it does
// not divide.
func Part(whole, i, n int) int {
	part := whole / n
	if i <= whole%n {
		part++
	}
	return part
}
