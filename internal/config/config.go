// Package config reads the files of a project and of its user, merges them, and compiles the policy. It reads strictly: an unknown key is
// an error with file, line and the nearest known key. It also watches the files for changes.
//
// There are two layers of the same files: the user's folder (~/.config/mycelium), which is for every project, and the project folder. A
// project can only narrow what the user's files say. Of both, what a person has accepted takes effect (see package accept).
package config

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"

	"github.com/go-json-experiment/json"

	"mycelium/internal/approval"
	"mycelium/internal/approval/judge"
	"mycelium/internal/backend"
	"mycelium/internal/config/accept"
	"mycelium/internal/config/agents"
	"mycelium/internal/config/identities"
	"mycelium/internal/config/memories"
	"mycelium/internal/config/observe"
	"mycelium/internal/config/pages"
	"mycelium/internal/config/profiles"
	"mycelium/internal/config/shipped"
	"mycelium/internal/config/source"
	"mycelium/internal/config/watch"
	"mycelium/internal/lazy"
	"mycelium/internal/policy"
	"mycelium/internal/secret"
	"mycelium/internal/skill"
	"mycelium/internal/state"
)

// The defaults of values that no file sets.
const (
	DefaultPromotion     = "auto"
	DefaultToolSearch    = "auto"
	DefaultFallbackMCP   = "allow" // the skill's declaration is the grant
	DefaultFallbackAgent = "ask"
	DefaultAuditDir      = state.AuditLog
	DefaultAuditSync     = "interval"
	DefaultStore         = "sqlite://" + state.Database // in File it stands with the absolute path
	DefaultAddr          = "127.0.0.1:8420"
	DefaultMaxBody       = 4 << 20 // bytes
)

// File is the merged mycelium.yaml of user and project, with the defaults.
type File struct {
	MCPServers map[string]backend.Server `yaml:"mcpServers" json:"mcpServers,omitempty"`
	Session    Session                   `yaml:"session" json:"session,omitzero"`
	Policy     Policy                    `yaml:"policy" json:"policy,omitzero"`
	Limits     map[string]policy.Limit   `yaml:"limits" json:"limits,omitempty" about:"by role"`
	Audit      Audit                     `yaml:"audit" json:"audit,omitzero"`
	Store      string                    `yaml:"store" json:"store,omitempty" about:"a relative sqlite path is made absolute" restart:""`
	Server     Server                    `yaml:"server" json:"server,omitzero"`
	Secrets    Secrets                   `yaml:"secrets" json:"secrets,omitzero"`
	Telemetry  observe.Telemetry         `yaml:"telemetry" json:"telemetry,omitzero" restart:""`
	Log        observe.Log               `yaml:"log" json:"log,omitzero" restart:""`
	Approval   approval.Config           `yaml:"approval" json:"approval,omitzero"`
	Spawn      agents.Spawn              `yaml:"spawn" json:"spawn,omitzero"`
	Agents     agents.Section            `yaml:"agents" json:"agents,omitzero"`
	Sandbox    profiles.Section          `yaml:"sandbox" json:"sandbox,omitzero"`
	Identity   *identities.Section       `yaml:"identity" json:"identity,omitempty"`
	Memory     memories.Section          `yaml:"memory" json:"memory,omitzero" restart:""`
	Web        pages.Section             `yaml:"web" json:"web,omitzero" about:"of the user's file only"`
	Env        []string                  `yaml:"env" json:"env,omitempty" about:"variables that an attaching myc mcp hands to the daemon for ${VAR}"`
	Trust      string                    `yaml:"trust" json:"trust,omitempty" of:"content,narrowing,folder" about:"of the user's file only: what of the files of a project counts before a person has accepted it"`
	State      string                    `yaml:"state" json:"state,omitempty" about:"of the user's file only: the folder of the state, of all projects" restart:""`
}

