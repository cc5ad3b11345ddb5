package install

import (
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"mycelium/internal/harness"
	"mycelium/internal/rawjson"
)

// Private is a configuration of an agent for one run: in a folder of its own, with our hook, and with the gateway as its only MCP server.
// Of the person's configuration it has what the agent needs to reach its model.
type Private struct {
	Files   map[string][]byte // by their absolute paths
	Fixed   []string          // those of them that the agent must not change
	Logins  map[string]string // by a path in the folder: the file of the person's own with which the agent is signed in
	Environ []string          // variables of the run
	Hosts   []string          // what the agent reaches of the network, as the sandbox has them
}

// private is what is known about the private configuration of one agent.
type private struct {
	vars   []string // by which the agent finds its model and its person's configuration
	urls   []string // those of them that are addresses of a model
	hosts  []string // of the models of its maker
	logins []string // files of the person's own configuration with which it is signed in
	write  func(s *Setup, own, folder string, p *Private, gateway []string) error
}

// privates are the agents that can have one. The hosts are those that Codex 0.169.0 and Gemini CLI 0.61.0 name for a key and for an
// account.
func privates() map[string]private {
	return map[string]private{
		"codex": {vars: []string{"OPENAI_API_KEY", "CODEX_API_KEY", "OPENAI_BASE_URL", "CODEX_HOME"}, urls: []string{"OPENAI_BASE_URL"},
			hosts:  []string{"api.openai.com", "chatgpt.com", "auth.openai.com"},
			logins: []string{"auth.json"}, write: privateCodex},
		"gemini": {vars: []string{"GEMINI_API_KEY", "GOOGLE_API_KEY", "GOOGLE_GEMINI_BASE_URL", "GEMINI_CLI_HOME", "GEMINI_MODEL"},
			urls:   []string{"GOOGLE_GEMINI_BASE_URL"},
			hosts:  []string{"generativelanguage.googleapis.com", "cloudcode-pa.googleapis.com", "oauth2.googleapis.com"},
			logins: []string{"oauth_creds.json", "google_accounts.json", "installation_id"}, write: privateGemini},
	}
}

// ModelVars are the variables by which an agent reaches its model: those that its maker names, and the key of a provider of the person's.
func ModelVars(agent string, environ []string) []string {
	out := slices.Clone(privates()[agent].vars)
	if agent == "codex" {
		own, _ := personal(agent, environ)
		for _, t := range kept(own) {
			if name := t.values["env_key"]; name != "" {
				out = append(out, name)
			}
		}
	}
	return out
}

// personal is the folder of the person's own configuration of an agent, and an error if it is not known.
func personal(agent string, environ []string) (string, error) {
	known, _ := harness.Named(agent)
	f, err := known.Files(harness.User, "", environ)
	return filepath.Dir(f.Hooks), err
}

// Private returns the configuration in a folder, whose path is absolute. environ is the person's; gateway is the command of the MCP server.
func (s *Setup) Private(folder string, environ, gateway []string) (*Private, error) {
	known, ok := privates()[s.Agent.Name]
	if !ok {
		return nil, fmt.Errorf("%s cannot have a configuration of one run", s.Agent.Title)
	}
	own, err := personal(s.Agent.Name, environ)
	if err != nil {
		return nil, err
	}
	p := &Private{Files: map[string][]byte{}, Logins: map[string]string{}}
	if err := known.write(s, own, folder, p, gateway); err != nil {
		return nil, fmt.Errorf("write a configuration of %s for this run: %w", s.Agent.Title, err)
	}
	to := filepath.Join(folder, filepath.Base(own))
	if s.Agent.Name == "codex" {
		to = folder
	}
	for _, name := range known.logins {
		from := filepath.Join(own, name)
		if _, err := os.Stat(from); err == nil {
			p.Logins[filepath.Join(to, name)] = from
		}
	}
	elsewhere := false
	for _, kv := range environ {
		name, value, _ := strings.Cut(kv, "=")
		if value == "" || !slices.Contains(ModelVars(s.Agent.Name, environ), name) || s.Agent.Moves(name) {
			continue
		}
		p.Environ = append(p.Environ, kv)
		if slices.Contains(known.urls, name) {
			elsewhere = true
			p.Hosts = append(p.Hosts, hostOf(value)...)
		}
	}
	if !elsewhere {
		p.Hosts = append(p.Hosts, known.hosts...)
	}
	return p, nil
}

// hostOf is the host of an address as the sandbox names it; nil: there is none.
func hostOf(address string) []string {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return nil
	}
	return []string{u.Host}
}

