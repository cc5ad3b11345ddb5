package config

import (
	"slices"
	"strconv"
	"strings"
)

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

func (p *Project) mergeTelemetry(user, project *layer) {
	p.File.Telemetry = section(p, user, project, "telemetry", user.doc.Telemetry, project.doc.Telemetry)
	u, w := value(user.doc.Log), value(project.doc.Log)
	p.File.Log.Format = p.first(project, "log.format", u.Format, user.docFile, w.Format, "")
	p.File.Log.Level = p.first(project, "log.level", u.Level, user.docFile, w.Level, "")
}
