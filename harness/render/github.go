package render

import (
	"errors"
	"io"
	"os"

	"github.com/poimen-memory/mem/harness/result"
	"github.com/poimen-memory/mem/loop/keyfilter"
)

// GitHub tells GitHub Actions, when it is what runs us: an error for each failure, at its line
// of the spec, and the report, without what keys hides, on the run's page.
func GitHub(stdout io.Writer, keys *keyfilter.Filter, rs []*result.Result) error {
	if os.Getenv("GITHUB_ACTIONS") != "true" {
		return nil
	}
	err := Annotations(stdout, rs)
	if page := os.Getenv("GITHUB_STEP_SUMMARY"); page != "" {
		err = errors.Join(err, appendReport(keys, page, rs))
	}
	return err
}

// appendReport adds to what the commands of earlier steps have written.
func appendReport(keys *keyfilter.Filter, page string, rs []*result.Result) error {
	f, err := os.OpenFile(page, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o666)
	if err != nil {
		return err
	}
	shown := keys.Writer(f)
	return errors.Join(Markdown(shown, rs...), shown.Flush(), f.Close())
}
