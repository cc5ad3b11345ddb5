package config

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"mycelium/internal/backend"
	"mycelium/internal/config/profiles"
	"mycelium/internal/config/rules"
	"mycelium/internal/config/servers"
	"mycelium/internal/config/source"
	"mycelium/internal/config/watch"
	"mycelium/internal/policy"
)

// Default is the entry in Sources of a value that no file sets.
const Default = "default"

// merge joins the two layers by these rules:
//
//   - Rules are concatenated, the user's first. Two skills or roles of one name both bound the result (package policy does that).
//   - If both layers set a value, the result is the smaller figure of a limit and the smaller maxBody, the stricter fallback, promotion and
//     sync, the roles and start skills in both, the union of the redacted words, and strict if either says so.
//   - If neither value is stricter (a role, an address, a store, a server), the user's counts.
func (p *Project) merge(user, project *layer) {
	p.places, p.texts, p.closed, p.watched = places{}, map[string][]byte{}, map[string]bool{}, watch.Marks{}
	maps.Copy(p.texts, user.texts)
	maps.Copy(p.texts, project.texts)
	p.mergeSession(user, project)
	p.mergePolicy(user, project)
	p.mergeLimits(user, project)
	p.mergeRest(user, project)
	p.mergeServers(user, project)
	p.ServersFrom = project.serversFrom
	for _, name := range user.closed {
		p.closed[name] = true
	}
	for _, l := range []*layer{user, project} {
		p.Problems = append(p.Problems, l.problems...)
		p.LeftOut = append(p.LeftOut, l.leftOut...)
		p.Skills = append(p.Skills, l.skills...)
		p.Roles = append(p.Roles, l.roles...)
		other := map[*layer]*layer{user: project, project: user}[l]
		profiles.CheckRules(l.rules, value(l.doc.Sandbox), value(other.doc.Sandbox), l.origin == ofUser)
		p.Rules = append(p.Rules, l.rules...)
		p.Policies = append(p.Policies, l.policies...)
		if p.Unjudged == "" {
			p.Unjudged = l.unjudged
		}
		maps.Copy(p.watched, l.watched)
		for id, at := range l.places {
			p.places[id] = append(p.places[id], at...)
			p.Sources["roles."+id] = at[0].file
		}
		for _, s := range l.skills {
			p.Sources["skills."+s.Name] = s.File
		}
		p.breakWith(l.broken)
	}
}

// breakWith adds to Broken.
func (p *Project) breakWith(b policy.Broken) {
	if p.Broken.All == "" {
		p.Broken.All = b.All
	}
	for id, why := range b.Roles {
		if p.Broken.Roles == nil {
			p.Broken.Roles = map[string]string{}
		}
		p.Broken.Roles[id] = why
	}
}

// ignored warns that a value of the project has no effect.
func (p *Project) ignored(l *layer, file string, data []byte, key, why string) {
	w := source.Warning(file, source.Line(data, key), key+" has no effect: "+why,
		"a project can only narrow what the files in "+l.shown(p.UserDir)+" say")
	w.Key = key
	p.Problems = append(p.Problems, w)
}

