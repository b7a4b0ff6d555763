//go:build !race

package token_test

// raced holds in a build with the race detector.
const raced = false
