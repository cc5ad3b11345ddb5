package swarmed

import (
	"slices"
	"strings"

	"mycelium/internal/gate/facts"
	"mycelium/internal/policy"
)

// Governs reports whether a path, from the top of a repository, is of a file that governs agents: in whatever folder it lies, or in the
// folder of the project, which has a prefix from the top.
func Governs(prefix, path string) bool {
	if facts.Governs("/" + path) {
		return true
	}
	path, prefix = strings.ToLower(path)+"/", strings.ToLower(prefix)
	return slices.ContainsFunc(policy.BasePaths(), func(b policy.BasePath) bool {
		if file, ok := strings.CutPrefix(b.Path, "./"); ok {
			return strings.HasPrefix(path, prefix+file+"/")
		}
		file, anywhere := strings.CutPrefix(b.Path, "**/")
		return anywhere && b.ChangeOnly && strings.Contains("/"+path, "/"+file+"/")
	})
}
