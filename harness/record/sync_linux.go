package record

import (
	"os"
	"syscall"
)

// syncData puts a file's data on disk, and of its metadata what reading it needs.
func syncData(f *os.File) error { return syscall.Fdatasync(int(f.Fd())) }
