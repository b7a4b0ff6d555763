package inputfile_test

import (
	"net"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/poimen-memory/mem/internal/inputfile"
)

// TestWhatHasNoEndIsNotOpened: opening a pipe without a writer would block.
func TestWhatHasNoEndIsNotOpened(t *testing.T) {
	pipe, socket := filepath.Join(t.TempDir(), "pipe"), filepath.Join(t.TempDir(), "socket")
	if err := syscall.Mkfifo(pipe, 0o666); err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	for path, found := range map[string]string{pipe: "a pipe", socket: "a socket", "/dev/zero": "a device"} {
		_, opened := inputfile.Open(path)
		_, read := inputfile.Read(path, 10)
		for _, err := range []error{opened, read} {
			if err == nil || !strings.Contains(err.Error(), "is "+found+", want a regular file, or - for standard input") {
				t.Errorf("%s: error is %v", path, err)
			}
		}
	}
}
