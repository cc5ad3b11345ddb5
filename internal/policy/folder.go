package policy

import (
	"cmp"
	"slices"
	"strings"
)

// A scope can be bound to a folder ([Scope.Folder]), as that of a worker of the swarm is, which has a working tree of its own. Whatever the
// role and the rules allow, its calls change files in that folder only, by every tool. A command may also use the folders for temporary
// files, because it has its own in the sandbox. The bound only narrows.

// FilesServer is the built-in server for files.
const FilesServer = "files"

// WorksInFolder reports whether the tools of a built-in server work in the folder of the scope that calls.
func WorksInFolder(server string) bool { return server == FilesServer || server == SandboxServer }

// byFolder refuses a part that would change a file outside of the folder of its scope.
func (p *Policy) byFolder(d *Decision, c *Call, part *Part, t *tracer) bool {
	folder := c.Scope.Folder
	if folder == "" || c.Item.Kind != Tool {
		return false
	}
	why := ""
	commands := KindOf(c.Item).Commands
	switch server := c.Item.Server; {
	case strings.HasPrefix(server, "mycelium-") && server != SandboxServer: // they change no file of a project
	case commands && server != AgentServer && !WorksInFolder(server):
		why = "the server " + server + " would run a command elsewhere"
	default:
		if at := p.beyond(folder, part, commands); at != "" {
			why = at + " lies outside of it"
		}
	}
	if why == "" {
		return false
	}
	*d = Decision{Rule: "session", Reason: "This session works in " + folder + " and changes files there only: " + why}
	t.step("session", true, d.Rule, d.Reason)
	return true
}

// beyond returns the first path outside of a folder that a part changes, or "". temporary says that the folders for temporary files count as
// part of it.
func (p *Policy) beyond(folder string, part *Part, temporary bool) string {
	for i := range part.Paths {
		at := &part.Paths[i]
		if at.Access == Read || at.Access == Execute || within(folder, at) {
			continue
		}
		if temporary && p.temporary(at) && !p.ours(at) {
			continue
		}
		return cmp.Or(at.Resolved, at.Clean, at.Raw, "a path without a name")
	}
	return ""
}

// temporary reports whether a path lies in the folders for temporary files, in every form.
func (p *Policy) temporary(at *Path) bool {
	folders := p.ceiling.cleaned // the folder for temporary files itself is nobody's to delete
	if at.Access == Write {
		folders = p.ceiling.temporary
	}
	return slices.ContainsFunc(folders, func(m pathMatcher) bool { return m.allForms(&places{}, at) })
}

// ours reports whether a path may be the project's folder or lie below it. A project may lie among temporary files.
func (p *Policy) ours(at *Path) bool {
	dir := p.dir
	for _, form := range []string{at.Clean, at.Resolved} {
		if form == dir || strings.HasPrefix(form, dir+"/") {
			return true
		}
	}
	return at.Pattern && p.temporary(&Path{Access: Write, Clean: dir, Resolved: dir})
}

// within reports whether every form of a path lies below a folder.
func within(folder string, at *Path) bool {
	for _, form := range []string{at.Clean, at.Resolved} {
		if !strings.HasPrefix(form, folder+"/") || strings.Contains(form+"/", "/../") || at.Pattern && strings.Contains(form, "..") {
			return false
		}
	}
	return true
}