func (p *Project) mergeSession(user, project *layer) {
	u, w := value(user.doc.Session), value(project.doc.Session)
	s, ufile, wfile := &p.File.Session, user.sessionFrom, project.sessionFrom
	wdata := project.texts[wfile]
	bound := u.bound()

	*s = Session{Roles: u.Roles, DefaultRole: u.DefaultRole, AgentRole: u.AgentRole, DefaultSkills: u.DefaultSkills}
	p.setSource("session.roles", u.Roles != nil, ufile)
	p.setSource("session.defaultRole", u.DefaultRole != "", ufile)
	p.setSource("session.agentRole", u.AgentRole != "", ufile)
	p.setSource("session.defaultSkills", u.DefaultSkills != nil, ufile)
	if w.Roles != nil {
		s.Roles = p.intersect(project, wfile, wdata, "session.roles", w.Roles, bound)
		p.setSource("session.roles", true, wfile)
	}
	for _, r := range []struct {
		key, role string
		into      *string
	}{{"session.defaultRole", w.DefaultRole, &s.DefaultRole}, {"session.agentRole", w.AgentRole, &s.AgentRole}} {
		switch {
		case r.role == "":
		case bound == nil || slices.Contains(bound, r.role):
			*r.into = r.role
			p.setSource(r.key, true, wfile)
		default:
			p.ignored(project, wfile, wdata, r.key, "the user's session does not allow role "+strconv.Quote(r.role))
		}
	}
	if w.DefaultSkills != nil {
		s.DefaultSkills = p.intersect(project, wfile, wdata, "session.defaultSkills", w.DefaultSkills, u.DefaultSkills)
		p.setSource("session.defaultSkills", true, wfile)
	}
	s.ToolSearch = p.first(project, "session.toolSearch", u.ToolSearch, ufile, w.ToolSearch, DefaultToolSearch)
	s.Promotion = p.strictest("session.promotion", policy.Promotions(), u.Promotion, ufile, w.Promotion, wfile, DefaultPromotion)
}

// bound returns the roles that the user's files allow for a session; nil: any.
func (s Session) bound() []string {
	if s.Roles == nil && s.DefaultRole == "" && s.AgentRole == "" {
		return nil
	}
	bound := append(append([]string{}, s.Roles...), s.DefaultRole)
	if s.AgentRole != "" {
		bound = append(bound, s.AgentRole)
	}
	return bound
}

// intersect returns the project's names that are in the user's bound, and warns of the others. It never returns nil. A nil bound has all
// names.
func (p *Project) intersect(l *layer, file string, data []byte, key string, names, bound []string) []string {
	kept, dropped := []string{}, []string(nil)
	for _, n := range names {
		if bound == nil || slices.Contains(bound, n) {
			kept = append(kept, n)
		} else {
			dropped = append(dropped, n)
		}
	}
	if dropped != nil {
		p.ignored(l, file, data, key, "the user's files do not name "+source.QuotedList(dropped))
	}
	return kept
}

// strictest returns the stricter of two values, or the default.
func (p *Project) strictest(key string, order []string, u, ufile, w, wfile, otherwise string) string {
	switch {
	case u == "" && w == "":
		p.Sources[key] = Default
		return otherwise
	case w == "" || u != "" && slices.Index(order, u) <= slices.Index(order, w):
		p.Sources[key] = ufile
		return u
	default:
		p.Sources[key] = wfile
		return w
	}
}

// setSource records the file that sets a key.
func (p *Project) setSource(key string, yes bool, file string) {
	if yes {
		p.Sources[key] = file
	}
}

func (p *Project) mergePolicy(user, project *layer) {
	u, w := value(user.doc.Policy), value(project.doc.Policy)
	f := &p.File.Policy
	f.Strict = u.Strict || w.Strict
	p.setSource("policy.strict", w.Strict, project.docFile)
	p.setSource("policy.strict", u.Strict, user.docFile)
	f.Fallback.MCP = p.strictest("policy.fallback.mcp", rules.Effects, u.Fallback.MCP, user.docFile, w.Fallback.MCP, project.docFile,
		DefaultFallbackMCP)
	f.Fallback.Agent = p.strictest("policy.fallback.agent", rules.Effects, u.Fallback.Agent, user.docFile, w.Fallback.Agent, project.docFile,
		DefaultFallbackAgent)
	for _, l := range []*layer{user, project} { // defaults.unmatched of rules files, which only narrows
		mcp, agent := rules.Stricter(f.Fallback.MCP, l.fallback.MCP), rules.Stricter(f.Fallback.Agent, l.fallback.Agent)
		file := strings.Join(l.ruleFiles, ", ")
		p.setSource("policy.fallback.mcp", mcp != f.Fallback.MCP, file)
		p.setSource("policy.fallback.agent", agent != f.Fallback.Agent, file)
		f.Fallback.MCP, f.Fallback.Agent = mcp, agent
		f.Rules = append(f.Rules, l.ruleFiles...)
		p.setSource("policy.rules", l.ruleFiles != nil, file)
	}
}

