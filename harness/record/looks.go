package record

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/poimen-memory/mem/internal/inputfile"
)

// Look is one time at which a decision was made on live or replayed models: looking again at
// more data and deciding then raises the chance of a false verdict.
type Look struct {
	Decision string `json:"decision"`
	Model    string `json:"model"`
	Level    string `json:"level"`
	Unit     string `json:"unit"` // what Count counts
	Count    int    `json:"count"`
	Number   int    `json:"look,omitempty"` // among the planned looks, from 1; 0: none were planned
}

// looksFile is below runs/, for looks are part of the record.
const looksFile = "looks.jsonl"

func looksPath(f Folder) string { return filepath.Join(f.RunDir(""), looksFile) }

// Looks are the earlier looks of the folder's decisions, in their order.
func Looks(f Folder) (looks []Look, err error) {
	data, err := inputfile.Read(looksPath(f), inputfile.MaxGolden)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	for n, line := range bytes.Split(bytes.TrimSuffix(data, []byte("\n")), []byte("\n")) {
		var l Look
		d := json.NewDecoder(bytes.NewReader(line))
		d.DisallowUnknownFields()
		if err := d.Decode(&l); err != nil {
			return nil, fmt.Errorf("%s:%d: %v: want the line as mem eval wrote it; without the line the look is not counted", looksPath(f), n+1, err)
		}
		looks = append(looks, l)
	}
	return looks, nil
}

// AddLooks appends the looks that the folder does not have yet, and syncs them.
func AddLooks(f Folder, looks []Look) error {
	have, err := Looks(f)
	if err != nil {
		return err
	}
	known := map[Look]bool{}
	for _, l := range have {
		known[l] = true
	}
	var lines bytes.Buffer
	for _, l := range looks {
		if known[l] {
			continue
		}
		known[l] = true
		if err := json.NewEncoder(&lines).Encode(l); err != nil {
			return err
		}
	}
	if lines.Len() == 0 {
		return nil
	}
	return appendSynced(looksPath(f), lines.Bytes())
}

func appendSynced(path string, data []byte) error {
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o666)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Sync(), f.Close())
}
