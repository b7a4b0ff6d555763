// Package version says what a build knows of itself.
package version

import (
	"runtime/debug"
	"strings"
)

// Of is the release or, without one, the module's version, which go install takes from
// the module and go build from the tags of the repository, with the revision if it does not
// name it.
func Of(release string, info *debug.BuildInfo) string {
	v := release
	if v == "" {
		v = moduleVersion(info)
	}
	return v + ", built with " + info.GoVersion
}

func moduleVersion(info *debug.BuildInfo) string {
	v := info.Main.Version
	if v == "" {
		v = "unknown"
	}
	settings := map[string]string{}
	for _, s := range info.Settings {
		settings[s.Key] = s.Value
	}
	if revision := settings["vcs.revision"]; revision != "" && !strings.Contains(v, revision[:min(len(revision), 12)]) {
		v += ", revision " + revision
	}
	if settings["vcs.modified"] == "true" && !strings.HasSuffix(v, "+dirty") {
		v += ", modified"
	}
	return v
}
