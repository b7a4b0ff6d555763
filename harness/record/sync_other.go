//go:build !linux

package record

import "os"

// syncData puts a file's data on disk.
func syncData(f *os.File) error { return f.Sync() }
