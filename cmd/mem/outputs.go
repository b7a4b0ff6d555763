package main

import (
	"errors"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/poimen-memory/mem/harness"
	"github.com/poimen-memory/mem/harness/render"
)

// outputs are files over all experiments of an evaluation. An empty name is none.
type outputs struct {
	junit, json, markdown string
}

func (o *outputs) flags(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&o.junit, "junit", "", "write JUnit XML over all experiments to `FILE`")
	flags.StringVar(&o.json, "json", "", "write everything as JSON to `FILE`")
	flags.StringVar(&o.markdown, "markdown", "", "write a report fit for a pull request's comment to `FILE`")
}

// ready makes the files' folders, so that what cannot be written is known before anything
// runs.
func (o *outputs) ready() error {
	for _, path := range []string{o.junit, o.json, o.markdown} {
		if path == "" {
			continue
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			return err
		}
	}
	return nil
}

func (o *outputs) write(rs []*harness.Result) error {
	var errs []error
	for _, file := range []struct {
		path string
		fill func(io.Writer) error
	}{
		{o.junit, func(w io.Writer) error { return render.JUnit(w, rs) }},
		{o.json, func(w io.Writer) error { return render.AllJSON(w, rs) }},
		{o.markdown, func(w io.Writer) error { return render.Markdown(w, rs...) }},
	} {
		if file.path != "" {
			errs = append(errs, writeFile(file.path, file.fill))
		}
	}
	return errors.Join(errs...)
}

// annotate tells GitHub Actions, when it is what runs us: an error for each failure, at its
// line of the spec, and the report on the run's page.
func annotate(stdout io.Writer, rs []*harness.Result) error {
	if os.Getenv("GITHUB_ACTIONS") != "true" {
		return nil
	}
	err := render.Annotations(stdout, rs)
	if page := os.Getenv("GITHUB_STEP_SUMMARY"); page != "" {
		err = errors.Join(err, appendReport(page, rs))
	}
	return err
}

// appendReport adds to what earlier steps' commands have written.
func appendReport(page string, rs []*harness.Result) error {
	f, err := os.OpenFile(page, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o666)
	if err != nil {
		return err
	}
	return errors.Join(render.Markdown(f, rs...), f.Close())
}