// codexRoot are the plain keys of a person's config.toml that say which model Codex asks, and how it is signed in.
var codexRoot = []string{"model", "model_provider", "model_reasoning_effort", "model_verbosity", "model_context_window", "chatgpt_base_url",
	"openai_base_url", "forced_login_method", "preferred_auth_method", "service_tier"}

// codexFixed stands before them: the sandbox and the hook decide, and Codex asks nobody.
const codexFixed = "sandbox_mode = \"danger-full-access\"\napproval_policy = \"never\"\ncheck_for_update_on_startup = false\n" +
	"cli_auth_credentials_store = \"file\"\nweb_search = \"disabled\"\n" // a search at the provider asks no hook

// kept are the tables of a person's config.toml that describe providers of models, with their text.
func kept(own string) (out []keptTable) {
	text, err := os.ReadFile(filepath.Join(own, "config.toml"))
	if err != nil {
		return nil
	}
	tables, err := tomlTables(text)
	if err != nil {
		return nil
	}
	for i, t := range tables {
		end := len(text)
		if i+1 < len(tables) {
			end = tables[i+1].start
		}
		switch {
		case i == 0:
			var root strings.Builder
			for line := range strings.Lines(string(text[:end])) {
				name, _, ok := strings.Cut(line, "=")
				if _, plain := t.values[strings.TrimSpace(name)]; ok && plain && slices.Contains(codexRoot, strings.TrimSpace(name)) {
					root.WriteString(line)
				}
			}
			out = append(out, keptTable{t.values, root.String()})
		case t.name[0] == "model_providers":
			out = append(out, keptTable{t.values, string(text[t.start:end])})
		}
	}
	return out
}

// keptTable is a table of a person's config.toml; the first has the keys above all tables.
type keptTable struct {
	values map[string]string
	text   string
}

// privateCodex writes the configuration of Codex.
func privateCodex(s *Setup, own, folder string, p *Private, gateway []string) error {
	p.Environ = append(p.Environ, "CODEX_HOME="+folder)
	in := *s
	in.Scope, in.Environ = harness.User, append(slices.Clone(s.Environ), "CODEX_HOME="+folder)
	f, err := in.files()
	if err != nil {
		return err
	}
	hooks, err := in.install(f.Hooks, nil, &note{})
	if err != nil {
		return err
	}
	var config strings.Builder
	config.WriteString(codexFixed)
	for i, t := range kept(own) {
		config.WriteString(t.text + "\n")
		if i == 0 {
			config.WriteString("[features]\nhooks = true\n\n[analytics]\nenabled = false\n\n")
		}
		for _, name := range []string{"base_url", "chatgpt_base_url", "openai_base_url"} {
			p.Hosts = append(p.Hosts, hostOf(t.values[name])...)
		}
	}
	text, _, err := in.trusting(f.Hooks, []byte(config.String()), hooks, nil)
	if err != nil {
		return err
	}
	if text, err = withGateway(&in, text, gateway); err != nil {
		return err
	}
	for _, dir := range projectsOf(s.Dir) { // its settings could bring other servers, and switch the hook off
		text = fmt.Appendf(text, "\n[projects.%s]\ntrust_level = \"untrusted\"\n", rawjson.Quote(dir))
	}
	p.Files[f.Hooks], p.Files[f.Trust] = hooks, text
	p.Fixed = append(p.Fixed, f.Hooks, f.Trust)
	return nil
}

// projectsOf are the folders under whose names Codex looks whether a project is trusted: the project's, and that of its repository.
func projectsOf(dir string) []string {
	for _, at := range upwards(dir) {
		if _, err := os.Lstat(filepath.Join(at, ".git")); err == nil && at != dir {
			return []string{dir, at}
		} else if err == nil {
			break
		}
	}
	return []string{dir}
}

// withGateway adds the gateway to the servers in a file of the agent.
func withGateway(s *Setup, text []byte, gateway []string) ([]byte, error) {
	at, err := placeOf("", s.Environ)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(Clients(), func(c Client) bool { return c.Name == s.Agent.Name })
	return Clients()[i].added(at, text, DefaultGateway, gateway[0], gateway[1:])
}

// geminiSystem is the variable with the path of an administrator's settings, which stand above all others; without it they are in the file of
// geminiSystemFile. Gemini CLI 0.61.0 reads them only if root alone may write them and every folder above, so they cannot be ours.
const (
	geminiSystem     = "GEMINI_CLI_SYSTEM_SETTINGS_PATH"
	geminiSystemFile = "/etc/gemini-cli/settings.json"
)

