package version_test

import (
	"runtime/debug"
	"testing"

	"github.com/poimen-memory/mem/internal/version"
)

// TestOf each way of building.
func TestOf(t *testing.T) {
	const revision = "d0fff20c3a1b5e77aa01c2d3e4f5a6b7c8d9e0f1"
	built := func(version string, settings ...debug.BuildSetting) *debug.BuildInfo {
		return &debug.BuildInfo{GoVersion: "go1.26", Main: debug.Module{Version: version}, Settings: settings}
	}
	at, dirty := debug.BuildSetting{Key: "vcs.revision", Value: revision}, debug.BuildSetting{Key: "vcs.modified", Value: "true"}
	for _, test := range []struct {
		name, release string
		info          *debug.BuildInfo
		want          string
	}{
		{"make dist", "v1.2.3-4-gd0fff20", built("(devel)", at), "v1.2.3-4-gd0fff20"},
		{"go install of a version", "", built("v1.2.3"), "v1.2.3"},
		{"go build at a tag", "", built("v1.2.3", at), "v1.2.3, revision " + revision},
		{"go build after a tag", "", built("v1.2.4-0.20260102030405-d0fff20c3a1b+dirty", at, dirty), "v1.2.4-0.20260102030405-d0fff20c3a1b+dirty"},
		{"go build that ignores tags", "", built("(devel)", at, dirty), "(devel), revision " + revision + ", modified"},
		{"go build without a repository", "", built("(devel)"), "(devel)"},
		{"nothing known", "", built(""), "unknown"},
	} {
		if got, want := version.Of(test.release, test.info), test.want+", built with go1.26"; got != want {
			t.Errorf("%s: %q, want %q", test.name, got, want)
		}
	}
}