// mergeWall merges policy.wall: with two walls, the narrower one stands.
func (p *Project) mergeWall(user, project *layer) {
	u, w := value(user.doc.Policy).Wall, value(project.doc.Policy).Wall
	for _, l := range []struct {
		*layer
		other *layer
		name  string
	}{{project, user, w}, {user, project, u}} {
		err := profiles.Foreign(l.name, value(l.doc.Sandbox), value(l.other.doc.Sandbox), l.origin == ofUser)
		if prof, ok := p.File.Sandbox.Find(l.name); err == nil && l.name != "" && l.name != policy.NoWall {
			switch {
			case !ok:
				err = fmt.Errorf("there is no profile %q of the sandbox", l.name)
			case prof.Network || len(prof.Masks) > 0:
				err = fmt.Errorf("the profile %s has the network of the machine or a secret, so it is no wall", l.name)
			}
		}
		if err != nil {
			l.problems = append(l.problems, source.Fault(l.docFile, source.Line(l.docData, "policy.wall"), "policy.wall: "+err.Error(),
				"write project, or a profile of sandbox.profiles without network and masks"))
			l.breakAll(l.docFile)
		}
		p.setSource("policy.wall", l.name != "", l.docFile)
	}
	switch {
	case u == "" || u == policy.NoWall && w != "":
		p.File.Policy.Wall = w
	case w == "" || w == policy.NoWall:
		p.File.Policy.Wall = u
	default:
		p.File.Policy.Wall, _ = p.File.Sandbox.Boxes().Narrower(u, w)
	}
}

func (p *Project) mergeRest(user, project *layer) {
	ua, wa := value(user.doc.Audit), value(project.doc.Audit)
	us, ws := value(user.doc.Server), value(project.doc.Server)
	a, s := &p.File.Audit, &p.File.Server
	a.Dir = p.first(project, "audit.dir", ua.Dir, user.docFile, wa.Dir, DefaultAuditDir)
	a.Sync = p.strictest("audit.sync", []string{"call", "interval"}, ua.Sync, user.docFile, wa.Sync, project.docFile, DefaultAuditSync)
	a.Redact = union(ua.Redact, wa.Redact)
	p.setSource("audit.redact", ua.Redact != nil, user.docFile)
	p.setSource("audit.redact", wa.Redact != nil, project.docFile)
	p.File.Store = p.absoluteStore(p.first(project, "store", user.doc.Store, user.docFile, project.doc.Store, DefaultStore))
	s.Addr = p.first(project, "server.addr", us.Addr, user.docFile, ws.Addr, DefaultAddr)
	s.Anonymous = p.first(project, "server.anonymous", us.Anonymous, user.docFile, ws.Anonymous, "")
	if bound := value(user.doc.Session).bound(); bound != nil && us.Anonymous == "" && ws.Anonymous != "" &&
		!slices.Contains(bound, ws.Anonymous) {
		p.ignored(project, project.docFile, project.docData, "server.anonymous",
			"the user's session does not allow role "+strconv.Quote(ws.Anonymous))
		s.Anonymous = ""
		delete(p.Sources, "server.anonymous")
	}
	p.Sources["server.maxBody"] = Default
	for _, x := range []*layer{user, project} { // the smaller values count
		in := value(x.doc.Server)
		if in.MaxBody > 0 && (s.MaxBody == 0 || in.MaxBody < s.MaxBody) {
			s.MaxBody, p.Sources["server.maxBody"] = in.MaxBody, x.docFile
		}
		if in.Idle > 0 && (s.Idle == 0 || in.Idle < s.Idle) {
			s.Idle, p.Sources["server.idle"] = in.Idle, x.docFile
		}
	}
	if s.MaxBody == 0 {
		s.MaxBody = DefaultMaxBody
	}
	p.mergeAccess(project, us, ws, user.docFile, value(user.doc.Session).bound())
	p.mergeSecrets(project, value(user.doc.Secrets), value(project.doc.Secrets), user.docFile)
	p.mergeTelemetry(user, project)
	p.File.Approval = section(p, user, project, "approval", user.doc.Approval, project.doc.Approval)
	p.mergeSpawn(user, project)
	p.mergeAgents(user, project)
	p.mergeIdentity(user, project)
	p.File.Sandbox = profiles.Bound(value(user.doc.Sandbox), value(project.doc.Sandbox), func(key string) {
		p.ignored(project, project.docFile, project.docData, key, "the user's profile of that name is narrower")
	})
	p.mergeWall(user, project)
	p.setSource("sandbox.profiles", project.doc.Sandbox != nil, project.docFile)
	p.setSource("sandbox.profiles", user.doc.Sandbox != nil, user.docFile)
	p.setSource("sandbox.backend", value(user.doc.Sandbox).Backend != "", user.docFile)
	p.File.Memory = section(p, user, project, "memory", user.doc.Memory, project.doc.Memory)
	p.File.Env = union(user.doc.Env, project.doc.Env)
	p.File.Trust = user.doc.Trust
	p.setSource("trust", user.doc.Trust != "", user.docFile)
	p.File.Web = value(user.doc.Web)
	p.setSource("web", user.doc.Web != nil, user.docFile)
	p.File.State = user.doc.State
	p.setSource("state", user.doc.State != "", user.docFile)
	p.setSource("env", user.doc.Env != nil, user.docFile)
	p.setSource("env", project.doc.Env != nil, project.docFile)
}

