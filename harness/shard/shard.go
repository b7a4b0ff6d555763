// Package shard divides planned runs among processes, on one machine or on many. The division
// depends on the plans and the number of shards alone, so that every process computes the same
// one and nobody coordinates.
//
// It refuses nothing but names of shards that are none: more shards than runs are fine, and
// those without a run have nothing to do.
package shard

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

// Shard is one of several that together execute all runs. The zero value is no shard: a process
// that executes all of them.
type Shard struct{ Index, Of int } // Index from 1

// Most bounds the number of shards: each is a process.
const Most = 100_000

// auto has the shard read from the variables of the engine that started the process.
const auto = "auto"

// Given reports whether the process is a shard.
func (s *Shard) Given() bool { return s.Of > 0 }

// String is the shard as a flag has it: 3/7. Of no shard it is empty.
func (s *Shard) String() string {
	if !s.Given() {
		return ""
	}
	return fmt.Sprintf("%d/%d", s.Index, s.Of)
}

// Type is that of a flag's value.
func (s *Shard) Type() string { return "I/N" }

// Set reads the value of a flag: I/N, or auto, which alone reads the environment.
func (s *Shard) Set(text string) (err error) {
	if text == auto {
		*s, err = Auto(os.LookupEnv)
	} else {
		*s, err = Parse(text)
	}
	return err
}

// Parse reads I/N.
func Parse(text string) (Shard, error) {
	index, of, divided := strings.Cut(text, "/")
	i, wrongIndex := strconv.Atoi(index)
	n, wrongOf := strconv.Atoi(of)
	if !divided || wrongIndex != nil || wrongOf != nil {
		return Shard{}, fmt.Errorf("found %q, want I/N, such as 3/7 for the third of seven shards, or auto", text)
	}
	s := Shard{i, n}
	return s, s.check()
}

// check refuses an index that is not of its shards.
func (s Shard) check() error {
	switch {
	case s.Of < 1 || s.Of > Most:
		return fmt.Errorf("found %d shards, want 1 to %d", s.Of, Most)
	case s.Index == 0:
		return fmt.Errorf("found shard 0 of %d: shards are counted from 1, want 1/%d to %d/%d", s.Of, s.Of, s.Of, s.Of)
	case s.Index < 0 || s.Index > s.Of:
		return fmt.Errorf("found shard %d of %d, want 1/%d to %d/%d", s.Index, s.Of, s.Of, s.Of, s.Of)
	}
	return nil
}
