package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/poimen-memory/mem/loop/eventlog"
	"github.com/poimen-memory/mem/prompt/token"
)

func verifyCommand() *cobra.Command {
	var file string
	cmd := &cobra.Command{
		Use:   "verify LOG…",
		Short: "Recompute event logs and say what they are worth",
		Long: `verify recomputes all that can be recomputed in event logs, and says of each whether it is
complete, interrupted (whole turns, then at most a torn one), or corrupt, and where. A
folder stands for all events.jsonl below it. The tokens of a log whose vocabulary is a file
are counted again where --tokenizer names that file, and else taken on trust.

Exit codes: 0 all are complete; 1 one is corrupt; 3 none is, but one is interrupted; 2 there
is no log, or one cannot be read.`,
		Example: `  mem verify reports
  mem verify reports/first/runs/staging/redis-port/L1/oracle/record/events.jsonl`,
		RunE: func(cmd *cobra.Command, args []string) error {
			count := eventlog.CountTokens(countMemory)
			if file != "" {
				known, err := token.File(file)
				if err != nil {
					return fmt.Errorf("--tokenizer: %w", err)
				}
				count = alsoOf(known)
			}
			return verify(cmd.OutOrStdout(), args, count)
		},
	}
	cmd.Flags().StringVar(&file, "tokenizer", "", "a tokenizer.json `FILE` that logs were counted with")
	return cmd
}

// verify judges every log before it says that one could not be read.
func verify(w io.Writer, args []string, count eventlog.CountTokens) error {
	paths, err := logFiles(args)
	found := map[eventlog.State]bool{}
	for _, path := range paths {
		state, unread := verifyOne(w, path, count)
		found[state] = true
		err = errors.Join(err, unread)
	}
	switch {
	case err != nil:
		return err
	case len(paths) == 0:
		return errors.New("no log: want event logs, or folders with an events.jsonl below them, as in mem verify reports")
	case found[eventlog.Corrupt]:
		return exitWith(exitFailed)
	case found[eventlog.Interrupted]:
		return exitWith(exitIncomplete)
	}
	return nil
}

// logFiles lists what arguments stand for, folders in lexical order.
func logFiles(args []string) (paths []string, err error) {
	for _, arg := range args {
		info, missing := os.Stat(arg)
		switch {
		case missing != nil:
			err = errors.Join(err, fmt.Errorf("%s: %v", arg, reason(missing)))
		case info.IsDir():
			below, unread := logsBelow(arg)
			paths, err = append(paths, below...), errors.Join(err, unread)
		default:
			paths = append(paths, arg)
		}
	}
	return paths, err
}

func logsBelow(dir string) (paths []string, err error) {
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && d.Name() == "events.jsonl" {
			paths = append(paths, path)
		}
		return err
	})
	return paths, err
}

func verifyOne(w io.Writer, path string, count eventlog.CountTokens) (eventlog.State, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	r, err := eventlog.Verify(f, count)
	if err != nil {
		return "", err
	}
	line := fmt.Sprintf("%-11s  %4d turns  %s", r.State, r.Turns, path)
	if r.State == eventlog.Corrupt {
		line = fmt.Sprintf("%s:%d: %s", line, r.Line, r.Rule)
	}
	_, err = fmt.Fprintln(w, line)
	return r.State, err
}