// mergeAccess merges server.hosts and server.oauth. The user's values count before the project's. A project's issuers give no role that the
// user's session does not allow.
func (p *Project) mergeAccess(project *layer, us, ws Server, ufile string, bound []string) {
	s := &p.File.Server
	switch {
	case us.Hosts != nil:
		s.Hosts = us.Hosts
		p.setSource("server.hosts", true, ufile)
		if ws.Hosts != nil && !slices.Equal(ws.Hosts, us.Hosts) {
			p.ignored(project, project.docFile, project.docData, "server.hosts", "the user's files say "+source.QuotedList(us.Hosts))
		}
	case ws.Hosts != nil:
		s.Hosts = ws.Hosts
		p.setSource("server.hosts", true, project.docFile)
	}
	switch {
	case us.OAuth != nil:
		s.OAuth = us.OAuth
		p.setSource("server.oauth", true, ufile)
		if ws.OAuth != nil {
			p.ignored(project, project.docFile, project.docData, "server.oauth", "the user's files have it")
		}
	case ws.OAuth != nil:
		s.OAuth = ws.OAuth
		s.OAuth.Bound = bound
		p.setSource("server.oauth", true, project.docFile)
	}
	if s.OAuth != nil {
		s.OAuth.fill()
	}
}

// section is the user's section of a file if there is one, otherwise the project's. A project must not choose where telemetry goes, who
// answers questions, or which folders a chat may open.
func section[T any](p *Project, user, project *layer, key string, u, w *T) T {
	switch {
	case u != nil:
		p.setSource(key, true, user.docFile)
		if w != nil {
			p.ignored(project, project.docFile, project.docData, key, "the user's files have it")
		}
		return *u
	case w != nil:
		p.setSource(key, true, project.docFile)
	}
	return value(w)
}

// mergeSecrets merges the secrets section. The user's values count before the project's.
func (p *Project) mergeSecrets(project *layer, u, w Secrets, ufile string) {
	s := &p.File.Secrets
	s.File = p.path(p.first(project, "secrets.file", u.File, ufile, w.File, ""))
	s.Identity = p.path(p.first(project, "secrets.identity", u.Identity, ufile, w.Identity, ""))
	s.Keyring = p.first(project, "secrets.keyring", u.Keyring, ufile, w.Keyring, "")
}

// path makes a path absolute. A leading ~ is the home folder; a relative path is relative to the project.
func (p *Project) path(s string) string {
	if rest, ok := strings.CutPrefix(s, "~/"); ok && p.Home != "" {
		return filepath.Join(p.Home, rest)
	}
	if s == "" || filepath.IsAbs(s) {
		return s
	}
	return filepath.Join(p.Dir, s)
}

