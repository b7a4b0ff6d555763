package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"

	"github.com/poimen-memory/mem/harness/check"
)

// appendLedger adds an entry in one write, to a ledger that is whole or not there yet.
func appendLedger(path string, e check.LedgerEntry) error {
	if _, err := check.ReadLedger(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	target, err := inFolder(path)
	if err != nil {
		return err
	}
	var line bytes.Buffer
	enc := json.NewEncoder(&line)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(e); err != nil {
		return err
	}
	f, err := os.OpenFile(target, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o666)
	if err != nil {
		return err
	}
	_, err = f.Write(line.Bytes())
	return errors.Join(err, f.Sync(), f.Close())
}
