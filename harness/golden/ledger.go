package golden

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"text/tabwriter"

	"github.com/poimen-memory/mem/harness/check"
	"github.com/poimen-memory/mem/internal/printable"
)

// ShowLedger writes the entries of a ledger as a table.
func ShowLedger(w io.Writer, entries []check.LedgerEntry) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "DATE\tFILE\tOLD\tNEW\tREASON")
	for _, e := range entries {
		old := "-"
		if e.Old != nil {
			old = short(*e.Old)
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\n", oneLine(e.Date), oneLine(e.File), oneLine(old), oneLine(short(e.New)), oneLine(e.Reason))
	}
	return t.Flush()
}

// short is as much of a digest as a person compares.
func short(sha string) string { return sha[:min(len(sha), 12)] }

// oneLine keeps a table a table, and a terminal from obeying what was written into a file.
func oneLine(s string) string { return printable.Line(strings.Join(strings.Fields(s), " ")) }

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