// Session is the session: section.
type Session struct {
	DefaultRole     string   `yaml:"defaultRole" json:"defaultRole,omitempty" about:"the role of a client that brings no credential"`
	AgentRole       string   `yaml:"agentRole" json:"agentRole,omitempty" about:"the first role of a coding agent without a credential; absent: defaultRole"`
	Roles           []string `yaml:"roles" json:"roles,omitempty" about:"roles that a bare stdio client may take"`
	DefaultSkills   []string `yaml:"defaultSkills" json:"defaultSkills,omitempty" about:"skills that are active when a session begins; absent: every skill that is open to the role"`
	Promotion       string   `yaml:"promotion" json:"promotion,omitempty" of:"auto,confirm,manual" about:"how a session gets a further skill"`
	ToolSearch      string   `yaml:"toolSearch" json:"toolSearch,omitempty" about:"auto, on, off, or a number of tools"`
	RequireApproval *bool    `yaml:"requireApproval" json:"requireApproval,omitempty" about:"true is read as promotion: confirm"`
}

// RoleOfAgent is the first role of a coding agent that brings no credential: agentRole, or else defaultRole, which is that of any client.
func (s *Session) RoleOfAgent() string { return cmp.Or(s.AgentRole, s.DefaultRole) }

// Policy is the policy: section.
type Policy struct {
	Strict   bool            `yaml:"strict" json:"strict,omitempty" about:"refuses inherits and wildcards"`
	Fallback policy.Fallback `yaml:"fallback" json:"fallback,omitzero" about:"what happens where no rule decides"`
	Rules    []string        `yaml:"rules" json:"rules,omitempty" about:"files; default rules.yaml if it exists"`
	Wall     string          `yaml:"wall" json:"wall,omitempty" about:"the profile of the sandbox in which the commands of coding agents run by default. Empty or none: they run outside. Unless it is empty, the rules of the program count behind those of the project"`
}

// Audit is the audit: section.
type Audit struct {
	Dir    string   `yaml:"dir" json:"dir,omitempty" about:"the folder of the log; absent: in the state of the project" restart:""`
	Redact []string `yaml:"redact" json:"redact,omitempty" about:"further names of arguments whose values are not recorded"`
	Sync   string   `yaml:"sync" json:"sync,omitempty" of:"interval,call" about:"when the log is forced to the disk"`
}

// Server is the server: section.
type Server struct {
	Addr      string          `yaml:"addr" json:"addr,omitempty" about:"default 127.0.0.1:8420" restart:""`
	Anonymous string          `yaml:"anonymous" json:"anonymous,omitempty" about:"role of loopback callers without a token"`
	MaxBody   int             `yaml:"maxBody" json:"maxBody,omitempty" about:"bytes of one message; 0: 4 MiB" restart:""`
	Idle      source.Duration `yaml:"idle" json:"idle,omitzero" about:"of a link: how long it may be unused; 0: 30 min" restart:""`

	Hosts []string `yaml:"hosts" json:"hosts,omitempty" about:"names by which clients may reach this server, besides the names of this machine" restart:""`
	OAuth *OAuth   `yaml:"oauth" json:"oauth,omitzero" about:"access tokens of an identity provider that are let in" restart:""`
}

// Secrets is the secrets: section, which names the sources of ${secret:NAME}.
type Secrets struct {
	File     string `yaml:"file" json:"file,omitempty" about:"age file; default secrets.age in the user's folder, if it exists"`
	Identity string `yaml:"identity" json:"identity,omitempty" about:"opens the file; default age.key in the user's folder"`
	Keyring  string `yaml:"keyring" json:"keyring,omitempty" about:"service name of our secrets in the keyring, or off; default mycelium"`
}

// The defaults of the secrets section, and the word that turns the keyring off.
const (
	defaultSecretsFile = "secrets.age"
	defaultIdentity    = "age.key"
	defaultKeyring     = "mycelium"
	noKeyring          = "off"
)

// SecretOptions returns the secrets section as options of package secret.
func (p *Project) SecretOptions() secret.Options {
	s := p.File.Secrets
	o := secret.Options{File: s.File, Identity: s.Identity, Service: s.Keyring, Required: s.File != ""}
	if o.File == "" && p.UserDir != "" {
		o.File = filepath.Join(p.UserDir, defaultSecretsFile)
	}
	if o.Identity == "" && p.UserDir != "" {
		o.Identity = filepath.Join(p.UserDir, defaultIdentity)
	}
	switch o.Service {
	case "":
		o.Service = defaultKeyring
	case noKeyring:
		o.Service = ""
	}
	return o
}

