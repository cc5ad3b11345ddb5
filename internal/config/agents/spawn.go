package agents

import (
	"path/filepath"
	"strconv"
	"strings"

	"mycelium/internal/config/source"
)

// Spawn is the spawn: section: where a chat may start agents.
type Spawn struct {
	SearchPaths []string `yaml:"searchPaths" json:"searchPaths,omitempty" about:"folders below which a chat may start agents; ~ is the home folder; empty: nowhere"`
	Command     []string `yaml:"command" json:"command,omitempty" about:"program and arguments that start an agent; absent: myc claude"`
}

// Check reports what is wrong with it.
func (s *Spawn) Check(bad source.Report) {
	for i, p := range s.SearchPaths {
		if !filepath.IsAbs(p) && !strings.HasPrefix(p, "~/") || filepath.Clean(p) == "/" || strings.Contains(p, "$") {
			bad("spawn.searchPaths", "spawn.searchPaths["+strconv.Itoa(i)+"] is "+strconv.Quote(p),
				"write the absolute path of a folder that holds projects, such as ~/src")
		}
	}
	if s.Command != nil && (len(s.Command) == 0 || s.Command[0] == "") {
		bad("spawn.command", "spawn.command names no program", "write [claude], or leave it out for myc claude")
	}
}
