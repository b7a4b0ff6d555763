//go:build !reference

package token

import "fmt"

// reference is left out of ordinary builds: the ranks that it needs are 7 MB.
func reference(name string) (*Counter, error) {
	return nil, fmt.Errorf("tokenizer %s: this build has no reference tokenizer; leave reference: true out, or build one that has it: go build -tags reference ./cmd/mem", name)
}
