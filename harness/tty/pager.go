package tty

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"

	"github.com/poimen-memory/mem/harness/render"
	"github.com/poimen-memory/mem/loop/keyfilter"
)

// Page shows something long on out, as a terminal takes it: on a terminal through a pager, unless there is none or
// direct is set. The pager gets nothing that keys hides.
func Page(out io.Writer, as render.Terminal, direct bool, keys *keyfilter.Filter, show func(io.Writer, render.Terminal) error) error {
	pager := pagerCommand()
	if direct || pager == nil || !Is(out) {
		return show(out, as)
	}
	terminal, _ := file(out)
	pager.Stdout, pager.Stderr = terminal, os.Stderr
	in, err := pager.StdinPipe()
	if err != nil {
		return err
	}
	if err := pager.Start(); err != nil {
		return show(out, as)
	}
	filtered := keys.Writer(in)
	err = errors.Join(show(filtered, as), filtered.Flush(), in.Close())
	if errors.Is(err, syscall.EPIPE) { // the reader had seen enough
		err = nil
	}
	return errors.Join(err, pager.Wait())
}

// pagerCommand is $PAGER, or less with colours, or nil.
func pagerCommand() *exec.Cmd {
	words := strings.Fields(os.Getenv("PAGER"))
	if len(words) == 0 {
		words = []string{"less", "-FRX"}
	}
	if path, err := exec.LookPath(words[0]); err == nil && words[0] != "cat" {
		return exec.Command(path, words[1:]...)
	}
	return nil
}
