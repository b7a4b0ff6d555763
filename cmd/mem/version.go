package main

import (
	"runtime/debug"

	"github.com/poimen-memory/mem/internal/version"
)

// release is the version that the linker sets in a binary of make dist, from git describe
// --tags; "" in others.
var release string

// ownVersion is what the build knows of itself.
func ownVersion() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		info = &debug.BuildInfo{GoVersion: "an unknown Go"}
	}
	return version.Of(release, info)
}
