package base

import (
	"runtime/debug"
	"strings"
)

// Release is the version of this source tree (semantic versioning). CHANGELOG.md has a section for it.
const Release = "0.1.0"

// Build is what the program knows about how it was built. Go puts it in where it builds from a git checkout; a field is empty where it
// did not.
type Build struct {
	Commit   string // the full hash
	Date     string // of the commit, RFC 3339, in UTC
	Modified bool   // files of the checkout differed from the commit
}

// BuildOf reads the build information of the running program.
func BuildOf() Build {
	var b Build
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return b
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.Commit = s.Value
		case "vcs.time":
			b.Date = s.Value
		case "vcs.modified":
			b.Modified = s.Value == "true"
		}
	}
	return b
}

// Version returns the release, with the commit if the build knows it.
func Version() string {
	if c := BuildOf().Commit; len(c) >= shortCommit {
		return Release + "+" + c[:shortCommit]
	}
	return Release
}

// shortCommit is the number of digits of a commit that people are shown.
const shortCommit = 12

// Origin says in words from which commit, and of which day, the program was built: "commit 028e488a1b2c of 2026-11-25".
func (b Build) Origin() string {
	if len(b.Commit) < shortCommit {
		return "built outside of a git checkout"
	}
	words := "commit " + b.Commit[:shortCommit]
	if day, _, ok := strings.Cut(b.Date, "T"); ok {
		words += " of " + day
	}
	if b.Modified {
		words += ", with changes"
	}
	return words
}
