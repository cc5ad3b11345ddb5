// Package fromclaude reads what Claude Code keeps in a project and writes the rules, skills and roles that mean the same.
//
// It reads .claude/settings.json and .claude/settings.local.json (permissions), .mcp.json (names of servers; the file itself is read as it
// is), .claude/skills and .claude/agents. What has no counterpart is told in notes, never dropped without a word. Where the two differ, the
// result is the stricter one.
package fromclaude

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"mycelium/internal/config/servers"
	"mycelium/internal/config/source"
	"mycelium/internal/yamlfile"
)

// RulesFile has the rules that come from permissions.
const RulesFile = "claude-rules.yaml"

// File is a file to write.
type File struct {
	Path string // slash-separated, relative to the project
	Data []byte
}

// Plan is what an import writes and says.
type Plan struct {
	Files  []File   // sorted by path
	Skills []string // names of the skills, for the roles that shall have them
	Asks   bool     // calls of MCP servers that no rule decides ask, as in Claude Code
	Notes  []string // what could not be carried over, or means something else here: one sentence each
}

// most bounds a file that is read, and files the number of skills and agents, so that a broken folder does not fill a project.
const (
	most  = 1 << 20
	files = 200
)

// settings are the parts of a settings file that we read.
type settings struct {
	Permissions struct {
		Allow       []string `json:"allow"`
		Ask         []string `json:"ask"`
		Deny        []string `json:"deny"`
		DefaultMode string   `json:"defaultMode"`
		Directories []string `json:"additionalDirectories"`
	} `json:"permissions"`
	Hooks   jsontext.Value `json:"hooks"`
	Sandbox jsontext.Value `json:"sandbox"`
}

// Read returns the plan for a project folder. role is the role that gets the imported skills. It is an error if a file cannot be read or
// parsed, or if there is nothing to import.
func Read(dir, role string) (*Plan, error) {
	p := &Plan{}
	r := &rules{}
	found := false
	for _, name := range []string{"settings.json", "settings.local.json"} {
		var s settings
		is, err := readJSON(filepath.Join(dir, ".claude", name), &s)
		if err != nil {
			return nil, err
		}
		if is {
			found = true
			p.permissions(dir, ".claude/"+name, s, r)
		}
	}
	list, entries, err := p.serversOf(dir)
	if err != nil {
		return nil, err
	}
	p.addServers(list, role, r)
	skills, err := p.addSkills(dir, role)
	if err != nil {
		return nil, err
	}
	agents, err := p.addAgents(dir, role)
	if err != nil {
		return nil, err
	}
	if !found && entries+skills+agents == 0 {
		return nil, fmt.Errorf("the folder %s has neither .claude/settings.json nor .mcp.json, .claude/skills or .claude/agents", dir)
	}
	if len(r.list) > 0 {
		p.Files = append(p.Files, File{RulesFile, r.text()})
	}
	slices.SortFunc(p.Files, func(a, b File) int { return strings.Compare(a.Path, b.Path) })
	return p, nil
}

// note adds a sentence.
func (p *Plan) note(format string, args ...any) {
	p.Notes = append(p.Notes, fmt.Sprintf(format, args...))
}

// readJSON reads a file into a struct. ok is false if there is no such file.
func readJSON(path string, into any) (ok bool, err error) {
	data, err := source.ReadRegular(path, most)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err == nil {
		err = json.Unmarshal(data, into)
	}
	if err != nil {
		return false, fmt.Errorf("read %s: %w", path, err)
	}
	return true, nil
}

// permissions adds a rule for each entry of a settings file.
func (p *Plan) permissions(dir, file string, s settings, r *rules) {
	for _, group := range []struct {
		action  string
		entries []string
	}{{"deny", s.Permissions.Deny}, {"ask", s.Permissions.Ask}, {"allow", s.Permissions.Allow}} {
		for _, entry := range group.entries {
			if why := r.add(group.action, entry); why != "" {
				p.note("%s: %s %s is not carried over: %s.", file, group.action, entry, why)
			}
		}
	}
	for _, d := range s.Permissions.Directories {
		if why := r.add("allow", "Read("+directoryPattern(dir, d)+")"); why != "" {
			p.note("%s: the additional directory %s is not carried over: %s.", file, d, why)
		} else {
			p.note("%s: agents may read the additional directory %s; writing there asks.", file, d)
		}
	}
	switch s.Permissions.DefaultMode {
	case "", "default":
	case "acceptEdits":
		p.note("%s: defaultMode acceptEdits is what the rules do: changes inside the project are allowed.", file)
	default:
		p.note("%s: defaultMode %s is not carried over: the rules decide every call.", file, s.Permissions.DefaultMode)
	}
	if len(s.Hooks) > 0 {
		p.note("%s: its hooks stay where they are, and Claude Code runs them as before.", file)
	}
	if len(s.Sandbox) > 0 {
		p.note("%s: its sandbox stays Claude Code's own.", file)
	}
}

// directoryPattern writes a directory as Claude Code writes patterns of paths. One that leaves the project in dir (../docs) becomes
// absolute.
func directoryPattern(dir, d string) string {
	if project, err := filepath.Abs(dir); err == nil && (d == ".." || strings.HasPrefix(d, "../")) {
		d = filepath.ToSlash(filepath.Join(project, d))
	}
	d = strings.TrimSuffix(d, "/") + "/**"
	if strings.HasPrefix(d, "/") {
		return "/" + d
	}
	return d
}

// serversOf returns the servers of .mcp.json as the configuration will have them, sorted, and how many entries the file has. It notes which
// are left out or renamed.
func (p *Plan) serversOf(dir string) (kept []servers.Server, entries int, err error) {
	const file = ".mcp.json"
	data, err := source.ReadRegular(filepath.Join(dir, file), most)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, 0, nil
	}
	if err != nil {
		return nil, 0, fmt.Errorf("read %s: %w", file, err)
	}
	var doc struct {
		Schema  string                          `yaml:"$schema"`
		Servers map[string]*servers.ClientEntry `yaml:"mcpServers"`
		Session any                             `yaml:"session"`
	}
	if problems := yamlfile.Decode(file, data, &doc); len(problems) > 0 {
		return nil, 0, fmt.Errorf("read %s: line %d: %s", file, problems[0].Line, problems[0].Message)
	}
	r := servers.ReadClient(servers.File{Name: file, Data: data, Dir: dir}, doc.Servers)
	for _, problem := range append(r.Problems, r.LeftOut...) {
		p.note("%s: %s.", file, problem.Message)
	}
	slices.SortFunc(r.Servers, func(a, b servers.Server) int { return strings.Compare(a.Key, b.Key) })
	return r.Servers, len(doc.Servers), nil
}

// readFolder returns the entries of a folder, or none if it does not exist.
func readFolder(dir string) ([]os.DirEntry, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", dir, err)
	}
	if len(entries) > files {
		return nil, fmt.Errorf("read %s: it has more than %d entries", dir, files)
	}
	return entries, nil
}
