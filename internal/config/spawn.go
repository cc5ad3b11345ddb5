package config

import (
	"path/filepath"
	"strconv"
	"strings"

	"mycelium/internal/config/source"
)

// Spawn is the spawn: section: where a chat may start agents.
type Spawn struct {
	// folders below which sessions may be started; ~ is the home folder; none: nowhere
	SearchPaths []string `yaml:"searchPaths" json:"searchPaths,omitempty"`
	Command     []string `yaml:"command" json:"command,omitempty"` // program and arguments that start an agent; absent: myc claude
}

func (s *Spawn) check(bad source.Report) {
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

// mergeSpawn takes the user's word where he gave one: a project must not open his other folders.
func (p *Project) mergeSpawn(user, project *layer) {
	switch {
	case user.doc.Spawn != nil:
		p.File.Spawn = *user.doc.Spawn
		p.said("spawn", true, user.docFile)
		if project.doc.Spawn != nil {
			p.ignored(project, project.docFile, project.docData, "spawn", "the user's files have it")
		}
	case project.doc.Spawn != nil:
		p.File.Spawn = *project.doc.Spawn
		p.said("spawn", true, project.docFile)
	}
	for i, s := range p.File.Spawn.SearchPaths {
		p.File.Spawn.SearchPaths[i] = p.path(s)
	}
}
