// Package project is a project as its files and the learned catalogs of its servers describe it, with nothing started.
package project

import (
	"path/filepath"
	"slices"
	"sync/atomic"
	"time"

	"mycelium/internal/backend"
	"mycelium/internal/config"
	"mycelium/internal/config/restart"
	"mycelium/internal/files"
	"mycelium/internal/gate/control"
	"mycelium/internal/gate/session"
	"mycelium/internal/gate/view"
	"mycelium/internal/memory"
	"mycelium/internal/policy"
	"mycelium/internal/policy/remote"
	"mycelium/internal/sandbox/served"
	"mycelium/internal/skill"
	"mycelium/internal/swarm/tools"
	"mycelium/internal/transcript"
)

// LocalPrincipal is the default principal: this user, on this machine, without a credential of ours.
const LocalPrincipal = "local"

// View is a project as its files and the learned catalogs describe it. No server is started for it.
type View struct {
	Project  *config.Project
	Catalog  skill.Catalog
	Policy   *policy.Policy
	Skills   *skill.Library
	Problems []policy.Problem // of the files and of what they declare together
	Pool     *backend.Pool
	Files    *files.Server // the built-in one
	Root     string        // its folder
	Sandbox  *served.Server
	Talks    *transcript.Server // saved conversations
	Memory   *memory.Server
	Swarm    *tools.Server
	Close    func()
	// RolePrompt is as in view.World; nil: no server is asked.
	RolePrompt func(role string, r *remote.Instruction) string
	Outdated   <-chan struct{} // closed when the servers offer something else than Catalog

	learning      map[string]time.Duration // see view.World
	ahead         *policy.Policy           // see view.World
	bareCollision string                   // a name for which the bare server keeps its prefix; empty: none

	inForce *atomic.Pointer[View] // of all views on the same servers, the one in force; nil in it: none yet
}

// Enforce makes the view the one whose law the built-in servers keep. It has been compiled.
func (v *View) Enforce() { v.inForce.Store(v) }

// law returns the law of the sandbox in the view in force.
func (v *View) law() (served.Law, bool) {
	now := v.inForce.Load()
	if now == nil {
		return served.Law{}, false
	}
	return served.Law{Profiles: now.Project.File.Sandbox.All(), Closed: now.Policy.Closed}, true
}

// With returns a view of other files on the same servers. It has to be compiled.
func (v *View) With(p *config.Project) *View {
	return &View{Project: p, Pool: v.Pool, Files: v.Files, Root: v.Root, Sandbox: v.Sandbox, Talks: v.Talks, Memory: v.Memory, Swarm: v.Swarm,
		Close: v.Close, RolePrompt: v.RolePrompt, inForce: v.inForce}
}

// Compile validates the files and compiles their policy with the present catalog.
func (v *View) Compile() {
	v.Outdated = v.Pool.Changed()          // before the catalog is read, so that a change in between is not missed
	v.learning = v.Pool.Catalog().Learning // before the rest: a client that waits in vain is better than one that is told too early
	v.Catalog = catalogOf(v.Pool)
	var more []policy.Problem
	project := *v.Project
	served, faults := servedSkills(v.Pool.Catalog().Skills)
	project.Skills = append(slices.Clone(project.Skills), served...)
	v.Policy, v.Skills, more = project.Compile(v.Catalog)
	more = skill.Located(more, project.Skills)
	v.Problems = slices.Concat(v.Project.Problems, more, faults, v.remoteProblems())
	if v.ahead = nil; len(v.learning) > 0 && len(v.Skills.Pending()) > 0 {
		v.ahead = project.Ahead(v.Skills)
	}
	w := v.World()
	if w.Bare != v.Project.Bare {
		v.Problems = append(v.Problems, policy.Problem{File: v.Project.ServersFrom, Warning: true, Message: "mcpServers." +
			v.Project.Bare + ": its names stand with their prefix, because without it " +
			v.bareCollision + " would be read as another server's", Hint: "remove bare, or rename the server whose name it begins with"})
	}
}

// World returns the view in the form that the gate takes.
func (v *View) World() view.World {
	cat := v.Pool.Catalog()
	w := view.World{Policy: v.Policy, Skills: v.Skills, Definitions: v.Catalog.Definitions, Templates: cat.Templates,
		Learning: v.learning, Ahead: v.ahead, Held: v.Catalog.Held, Broken: v.Project.Broken.All,
		Promotion: v.Project.File.Session.Promotion, ToolSearch: v.Project.File.Session.ToolSearch,
		AskClient:  v.Project.File.Approval.AsksClient(),
		RolePrompt: v.RolePrompt, FixedRoles: v.Project.File.Identity != nil,
		Roots: map[string]string{"files": v.Root}, Servers: map[string]view.Server{}}
	w.Wider, w.Widens = v.Memory.Wider(), memory.Widens
	for _, s := range v.Project.Servers {
		w.Servers[s.Name] = view.Server{}
	}
	for name, about := range cat.Servers {
		w.Servers[name] = view.Server{Capabilities: about.Capabilities, Instructions: about.Instructions}
	}
	if bare := v.Project.Bare; bare != "" {
		if taken := view.Collisions(w, bare); len(taken) > 0 {
			v.bareCollision = taken[0]
		} else {
			w.Bare = bare
		}
	}
	return w
}

// catalogOf returns what the servers offer, and the control tools, which the gate answers itself.
func catalogOf(pool *backend.Pool) skill.Catalog {
	c := pool.Catalog()
	return skill.Catalog{Definitions: append(control.Definitions(), c.Definitions...), Pending: c.Pending, Held: heldItems(c.Held)}
}

// Memories returns where the memories of a project are.
func Memories(p *config.Project) memory.Folder {
	f := memory.Folder{Dir: p.State.Memory(), Locks: filepath.Join(p.State.Memory(), "locks")}
	if dir := p.File.Memory.Folder(); dir != "" {
		f.Dir, f.Shared = filepath.Join(p.Dir, filepath.FromSlash(dir)), true
	}
	return f
}

// FilesRoot returns the folder of the built-in files server: the project's, or the one that its entry names.
func FilesRoot(p *config.Project) string {
	root := p.Dir
	for _, s := range p.Servers {
		if s.Builtin == "files" && len(s.Args) > 0 {
			root = s.Args[0]
		}
	}
	if !filepath.IsAbs(root) {
		root = filepath.Join(p.Dir, root)
	}
	if resolved, err := filepath.EvalSymlinks(root); err == nil {
		return resolved
	}
	return root
}

// Waits returns the keys of mycelium.yaml that are accepted and not in force in a process that was opened with other files.
func (v *View) Waits(started *config.Project) []string {
	keys := restart.Waits(started.File, v.Project.File)
	if FilesRoot(v.Project) != v.Root {
		keys = append(keys, "mcpServers.files.args")
	}
	return keys
}

// AgentSession returns the session of an agent without a token: that of the default principal, as for a stdio client without options.
func (v *View) AgentSession() session.Spec {
	conf := v.Project.File.Session
	return session.Spec{Principal: LocalPrincipal, Role: conf.RoleOfAgent(), Roles: conf.Roles}
}
