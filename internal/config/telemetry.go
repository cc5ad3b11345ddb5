package config

func (p *Project) mergeTelemetry(user, project *layer) {
	p.File.Telemetry = section(p, user, project, "telemetry", user.doc.Telemetry, project.doc.Telemetry)
	u, w := value(user.doc.Log), value(project.doc.Log)
	p.File.Log.Format = p.first(project, "log.format", u.Format, user.docFile, w.Format, "")
	p.File.Log.Level = p.first(project, "log.level", u.Level, user.docFile, w.Level, "")
}
