package check

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/poimen-memory/mem/internal/digest"
	"github.com/poimen-memory/mem/internal/inputfile"
)

// LedgerFile is the name of a ledger. It stands beside the golden files that it tells of.
const LedgerFile = "LEDGER.jsonl"

// LedgerEntry is one deliberate change of a golden file. SHAs are SHA-256 in hex.
type LedgerEntry struct {
	Date   string  `json:"date"` // of the change, in UTC, as 2006-01-02
	File   string  `json:"file"` // relative to the ledger
	Old    *string `json:"old"`  // null: there was no file
	New    string  `json:"new"`
	Reason string  `json:"reason"`
}

// ReadLedger reads all entries, oldest first. The error names the line of one that is
// none; that there is no ledger is an fs.ErrNotExist.
func ReadLedger(path string) ([]LedgerEntry, error) {
	data, err := inputfile.Read(path, inputfile.MaxGolden)
	if err != nil {
		return nil, err
	}
	var entries []LedgerEntry
	for line := range bytes.Lines(data) {
		var e LedgerEntry
		if err := json.Unmarshal(line, &e); err != nil {
			return nil, fmt.Errorf("%s:%d: not an entry of a ledger: %v", path, len(entries)+1, err)
		}
		if !bytes.HasSuffix(line, []byte("\n")) {
			return nil, fmt.Errorf("%s:%d: missing final newline", path, len(entries)+1)
		}
		entries = append(entries, e)
	}
	return entries, nil
}

// LedgerPath is where the golden's ledger is.
func (g Golden) LedgerPath() string { return filepath.Join(filepath.Dir(g.File), LedgerFile) }

// Newest is the newest entry of the golden's ledger that is about its file; nil: none.
func (g Golden) Newest() (*LedgerEntry, error) {
	entries, err := ReadLedger(g.LedgerPath())
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var newest *LedgerEntry
	for i, e := range entries {
		if e.File == filepath.Base(g.File) {
			newest = &entries[i]
		}
	}
	return newest, nil
}

// Recorded holds the file against its ledger, whatever the prompt is: bytes that the
// newest entry does not name were put there by another way than a deliberate update.
func (g Golden) Recorded() Result {
	r := g.recorded()
	r.Pos = g.Pos
	return r
}

func (g Golden) recorded() Result {
	data, err := inputfile.Read(g.File, inputfile.MaxGolden)
	if err != nil {
		return Skipped("ledger", g.File, "the file cannot be read")
	}
	newest, err := g.Newest()
	sha := digest.Of(string(data))
	switch {
	case err != nil:
		return Unreadable("ledger", g.File, err)
	case newest == nil:
		return fail("ledger", g.File, "%s has no entry for it: it was not written by mem golden update; if its bytes are meant: %s", g.LedgerPath(), g.Update)
	case newest.New != sha:
		return fail("ledger", g.File, "it was edited by hand: its SHA-256 is %.12s…, the newest entry in %s (%s, %q) has %.12s…; take the edit back or, if the prompt's bytes are meant: %s",
			sha, g.LedgerPath(), newest.Date, newest.Reason, newest.New, g.Update)
	}
	return pass("ledger", g.File, "recorded on %s: %s", newest.Date, newest.Reason)
}
