package config

import (
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"mycelium/internal/config/source"
)

// Spawn is the spawn: section: where a chat may start agents.
type Spawn struct {
	// folders below which a chat may start agents; ~ is the home folder; empty: nowhere
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

// mergeIdentity takes the user's section, or else the project's, which gives no role that the user's session does not allow.
func (p *Project) mergeIdentity(user, project *layer) {
	if user.doc.Identity == nil && project.doc.Identity == nil {
		return
	}
	bound := value(user.doc.Session).bound()
	s := section(p, user, project, "identity", user.doc.Identity, project.doc.Identity)
	if bound != nil && user.doc.Identity == nil && s.DefaultRole != "" && !slices.Contains(bound, s.DefaultRole) {
		p.ignored(project, project.docFile, project.docData, "identity.defaultRole",
			"the user's session does not allow role "+strconv.Quote(s.DefaultRole))
		s.DefaultRole = ""
	}
	s.Bound = bound
	for i, k := range s.Keys {
		if !strings.Contains(k, "://") {
			s.Keys[i] = p.path(k)
		}
	}
	p.File.Identity = &s
}

func (p *Project) mergeSpawn(user, project *layer) {
	p.File.Spawn = section(p, user, project, "spawn", user.doc.Spawn, project.doc.Spawn)
	for i, s := range p.File.Spawn.SearchPaths {
		p.File.Spawn.SearchPaths[i] = p.path(s)
	}
}
