package worktree

import (
	"iter"
	"path/filepath"
	"slices"
	"strings"
)

// Repository finds the repository that a folder is in, without proof that it belongs to the folder. It returns the git folder of the
// working tree, and the one that all working trees share. Both are empty if there is none.
func Repository(dir string) (own, common string) {
	top, info := nearest(dir)
	if info == nil {
		return "", ""
	}
	git := filepath.Join(top, gitName)
	if !info.Mode().IsRegular() {
		return git, git
	}
	own, ok := readLink(git, "gitdir: ")
	if !ok {
		return "", ""
	}
	if common, ok = readLink(filepath.Join(own, "commondir"), ""); !ok {
		return own, own // of a submodule
	}
	return own, common
}

// Settings returns the settings in a file of git, in their order. A key is the section and the name in lower case, without the subsection
// between them. A name without a value is true.
func Settings(text []byte) iter.Seq2[string, string] {
	return func(yield func(key, value string) bool) {
		section := ""
		for line := range strings.Lines(string(text)) {
			line = strings.TrimSpace(line)
			if header, rest, found := strings.Cut(line, "]"); found && strings.HasPrefix(header, "[") {
				section, _, _ = strings.Cut(strings.ToLower(strings.TrimSpace(header[1:])), " ")
				section, _, _ = strings.Cut(section, ".")
				line = strings.TrimSpace(rest)
			}
			if line == "" || line[0] == '#' || line[0] == ';' {
				continue
			}
			key, value, found := strings.Cut(line, "=")
			if value = strings.Trim(strings.TrimSpace(value), `"`); !found {
				value = "true"
			}
			if !yield(section+"."+strings.ToLower(strings.TrimSpace(key)), value) {
				return
			}
		}
	}
}

// isFalse reports whether git reads a value as false (git-config, "boolean").
func isFalse(value string) bool {
	return slices.Contains([]string{"false", "no", "off", "0", ""}, strings.ToLower(value))
}
