//go:build unix

package command

import (
	"os"
	"os/exec"
	"syscall"
)

// apart gives the program a group of its own: what interrupts mem on a terminal is left to mem,
// and what the program has started ends with it.
func apart(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

func kill(p *os.Process) { syscall.Kill(-p.Pid, syscall.SIGKILL) }
