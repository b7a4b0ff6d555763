package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// ledgerFile stands beside the golden files that it tells of.
const ledgerFile = "LEDGER.jsonl"

// ledgerEntry is one deliberate change of a golden file. SHAs are SHA-256 in hex.
type ledgerEntry struct {
	Date   string  `json:"date"` // of the change, in UTC, as 2006-01-02
	File   string  `json:"file"` // relative to the ledger
	Old    *string `json:"old"`  // null: there was no file
	New    string  `json:"new"`
	Reason string  `json:"reason"`
}

// appendLedger adds an entry in one write, to a ledger that is whole or not there yet.
func appendLedger(path string, e ledgerEntry) error {
	if _, err := readLedger(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
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

// readLedger reads all entries. The error names the line of one that is none.
func readLedger(path string) ([]ledgerEntry, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var entries []ledgerEntry
	for line := range bytes.Lines(data) {
		var e ledgerEntry
		if err := json.Unmarshal(line, &e); err != nil {
			return nil, fmt.Errorf("%s:%d: not an entry of a ledger: %v", path, len(entries)+1, err)
		}
		if !bytes.HasSuffix(line, []byte("\n")) {
			return nil, fmt.Errorf("%s:%d: the last line has no end, want a newline", path, len(entries)+1)
		}
		entries = append(entries, e)
	}
	return entries, nil
}
