package gate

import (
	"cmp"
	"slices"

	"mycelium/internal/gate/session"
	"mycelium/internal/gate/view"
	"mycelium/internal/policy"
)

// A session can be bound to a linked worktree of the project, as that of a worker of the swarm. Its calls of the built-in servers for files
// and for commands, and the scripts of its skills, work there and are judged there, as an agent's own tools are that work in that folder.
// [policy.Policy.Decide] holds its calls to that folder.

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
	if s.Folder != "" && policy.WorksInFolder(server) {
		return s.Folder
	}
	return cmp.Or(w.Roots[server], g.dir)
}

// keep refuses a call of a session that is bound to a folder where a server for files or commands is configured to work in another one.
func keep(sc *session.Snapshot, c policy.Call, d *policy.Decision) {
	root := sc.World.Roots[c.Item.Server]
	if sc.Scope.Folder == "" || d.Effect == policy.Deny || c.Item.Kind != policy.Tool || !policy.WorksInFolder(c.Item.Server) ||
		root == "" || root == sc.World.Policy.Dir() {
		return
	}
	*d = policy.Decision{Rule: "session", Reason: "This session works in " + sc.Scope.Folder + " and changes files there only: the server " +
		c.Item.Server + " of this project works in " + root}
}
