// Command gen writes the JSON Schema of specs: schema.json, which the binary holds, and a copy
// beside the experiments, where editors find it. Run it with go generate ./harness/spec.
//
// The schema is made from the types of package spec, their tags, their comments and the
// defaults, so that it cannot say anything else than they do.
package main

import (
	"fmt"
	"os"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1)
	}
}

func run() error {
	text, err := generate(".")
	if err != nil {
		return err
	}
	for _, path := range copies() {
		if err := os.WriteFile(path, text, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// copies are the files that hold the schema, from the folder of package spec.
func copies() []string { return []string{"schema.json", "../../experiments/schema.json"} }
