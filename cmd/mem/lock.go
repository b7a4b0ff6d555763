package main

import (
	"bufio"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/poimen-memory/mem/harness"
	"github.com/poimen-memory/mem/harness/tty"
	"github.com/poimen-memory/mem/internal/printable"
)

func noLockFlag(cmd *cobra.Command, noLock *bool) {
	cmd.Flags().BoolVar(noLock, "no-lock", false, "write where folders cannot be locked: nothing else may write there")
}

// lock takes the folders of all experiments, or none; with create it makes them.
func (e *evaluation) lock(command string, all []harness.Experiment, create bool) (unlock func(), err error) {
	release, err := harness.Lock(harness.LockConfig{Command: command, Create: create, NoLock: e.noLock, Shard: e.shard}, all)
	if err != nil {
		return nil, &exit{exitIncomplete, err}
	}
	return func() {
		for _, err := range release() {
			printable.Fprintf(e.stderr, "mem: warning: %v\n", err)
		}
	}, nil
}

// confirmFresh says which records --fresh moves away, and asks on a terminal.
func (e *evaluation) confirmFresh(all []harness.Experiment) error {
	if !e.fresh {
		return nil
	}
	records, err := harness.ListPaid(e.stderr, all, e.cfg.Since)
	if err != nil {
		return &exit{exitIncomplete, err}
	}
	if records == 0 || e.yes || !tty.Is(e.stdin) || !tty.Is(e.stderr) {
		return nil
	}
	fmt.Fprint(e.stderr, "Go on? [y/N] ")
	line, err := bufio.NewReader(e.stdin).ReadString('\n')
	if answer := strings.ToLower(strings.TrimSpace(line)); err == nil && (answer == "y" || answer == "yes") {
		return nil
	}
	return errors.New("--fresh: nothing was changed")
}