// first returns the user's value if it is set, otherwise the project's, otherwise the default.
func (p *Project) first(project *layer, key, u, ufile, w, otherwise string) string {
	switch {
	case u != "":
		p.Sources[key] = ufile
		if w != "" && w != u {
			p.ignored(project, project.docFile, project.docData, key, "the user's files say "+strconv.Quote(u))
		}
		return u
	case w != "":
		p.Sources[key] = project.docFile
		return w
	default:
		p.setSource(key, otherwise != "", Default)
		return otherwise
	}
}

// absoluteStore makes the path of a database absolute. A relative one is relative to the state of the project.
func (p *Project) absoluteStore(store string) string {
	path, ok := strings.CutPrefix(store, "sqlite://")
	if !ok || filepath.IsAbs(path) {
		return store
	}
	return "sqlite://" + p.inState(path)
}

// mergeServers joins the servers. The user's entry of a name counts before the project's. The built-in filesystem server always exists.
func (p *Project) mergeServers(user, project *layer) {
	all := map[string]servers.Server{}
	for _, s := range p.boxed(user, project) {
		all[s.Name] = s
	}
	for _, s := range p.boxed(project, user) {
		mine, both := all[s.Name]
		switch {
		case !both:
			all[s.Name] = s
		case s.Name == servers.Files && source.Within(mine.Folder(p.Dir), s.Folder(p.Dir)):
			all[s.Name] = s // a folder inside the user's is narrower
		default:
			p.LeftOut = append(p.LeftOut, source.Warning(s.File, s.Line(p.texts[s.File]),
				"server "+strconv.Quote(s.Name)+" is left out: "+mine.File+" has one of that name", "rename one of them"))
		}
	}
	if _, ok := all[servers.Files]; !ok {
		all[servers.Files] = servers.Server{Server: backend.Server{Name: servers.Files, Builtin: servers.Files, Args: []string{"."}},
			File: Default}
	}
	p.File.MCPServers = map[string]backend.Server{}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		s := all[name]
		p.Servers = append(p.Servers, s.Server)
		p.File.MCPServers[name] = s.Server
		p.Sources["mcpServers."+name] = s.File
		switch {
		case s.Bare && p.Bare == "":
			p.Bare = name
		case s.Bare:
			p.Problems = append(p.Problems, source.Fault(s.File, s.Line(p.texts[s.File]),
				fmt.Sprintf("servers %q and %q are both bare", p.Bare, name),
				"at most one server can stand without prefix"))
		}
	}
}

// boxed returns the servers of a layer, each with the profile that its entry names. One that names a profile which it may not is left out.
func (p *Project) boxed(l, other *layer) (out []servers.Server) {
	for _, s := range l.servers {
		found, ok := p.File.Sandbox.Find(s.Sandbox)
		err := profiles.Foreign(s.Sandbox, value(l.doc.Sandbox), value(other.doc.Sandbox), l.origin == ofUser)
		switch name := "server " + strconv.Quote(s.Name) + ": "; {
		case s.Sandbox == "":
		case err != nil:
			p.Problems = append(p.Problems, source.Fault(s.File, s.Line(p.texts[s.File]), name+err.Error(), "or name a shipped profile"))
			continue
		case !ok:
			p.Problems = append(p.Problems, source.Fault(s.File, s.Line(p.texts[s.File]),
				name+"there is no profile "+strconv.Quote(s.Sandbox)+" of the sandbox", source.Suggest(s.Sandbox, p.File.Sandbox.Boxes().Names())))
			continue
		default:
			s.Walls = profiles.Walls(found)
		}
		out = append(out, s)
	}
	return out
}

// value returns *p, or the zero value if p is nil.
func value[T any](p *T) T {
	var zero T
	if p == nil {
		return zero
	}
	return *p
}

// union returns the words of both, each once, in order.
func union(a, b []string) []string {
	var out []string
	for _, w := range append(append([]string(nil), a...), b...) {
		if !slices.Contains(out, w) {
			out = append(out, w)
		}
	}
	return out
}
