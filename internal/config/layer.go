package config

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"reflect"

	"mycelium/internal/approval"
	"mycelium/internal/approval/judge"
	"mycelium/internal/atomicfile"
	"mycelium/internal/config/accept"
	"mycelium/internal/config/agents"
	"mycelium/internal/config/identities"
	"mycelium/internal/config/memories"
	"mycelium/internal/config/observe"
	"mycelium/internal/config/pages"
	"mycelium/internal/config/profiles"
	"mycelium/internal/config/servers"
	"mycelium/internal/config/shipped"
	"mycelium/internal/config/source"
	"mycelium/internal/config/watch"
	"mycelium/internal/policy"
	"mycelium/internal/skill"
	"mycelium/internal/yamlfile"
)

// layer is the content of one folder: the user's or the project's.
type layer struct {
	origin      string // ofUser or ofProject
	dir         string
	main        string // absolute path of its mycelium.yaml
	home        string
	copy        *accept.Accepted // where the files are read; nil: where they lie
	ships       *shipped.Files   // what comes with the program
	doc         document
	docFile     string // of doc, as shown; empty: there is no mycelium.yaml
	docData     []byte
	serversFrom string // as shown
	serversData []byte
	sessionFrom string // as shown
	servers     []servers.Server
	skills      []skill.Skill
	roles       []policy.Role
	rules       []policy.Rule
	policies    []judge.Policy
	unjudged    string            // why no model may judge; empty: a model may
	fallback    policy.Fallback   // of rules files (ClaudeCube's defaults.unmatched)
	boundBy     map[string]string // the rules file whose defaults set a key of agents
	problems    []policy.Problem
	leftOut     []policy.Problem
	broken      policy.Broken
	files       []string    // files that were read, as shown
	watched     watch.Marks // of these and of files that do not exist, before they were read
	places      places
	ruleFiles   []string          // rules files that count, as shown
	texts       map[string][]byte // of the files, by path as shown
	closed      []string          // names of skill folders whose skill did not load
	kept        accept.Set        // the files that govern, as they were read; only of files that are read where they lie
	unkept      []policy.Problem  // why some of them cannot be accepted
}

// places are the places where roles are declared, by id, for problems that are found later.
type places map[string][]place

// place is a YAML path in a file. Its line is looked up only when a problem is reported.
type place struct {
	file, at string
}

// document is one mycelium.yaml. A nil pointer is an absent section.
type document struct {
	MCPServers map[string]*servers.Entry `yaml:"mcpServers" about:"the MCP servers behind the gateway, by name"`
	Session    *Session                  `yaml:"session" about:"which roles and skills a client begins with"`
	Policy     *Policy                   `yaml:"policy" about:"where the rules are, and what happens where none decides"`
	Limits     map[string]policy.Limit   `yaml:"limits" about:"how many calls a role may make, by role"`
	Audit      *Audit                    `yaml:"audit" about:"the log of calls"`
	Store      string                    `yaml:"store" about:"the database of the project, as sqlite://PATH; absent: mycelium.db in the state of the project"`
	Server     *Server                   `yaml:"server" about:"the address of myc serve, and who is let in"`
	Env        []string                  `yaml:"env" about:"variables that an attaching myc mcp hands to the daemon for ${VAR}"`
	Secrets    *Secrets                  `yaml:"secrets" about:"where ${secret:NAME} is looked up"`
	Telemetry  *observe.Telemetry        `yaml:"telemetry" about:"traces and metrics; absent: nothing is sent"`
	Log        *observe.Log              `yaml:"log" about:"the lines that the program logs about itself"`
	Approval   *approval.Config          `yaml:"approval" about:"who is asked about calls that wait, and how"`
	Spawn      *agents.Spawn             `yaml:"spawn" about:"agents that a chat may start"`
	Agents     *agents.Section           `yaml:"agents" about:"what coding agents may cost, and when they are ended"`
	Sandbox    *profiles.Section         `yaml:"sandbox" about:"profiles of the sandbox, and registries of packages"`
	Identity   *identities.Section       `yaml:"identity" about:"roles of agents that come with an agent card"`
	Memory     *memories.Section         `yaml:"memory" about:"where memories are kept"`
	Web        *pages.Section            `yaml:"web" about:"of the user's file only: the pages for a browser"`
	Trust      string                    `yaml:"trust" about:"of the user's file only: what of the files of a project counts before a person has accepted it"`
	Shipped    bool                      `yaml:"shipped" about:"the skills and roles of the program count as if they were files of the project"`
	State      string                    `yaml:"state" about:"of the user's file only: the folder of the state, of all projects"`
}

