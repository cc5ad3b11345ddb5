package gate

import (
	"cmp"
	"slices"
	"strings"

	"mycelium/internal/gate/session"
	"mycelium/internal/gate/view"
	"mycelium/internal/policy"
)

// A session can be bound to a linked worktree of the project, as that of a worker of the swarm whose hands are the gateway's tools. Its
// calls of the built-in servers for files and for commands, and the scripts of its skills, work there and are judged there, as an agent's
// own tools are that works in that folder. In the project's own folder it changes nothing. What the policy denies stays denied.

// filesServer is the built-in server whose search asks the gate about every file that it would read.
const filesServer = "files"

// moves reports whether a server works in the folder of the session that calls.
func moves(server string) bool { return server == filesServer || server == policy.SandboxServer }

// linked returns the other folders of the project now.
func (g *Gate) linked() []string { return g.trees.Linked(g.dir) }

// lost says why a session that is bound to a folder makes no call now; "": it may, or it is bound to none.
func (g *Gate) lost(folder string) string {
	if folder == "" || slices.Contains(g.linked(), folder) {
		return ""
	}
	return "The folder in which this session works is gone, or is no worktree of the project any more"
}

// begin is where the relative paths of a call of a server begin.
func (g *Gate) begin(w *view.Catalog, s policy.Scope, server string) string {
	if s.Folder != "" && moves(server) {
		return s.Folder
	}
	return cmp.Or(w.Roots[server], g.dir)
}

// keep holds a decision to the folder of a session that is bound to one.
func keep(sc *session.Snapshot, c policy.Call, d *policy.Decision) {
	folder := sc.Scope.Folder
	if folder == "" || d.Effect == policy.Deny || c.Item.Kind != policy.Tool {
		return
	}
	project := sc.World.Policy.Dir()
	root := sc.World.Roots[c.Item.Server]
	switch server := c.Item.Server; {
	case server == policy.AgentServer:
		*d = kept("it has the tools of the gateway, and none of an agent's own")
	case moves(server) && root != "" && root != project:
		*d = kept("the server " + server + " of this project works in another folder than the project's")
	case moves(server), strings.HasPrefix(server, "mycelium-"): // ours, which change no file of a project elsewhere
	case policy.KindOf(c.Item).Commands:
		*d = kept("the server " + server + " would run a command in the project's own folder")
	case changesOutside(c.Facts, folder):
		*d = kept("the server " + server + " would change a file outside of that folder")
	}
}

// changesOutside reports whether a call changes what does not lie in a folder.
func changesOutside(f policy.Facts, folder string) bool {
	for i := range f.Parts {
		for _, p := range f.Parts[i].Paths {
			if p.Access != policy.Read && p.Access != policy.Execute && (p.Pattern || !strings.HasPrefix(p.Resolved, folder+"/")) {
				return true
			}
		}
	}
	return false
}

// kept is the refusal of a call by the folder of its session.
func kept(why string) policy.Decision {
	return policy.Decision{Rule: "session", Reason: "This session works in a worktree of its own: " + why}
}
