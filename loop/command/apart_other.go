//go:build !unix

package command

import (
	"os"
	"os/exec"
)

func apart(*exec.Cmd) {}

func kill(p *os.Process) { p.Kill() }