// Options say which files to read.
type Options struct {
	Dir     string         // project folder; links are resolved
	File    string         // --config; empty: $MYCELIUM_CONFIG_PATH, else mycelium.yaml in Dir. A relative path is relative to Dir
	Home    string         // empty: $HOME
	UserDir string         // empty: $XDG_CONFIG_HOME/mycelium, else ~/.config/mycelium
	State   state.Paths    // where the program keeps the state of the project; zero: as for a command of a person with Environ
	Shipped *shipped.Files // what comes with the program; nil: with this one
	Policy  string         // a folder whose files replace the project's own, accepted or not: to try out a policy, not to enforce one
	// the files as they are on disk, accepted or not: to check or accept them, not to enforce them
	OnDisk   bool
	UserOnly bool     // Dir belongs to no project: only the user's own files count
	Snapshot bool     // take the content from the snapshot of an earlier Load, or keep one: for a hook, which shows nobody a problem's line
	Programs []string // see policy.Source
	Environ  []string // nil: os.Environ()
	Logger   *slog.Logger

	disk  string                      // origin of the only layer that is read as with OnDisk
	trial map[string]*accept.Accepted // by origin of a layer: read instead of what is accepted
}

// Project is the result of reading the files of a project and of its user.
type Project struct {
	Acceptance                    // of the project's own files
	User               Acceptance // of the user's own files
	Dir, Home, UserDir string
	State              state.Paths // of the project
	Content

	options Options
	closed  map[string]bool // names of the user's skill folders whose skill did not load
	checked bool            // it comes from its snapshot: the examples of its rules were tried before that was written
	loaded  string          // fingerprint of the files, taken before they were read
	watched watch.Marks     // of further files that were read or do not exist, before that
	places  places
	texts   map[string][]byte // text of the files, by path as shown
}

// Content is what the files of a project and of its user say together.
type Content struct {
	File        File   // merged: the project's file can only narrow the user's
	ServersFrom string // the project's file whose mcpServers count; empty: no file
	Servers     []backend.Server
	Bare        string           // the server whose tools have no prefix towards clients; empty: no server
	LeftOut     []policy.Problem // entries that would start this program again, names that were mapped …
	Skills      []skill.Skill
	Roles       []policy.Role
	Rules       []policy.Rule
	Problems    []policy.Problem
	Broken      policy.Broken
	Policies    []judge.Policy    // in words; the user's first
	Unjudged    string            // why no model may judge; empty: a model may
	Sources     map[string]string // dotted key, such as session.defaultRole or mcpServers.fs → the file that sets it, or "default"
}

// Load reads all files. It returns an error only if the project folder cannot be read. Every other fault is in Problems, and what it could
// have restricted is in Broken.
func Load(o Options) (*Project, error) {
	p := &Project{options: o, Content: Content{Sources: map[string]string{}}}
	if err := p.findFolders(); err != nil {
		return nil, err
	}
	var err error
	if p.State, err = p.options.state(p.Dir); err != nil {
		return nil, err
	}
	findAccepted(p)
	kept := o.Snapshot && !o.OnDisk && o.Policy == "" && o.disk == "" && o.trial == nil
	if kept && readSnapshot(p) {
		return p, nil
	}
	load(p)
	if kept {
		writeSnapshot(p)
	}
	return p, nil
}

// load reads the files of a project.
func load(p *Project) {
	o := &p.options
	p.loaded = watchSet(p).Fingerprint()
	own, project := p.User.read(o, false), &layer{}
	switch {
	case o.Policy != "":
		p.Trusted = true
		project = newLayer(&Acceptance{origin: ofProject, home: p.Home, dir: o.Policy, ships: p.ships,
			main: filepath.Join(o.Policy, source.MainFile)}).readAll()
	case o.UserOnly:
	case p.Dir != p.UserDir:
		project = p.read(o, own.doc.Trust == TrustFolder)
	default:
		p.Trusted = true
	}
	keepNamed(p, own, project)
	p.merge(own, project)
	p.check()
}

// Watch calls changed, debounced, after a file of the project or of the user, or what is accepted of them, has changed, until ctx is done.
func Watch(ctx context.Context, p *Project, changed func()) error {
	return watch.Until(ctx, watchSet(p), p.watched, p.loaded, p.options.Logger, changed)
}