// Document is the type into which a mycelium.yaml is read.
func Document() reflect.Type { return reflect.TypeFor[document]() }

// clientDocument is a config.json or .mcp.json.
type clientDocument struct {
	Schema     string                          `yaml:"$schema"`
	MCPServers map[string]*servers.ClientEntry `yaml:"mcpServers"`
	Session    *Session                        `yaml:"session"`
}

// The origins of a layer.
const (
	ofUser    = "user"
	ofProject = "project"
)

// newLayer returns a layer whose files are not read yet.
func newLayer(a *Acceptance) *layer {
	return &layer{origin: a.origin, dir: a.dir, main: a.main, home: a.home, ships: a.ships, places: places{},
		texts: map[string][]byte{}, kept: accept.Set{}}
}

// readAll reads every file of the layer. A folder that does not exist is an empty layer.
func (l *layer) readAll() *layer {
	if l.dir == "" && l.copy == nil {
		return l
	}
	l.readMain()
	l.readClients()
	l.readSkills()
	l.readRoles()
	l.readRules()
	l.readPolicies()
	l.keepUnread()
	return l
}

// at returns where a file or folder is read: in the accepted copy, if the layer has one.
func (l *layer) at(path string) string {
	if l.copy == nil {
		return path
	}
	return l.copy.Path(accept.Name(l.dir, path))
}

// shipped is what comes with the program and counts in this layer; nil: nothing. The accepted copy has these files as its own.
func (l *layer) shipped() *shipped.Files {
	if !l.doc.Shipped || l.copy != nil {
		return nil
	}
	return l.ships
}

// shown returns a path for people: relative to the project, or with ~ for the home folder.
func (l *layer) shown(path string) string {
	if l.origin == ofProject && source.Within(l.dir, path) {
		if rel, err := filepath.Rel(l.dir, path); err == nil {
			return filepath.ToSlash(rel)
		}
	}
	if l.home != "" && source.Within(l.home, path) {
		if rel, err := filepath.Rel(l.home, path); err == nil {
			return "~/" + filepath.ToSlash(rel)
		}
	}
	return path
}

// breakAll records that a file did not load that could have restricted anything.
func (l *layer) breakAll(file string) {
	if l.broken.All == "" {
		l.broken.All = file + " could not be read"
	}
}

// report records problems. It returns whether one of them is more than a warning.
func (l *layer) report(ps []policy.Problem) bool {
	l.problems = append(l.problems, ps...)
	return source.Faulty(ps)
}

// read reads a file. If the file does not exist, ok is false. If it cannot be read, ok is false and bad is true, and the problem is
// reported.
func (l *layer) read(path string) (data []byte, ok, bad bool) {
	l.watched.Note(path)
	data, err := source.Read(l.at(path))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, false, false
	}
	shown := l.shown(path)
	l.files = append(l.files, shown)
	if err != nil {
		l.problems = append(l.problems, source.Fault(shown, 0, "cannot be read: "+source.Reason(err),
			"make it a readable text file, or remove it"))
		return nil, false, true
	}
	l.texts[shown] = data
	l.keep(path, data)
	return data, true, false
}

// readMain reads mycelium.yaml.
func (l *layer) readMain() {
	data, ok, bad := l.read(l.main)
	if bad {
		l.breakAll(l.shown(l.main))
		return
	}
	if !ok {
		if l.main != filepath.Join(l.dir, source.MainFile) {
			l.problems = append(l.problems, source.Fault(l.shown(l.main), 0, "there is no such file", "correct --config or MYCELIUM_CONFIG_PATH"))
			l.breakAll(l.shown(l.main))
		}
		l.warnMisnamed()
		return
	}
	l.docFile, l.docData = l.shown(l.main), data
	ps := yamlfile.Decode(l.docFile, data, &l.doc)
	if l.report(ps) {
		l.doc = document{}
		l.breakAll(l.docFile)
		return
	}
	l.checkDocument()
	if l.doc.MCPServers != nil {
		l.serversFrom, l.serversData = l.docFile, data
		l.takeServers(servers.Read(l.serversFile(), l.doc.MCPServers))
	}
	if l.doc.Session != nil {
		l.sessionFrom = l.docFile
	}
}

