package config

// mergeApproval takes the user's word where he gave one: a project must not choose who answers for him, or whom a model may ask.
func (p *Project) mergeApproval(user, project *layer) {
	switch {
	case user.doc.Approval != nil:
		p.File.Approval = *user.doc.Approval
		p.said("approval", true, user.docFile)
		if project.doc.Approval != nil {
			p.ignored(project, project.docFile, project.docData, "approval", "the user's files have it")
		}
	case project.doc.Approval != nil:
		p.File.Approval = *project.doc.Approval
		p.said("approval", true, project.docFile)
	}
}