// privateGemini writes the settings of Gemini CLI: how it is signed in and which model it asks as in those of the user, everything else ours.
func privateGemini(s *Setup, own, folder string, p *Private, gateway []string) error {
	settings := filepath.Join(folder, ".gemini", "settings.json")
	p.Environ = append(p.Environ, "GEMINI_CLI_HOME="+folder, "GEMINI_SANDBOX=false", "GEMINI_TELEMETRY_ENABLED=false")
	in := *s
	in.Scope, in.Environ = harness.User, append(slices.Clone(s.Environ), "GEMINI_CLI_HOME="+folder)
	theirs, err := readSettings(filepath.Join(own, "settings.json"))
	if err != nil {
		return err
	}
	text, err := json.Marshal(map[string]any{
		"hooksConfig": map[string]any{"enabled": true}, "mcp": map[string]any{"allowed": []string{DefaultGateway}},
		"privacy": map[string]any{"usageStatisticsEnabled": false}, "telemetry": map[string]any{"enabled": false},
		"general": map[string]any{"enableAutoUpdate": false, "enableAutoUpdateNotification": false},
	}, json.Deterministic(true), jsontext.WithIndent("  "))
	if err != nil {
		return err
	}
	for _, path := range [][]string{{"security", "auth", "selectedType"}, {"model", "name"}} {
		if v := lookup(theirs.root, path); v != nil {
			if text, err = setValue(text, true, path, jsontext.Value(v.raw(theirs.text))); err != nil {
				return err
			}
		}
	}
	if text, err = in.install(settings, text, &note{}); err != nil {
		return err
	}
	if text, err = withGateway(&in, text, gateway); err != nil {
		return err
	}
	p.Files[settings] = text
	p.Fixed = append(p.Fixed, settings)
	return nil
}

// harmless are the settings of Gemini CLI that may stand above ours: none of them runs a program, brings a server or changes a hook.
var harmless = []string{"$schema", "ui", "output", "context", "model"}

// Displaced says which settings would stand above the private ones of an agent that starts in some folders, and could switch its hook off or
// run programs without it; nil if none does.
func (s *Setup) Displaced(dirs ...string) error {
	if s.Agent.Name != "gemini" { // Codex reads none of a project that is not trusted
		return nil
	}
	system := geminiSystemFile
	for _, v := range s.Environ {
		if path, ok := strings.CutPrefix(v, geminiSystem+"="); ok && path != "" {
			system = path
		}
	}
	paths := []string{system}
	for _, dir := range dirs {
		paths = append(paths, filepath.Join(dir, ".gemini", "settings.json"))
	}
	for _, path := range paths {
		read, err := readSettings(path)
		if err != nil {
			return err
		}
		for _, m := range read.root.members {
			if !slices.Contains(harmless, m.name) && !s.ours(read, m) {
				return &FileError{path, fmt.Errorf("%s in it could bring a server, run a program or switch the hook off", m.name),
					"move the file away, or leave in it only: " + strings.Join(harmless[1:], ", ")}
			}
		}
	}
	return nil
}

// isGateway reports whether a server in settings is this program, and nothing is set for it but its arguments.
func (s *Setup) isGateway(text []byte, server *jsonNode) bool {
	for _, m := range server.members {
		switch m.name {
		case "command":
			if m.value.str(text) != s.Myc {
				return false
			}
		case "args", "timeout":
		default:
			return false
		}
	}
	return server.get("command") != nil
}

// ours reports whether a member of settings has only our own entries: our hooks, and our gateway.
func (s *Setup) ours(read settingsFile, m jsonMember) bool {
	switch m.name {
	case "hooks":
		in := *s
		in.Scope = harness.Project
		all, err := in.handlers(read.text)
		return err == nil && !slices.ContainsFunc(all, func(h handler) bool { return !h.ours })
	case "hooksConfig":
		return len(m.value.members) == 1 && m.value.members[0].name == "enabled" && string(m.value.members[0].value.raw(read.text)) == "true"
	case "mcpServers":
		return len(m.value.members) == 1 && m.value.members[0].name == DefaultGateway && s.isGateway(read.text, &m.value.members[0].value)
	}
	return false
}

// settingsFile is a file of settings that was read.
type settingsFile struct {
	text []byte
	root *jsonNode
}

// readSettings reads a file of settings. One that is not there is empty.
func readSettings(path string) (settingsFile, error) {
	text, _, err := readConfig(path)
	if err != nil {
		return settingsFile{}, err
	}
	root, err := parseJSON(text, true)
	if err != nil {
		return settingsFile{}, &FileError{path, err, "fix the file"}
	}
	return settingsFile{text, &root}, nil
}