// serversFile is the file of the layer whose mcpServers count.
func (l *layer) serversFile() servers.File {
	addr := cmp.Or(value(l.doc.Server).Addr, DefaultAddr)
	return servers.File{Name: l.serversFrom, Data: l.serversData, Dir: l.dir, User: l.origin == ofUser, Addr: addr}
}

func (l *layer) takeServers(r servers.Result) {
	l.servers = r.Servers
	l.problems = append(l.problems, r.Problems...)
	l.leftOut = append(l.leftOut, r.LeftOut...)
}

// warnMisnamed warns of files that are not read because of their names.
func (l *layer) warnMisnamed() {
	for _, name := range []string{"mycelium.yml", "mycelium.json"} {
		if _, err := os.Lstat(filepath.Join(l.dir, name)); err == nil {
			l.problems = append(l.problems, source.Warning(l.shown(filepath.Join(l.dir, name)), 0, "is not read", "rename it to "+source.MainFile))
		}
	}
}

// readClients reads config.json and .mcp.json for the sections that mycelium.yaml does not have.
func (l *layer) readClients() {
	if l.broken.All != "" {
		return // which file's servers count is unknown
	}
	for _, name := range []string{source.ConfigFile, source.ClientFile} {
		wantServers := l.serversFrom == ""
		wantSession := l.sessionFrom == "" && name == source.ConfigFile
		if wantServers || wantSession {
			l.readClient(filepath.Join(l.dir, name), name == source.ConfigFile, wantServers)
		}
	}
}

// readClient reads one of them. A config.json that has neither mcpServers nor a session of ours belongs to another program.
func (l *layer) readClient(path string, sharedName, wantServers bool) {
	data, ok, bad := l.read(path)
	file := l.shown(path)
	if bad {
		l.breakAll(file)
		return
	}
	if !ok {
		return
	}
	if sharedName && !servers.Ours(data) {
		l.forget(path)
		return
	}
	var doc clientDocument
	if l.report(yamlfile.Decode(file, data, &doc)) {
		if sharedName {
			l.problems = append(l.problems, source.Warning(file, 0, "if it belongs to another program, it need not be read",
				"write mcpServers: {} and session: {} into "+source.MainFile))
		}
		l.breakAll(file)
		return
	}
	if wantServers && doc.MCPServers != nil {
		l.serversFrom, l.serversData = file, data
		l.takeServers(servers.ReadClient(l.serversFile(), doc.MCPServers))
	}
	if doc.Session == nil {
		return
	}
	if !sharedName {
		l.problems = append(l.problems, source.Fault(file, yamlfile.Line(data, "$.session"), "session is not read from this file",
			"move it to "+source.MainFile))
		l.breakAll(file)
		return
	}
	if l.sessionFrom == "" {
		l.sessionFrom, l.doc.Session = file, doc.Session
		l.checkSession(file, data)
	}
}

// readSkills reads the skill folders. A broken skill removes itself only.
func (l *layer) readSkills() {
	dir := filepath.Join(l.dir, source.SkillsFolder)
	l.watched.Note(dir)
	st, err := os.Stat(l.at(dir))
	none := errors.Is(err, fs.ErrNotExist)
	if none && l.shipped() == nil {
		return
	}
	shown := l.shown(dir)
	if !none && (err != nil || !st.IsDir()) {
		l.problems = append(l.problems, source.Fault(shown, 0, "is not a folder that can be read", "make it a folder with one folder per skill"))
		return
	}
	fsys := l.shipped().SkillsUnder(atomicfile.DirFS(l.at(dir)))
	skills, problems := skill.Load(fsys, shown, skill.Source(l.origin))
	l.skills = skills
	l.problems = append(l.problems, problems...)
	loaded := map[string]bool{}
	for _, s := range skills {
		folder, file := path.Split(s.File)
		folder = path.Base(folder)
		if loaded[folder] = true; fsys.Shipped(path.Join(folder, file)) == nil {
			l.files = append(l.files, s.File)
		}
	}
	list, err := fs.ReadDir(fsys, ".")
	if err != nil {
		l.problems = append(l.problems, source.Fault(shown, 0, "cannot be read: "+source.Reason(err), "make it a readable folder"))
	}
	for _, e := range list {
		if !loaded[e.Name()] {
			l.closed = append(l.closed, e.Name())
		}
	}
	l.keepSkills(dir, fsys)
}
