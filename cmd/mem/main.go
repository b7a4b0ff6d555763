// Command mem evaluates gated recurrent memory loops: it runs the experiments that specs
// describe, judges what was sent and logged, and keeps the golden prompts. `mem help`
// lists its commands, `mem help COMMAND` shows worked examples.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/poimen-memory/mem/harness/tty"
	"github.com/poimen-memory/mem/loop/keyfilter"
)

func main() {
	os.Exit(execute(interruptible(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// interruptible is cancelled by a first signal; from then on a second one ends the process
// at once.
func interruptible() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		<-signals
		signal.Stop(signals) // first: who sees the context end may send the second
		cancel()
	}()
	return ctx
}

// execute is the program without its process: it returns the exit code.
func execute(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	var keys keyfilter.Filter
	out, errs := keys.Writer(stdout), keys.Writer(stderr)
	root := rootCommand()
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(out)
	root.SetErr(errs)
	err := root.ExecuteContext(withKeys(ctx, &keys))
	err = errors.Join(err, out.Flush())
	printError(errs, err)
	if exitCode(err) == exitInterrupted && len(args) > 0 && args[0] == "eval" {
		fmt.Fprintln(errs, "mem: to go on: "+tty.ResumeCommand(args))
	}
	errs.Flush() // there is nowhere left to say that it failed
	return exitCode(err)
}
