package base

import (
	"runtime/debug"
)

// Release is the version of this source tree.
const Release = "0.1.0"

// Version returns the release, with the commit if the build knows it.
func Version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return Release
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && len(s.Value) >= 12 {
			return Release + "+" + s.Value[:12]
		}
	}
	return Release
}