// watchSet is the files that are always watched.
func watchSet(p *Project) watch.Set {
	s := watch.Set{Files: []string{p.main}}
	for _, a := range []*Acceptance{&p.User, &p.Acceptance} {
		s.Files = append(s.Files, a.store.Manifest()) // myc trust takes effect in a running daemon
		if a.dir == "" {
			continue
		}
		for _, name := range []string{source.MainFile, source.ConfigFile, source.ClientFile, source.RulesFile} {
			s.Files = append(s.Files, filepath.Join(a.dir, name))
		}
		for _, name := range source.Folders {
			s.Trees = append(s.Trees, filepath.Join(a.dir, name))
		}
	}
	return s
}

// Empty returns the project of the same folders without any file.
func Empty(p *Project) *Project {
	none := &Project{Dir: p.Dir, Home: p.Home, UserDir: p.UserDir, Content: Content{Sources: map[string]string{}}}
	none.merge(&layer{}, &layer{})
	return none
}

// findFolders resolves the project folder, the home folder and the user's folder.
func (p *Project) findFolders() error {
	if p.options.Environ == nil {
		p.options.Environ = os.Environ()
	}
	dir, err := filepath.Abs(p.options.Dir)
	if err != nil {
		return fmt.Errorf("find project folder: %w", err)
	}
	if p.Dir, err = filepath.EvalSymlinks(dir); err != nil {
		return fmt.Errorf("find project folder: %w", err)
	}
	st, err := os.Stat(p.Dir)
	if err != nil {
		return fmt.Errorf("read project folder: %w", err)
	}
	if !st.IsDir() {
		return fmt.Errorf("read project folder: %s is not a folder", p.Dir)
	}
	if st.Mode()&0o002 != 0 && st.Mode()&os.ModeSticky == 0 {
		p.Problems = append(p.Problems,
			source.Warning("", 0, "everybody on this machine may write to the project folder, and so change what is allowed here",
				"run: chmod o-w "+p.Dir))
	}
	home, user := source.HomeFolders(p.options.Environ)
	p.Home = source.Resolve(cmp.Or(p.options.Home, home))
	p.UserDir = source.Resolve(cmp.Or(p.options.UserDir, user))
	main := p.options.File
	switch {
	case main == "" && source.Variable(p.options.Environ, "MYCELIUM_CONFIG_PATH") != "":
		main = source.Variable(p.options.Environ, "MYCELIUM_CONFIG_PATH")
	case main == "":
		main = source.MainFile
	}
	if !filepath.IsAbs(main) {
		main = filepath.Join(p.Dir, main)
	}
	p.main = main
	if p.Dir == p.Home || p.Dir == string(filepath.Separator) {
		p.Problems = append(p.Problems,
			source.Warning("", 0, fmt.Sprintf("the project folder is %s: everything below it belongs to the project", p.Dir),
				"work in a folder of its own, or name one with -C"))
	}
	return nil
}

// reference is ${NAME} in a text of the configuration.
var reference = lazy.Regexp(`\$\{(?:secret:)?([A-Za-z_][A-Za-z0-9_]*)`)

// Variables returns the names of the environment variables that the configuration refers to, or has handed over. A secret is also looked
// up in the environment, so its name is among them, and so is that of the key which a configured judge has by default.
func (f File) Variables() []string {
	names := slices.Clone(f.Env)
	text, err := f.JSON()
	if err != nil {
		return names
	}
	if j := f.Approval.Judge; j != (approval.JudgeConfig{}) && !j.Off() && j.Key == "" {
		text = append(text, approval.JudgeKey...)
	}
	for _, m := range reference().FindAllSubmatch(text, -1) {
		names = append(names, string(m[1]))
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// JSON returns the configuration in the shape of a mycelium.yaml with every value.
func (f File) JSON() ([]byte, error) {
	servers := map[string]backend.Server{}
	for name, s := range f.MCPServers {
		s.Name = "" // it is the key
		servers[name] = s
	}
	f.MCPServers = servers
	raw, err := json.Marshal(f, json.Deterministic(true))
	if err != nil {
		return nil, fmt.Errorf("write configuration: %w", err)
	}
	return raw, nil
}
