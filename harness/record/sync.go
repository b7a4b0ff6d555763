package record

import (
	"os"
	"path/filepath"
)

// syncDir puts a folder's entries on disk. Some systems refuse to sync a folder; nothing can
// be done about it, and the files in it are synced for themselves.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	d.Sync()
	return d.Close()
}

// SyncDirs puts the entries of a run's folder and of those above it, up to the experiment's
// and the one that holds it, on disk.
func SyncDirs(f Folder, dir string) error {
	for ; ; dir = filepath.Dir(dir) {
		if err := syncDir(dir); err != nil {
			return err
		}
		if dir == filepath.Dir(f.Dir) || dir == filepath.Dir(dir) {
			return nil
		}
	}
}
