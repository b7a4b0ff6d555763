package record

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"

	"github.com/poimen-memory/mem/harness/atomicfile"
	"github.com/poimen-memory/mem/internal/inputfile"
)

// expectedFile is below runs/, for it is part of the record: the live models that the shards of an
// evaluation were to ask. Where no record of such a model arrives, its shards are missing.
const expectedFile = "expected.json"

type expected struct {
	LiveModels []string `json:"live_models"` // ids, sorted
}

func readExpected(f Folder) (e expected, err error) {
	path := f.RunDir(expectedFile)
	data, err := inputfile.Read(path, inputfile.MaxSpec)
	if errors.Is(err, fs.ErrNotExist) {
		return expected{}, nil
	}
	if err == nil {
		err = json.Unmarshal(data, &e)
	}
	if err != nil {
		return expected{}, fmt.Errorf("%s: %w: want the file as mem eval --shard wrote it", path, err)
	}
	return e, nil
}

// Expected are the ids of the live models whose runs are expected, sorted.
func Expected(f Folder) ([]string, error) {
	e, err := readExpected(f)
	return e.LiveModels, err
}

// Expect adds live models to those whose runs are expected. Shards that write at the same time
// write the same.
func Expect(f Folder, models []string) error {
	e, err := readExpected(f)
	if err != nil {
		return err
	}
	all := slices.Concat(e.LiveModels, models)
	slices.Sort(all)
	if all = slices.Compact(all); len(all) == len(e.LiveModels) {
		return nil
	}
	if err := os.MkdirAll(f.RunDir(""), 0o777); err != nil {
		return err
	}
	return atomicfile.Write(f.RunDir(expectedFile), func(w io.Writer) error {
		return json.NewEncoder(w).Encode(expected{all})
	})
}

// Expects reports whether a live model's runs are expected. A file that cannot be read expects
// all: what is missing must not look complete.
func Expects(f Folder, model string) bool {
	e, err := readExpected(f)
	return err != nil || slices.Contains(e.LiveModels, model)
}
