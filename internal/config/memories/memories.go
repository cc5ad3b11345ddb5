// Package memories has the memory section of mycelium.yaml, which says where the memories of the roles are.
package memories

import (
	"path"
	"strconv"
	"strings"

	"mycelium/internal/config/source"
)

// Section is the memory: section.
type Section struct {
	Dir string `yaml:"dir" json:"dir,omitempty" about:"a folder of the project, for a team that keeps the memories in its repository; absent: the state of the project"`
}

// Check reports a folder that is not in the project. The folder is closed to agents, so it must be one of its own.
func (s *Section) Check(bad source.Report) {
	if d := s.Dir; d != "" && (s.Folder() == "" || strings.ContainsAny(d, "\\\x00\n*?[]{}$") || strings.HasPrefix(d, "~")) {
		bad("memory.dir", "memory.dir is "+strconv.Quote(d),
			"name a folder in the project that has nothing else in it, such as memory or docs/memory")
	}
}

// Folder returns the folder of the project, relative and clean, or "" if the memories are in the state of the project.
func (s *Section) Folder() string {
	clean := path.Clean(s.Dir)
	if s.Dir == "" || clean == "." || path.IsAbs(clean) || clean == ".." || strings.HasPrefix(clean, "../") {
		return ""
	}
	return clean
}
