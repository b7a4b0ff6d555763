package shard

import (
	"fmt"
	"strconv"
	"strings"
)

// CountVariable is how a Kubernetes Job passes the number of its completions, for which the
// engine has no variable of its own.
const CountVariable = "MEM_SHARD_COUNT"

// engine is a system that starts processes and numbers them.
type engine struct {
	name  string
	index string // the variable that only a numbered process has
	read  func(variables) (Shard, error)
}

var engines = []engine{
	{"GitLab CI", "CI_NODE_INDEX", gitlab},
	{"a Slurm array", "SLURM_ARRAY_TASK_ID", slurm},
	{"a Kubernetes Indexed Job", "JOB_COMPLETION_INDEX", kubernetes},
}

// Auto reads the shard from the variables of the engine that started the process. That of no
// engine, or of two, is an error.
func Auto(lookup func(string) (string, bool)) (Shard, error) {
	var found []engine
	var names []string
	for _, e := range engines {
		if _, set := lookup(e.index); set {
			found = append(found, e)
			names = append(names, fmt.Sprintf("%s (%s)", e.index, e.name))
		}
	}
	switch len(found) {
	case 0:
		return Shard{}, fmt.Errorf("auto: found none of %s, want one of them, or I/N; GitHub Actions has none: --shard ${{ matrix.shard }}/${{ strategy.job-total }}", known())
	case 1:
		s, err := found[0].read(lookup)
		if err == nil {
			err = s.check()
		}
		if err != nil {
			return Shard{}, fmt.Errorf("auto: %s: %w", found[0].name, err)
		}
		return s, nil
	}
	return Shard{}, fmt.Errorf("auto: found %s, want the variable of one engine: say I/N", strings.Join(names, " and "))
}

func known() string {
	var names []string
	for _, e := range engines {
		names = append(names, fmt.Sprintf("%s (%s)", e.index, e.name))
	}
	return strings.Join(names, ", ")
}

// variables looks up those of the environment.
type variables func(string) (string, bool)

// number is a variable that must be a number.
func (v variables) number(name, advice string) (int, error) {
	text, set := v(name)
	if !set {
		return 0, fmt.Errorf("%s is not set: %s", name, advice)
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		return 0, fmt.Errorf("%s is %q, want a number", name, text)
	}
	return n, nil
}

// numbers are variables that must be numbers.
func (v variables) numbers(advice string, names ...string) ([]int, error) {
	var list []int
	for _, name := range names {
		n, err := v.number(name, advice)
		if err != nil {
			return nil, err
		}
		list = append(list, n)
	}
	return list, nil
}

// gitlab counts from 1.
func gitlab(v variables) (Shard, error) {
	n, err := v.numbers("want parallel: N in the job", "CI_NODE_INDEX", "CI_NODE_TOTAL")
	if err != nil {
		return Shard{}, err
	}
	return Shard{n[0], n[1]}, nil
}

// slurm counts from the array's lowest task. An array with gaps, or one that begins elsewhere
// than at 0 or 1, may be the tasks of another array that are started again: their number is not
// that of the shards.
func slurm(v variables) (Shard, error) {
	n, err := v.numbers("want sbatch --array=1-N", "SLURM_ARRAY_TASK_ID", "SLURM_ARRAY_TASK_MIN", "SLURM_ARRAY_TASK_MAX", "SLURM_ARRAY_TASK_COUNT")
	if err != nil {
		return Shard{}, err
	}
	id, lowest, highest, count := n[0], n[1], n[2], n[3]
	if lowest != 0 && lowest != 1 || highest-lowest+1 != count {
		return Shard{}, fmt.Errorf("found tasks %d to %d, %d of them, want an array from 0 or 1 without gaps, such as --array=1-8; to start one task of it again, use scontrol requeue or say I/N", lowest, highest, count)
	}
	return Shard{id - lowest + 1, count}, nil
}

// kubernetes counts from 0.
func kubernetes(v variables) (Shard, error) {
	index, err := v.number("JOB_COMPLETION_INDEX", "want completionMode: Indexed in the Job")
	if err != nil {
		return Shard{}, err
	}
	count, err := v.number(CountVariable, "want it in the container's env, with the number of the Job's completions")
	if err != nil {
		return Shard{}, err
	}
	return Shard{index + 1, count}, nil
}
