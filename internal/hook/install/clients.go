package install

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"mycelium/internal/harness"
	"mycelium/internal/hook"
	"mycelium/internal/rawjson"
)

// Client is a program that starts MCP servers, and the file in which it keeps them. The formats are those of the clients' own
// documentation, as of November 2026.
type Client struct {
	Name  string
	Title string

	file     func(place) string   // absolute; "" if the client has no such file
	path     func(place) []string // the names above the entry
	entry    func(command string, args []string) []field
	toml     bool
	comments bool   // a JSON file may have comments and trailing commas
	note     string // what a person does next, beside a restart
}

// place is where a client's file is looked for.
type place struct {
	dir     string // of the project; "": the file is the user's, for every folder
	home    string
	config  string // $XDG_CONFIG_HOME, or what macOS has in its place
	environ []string
}

// Clients returns the clients that we know.
func Clients() []Client {
	servers := func(place) []string { return []string{"mcpServers"} }
	return []Client{
		{Name: "claude", Title: "Claude Code", file: claudeServers, entry: plainEntry,
			path: func(p place) []string {
				if p.dir == "" {
					return []string{"mcpServers"}
				}
				return []string{"projects", p.dir, "mcpServers"} // as claude mcp add writes it: this folder, on this machine
			}},
		{Name: "claude-desktop", Title: "Claude Desktop", path: servers, entry: plainEntry, file: func(p place) string {
			return userOnly(p, filepath.Join(p.config, "Claude", "claude_desktop_config.json"))
		}},
		{Name: "cursor", Title: "Cursor", path: servers, entry: plainEntry, comments: true, file: func(p place) string {
			return filepath.Join(cmp.Or(p.dir, p.home), ".cursor", "mcp.json")
		}, note: "Switch the server on in Cursor's settings, under MCP."},
		{Name: "vscode", Title: "VS Code", comments: true, entry: typedEntry,
			path: func(place) []string { return []string{"servers"} },
			file: func(p place) string {
				if p.dir != "" {
					return filepath.Join(p.dir, ".vscode", "mcp.json")
				}
				return filepath.Join(p.config, "Code", "User", "mcp.json")
			}, note: "Start the server above its entry in the file, or with the command MCP: List Servers."},
		{Name: "codex", Title: "Codex", toml: true, entry: plainEntry,
			path: func(place) []string { return []string{"mcp_servers"} },
			file: func(p place) string { return userOnly(p, filesOf("codex", p).Trust) }},
		{Name: "gemini", Title: "Gemini CLI", path: servers, entry: plainEntry, comments: true,
			file: func(p place) string { return filesOf("gemini", p).Hooks }},
		{Name: "zed", Title: "Zed", comments: true, entry: plainEntry,
			path: func(place) []string { return []string{"context_servers"} },
			file: func(p place) string {
				if p.dir != "" {
					return filepath.Join(p.dir, ".zed", "settings.json")
				}
				return filepath.Join(cmp.Or(absolute(p.environ, "XDG_CONFIG_HOME"), filepath.Join(p.home, ".config")), "zed", "settings.json")
			}},
	}
}

// field is one member of an entry.
type field struct {
	name  string
	value jsontext.Value // also TOML: strings and lists of strings are written alike
}

// plainEntry is the entry of most clients.
func plainEntry(command string, args []string) []field {
	list := make([][]byte, len(args))
	for i, a := range args {
		list[i] = rawjson.Quote(a)
	}
	return []field{{"command", rawjson.Quote(command)}, {"args", rawjson.Array(list)}}
}

// typedEntry is an entry that names its transport, which VS Code requires.
func typedEntry(command string, args []string) []field {
	return append([]field{{"type", rawjson.Quote("stdio")}}, plainEntry(command, args)...)
}

// userOnly is the file of a client that has none in a project.
func userOnly(p place, file string) string {
	if p.dir != "" {
		return ""
	}
	return file
}

// claudeServers is the file in which Claude Code keeps its own servers and those of each folder: beside its configuration folder, or in
// the one that CLAUDE_CONFIG_DIR names.
func claudeServers(p place) string {
	return filepath.Join(cmp.Or(absolute(p.environ, "CLAUDE_CONFIG_DIR"), p.home), ".claude.json")
}

// filesOf are the configuration files of an agent, which has its servers beside its hooks or beside what it trusts.
func filesOf(agent string, p place) harness.Files {
	a, _ := harness.Named(agent)
	scope := harness.Project
	if p.dir == "" {
		scope = harness.User
	}
	f, err := a.Files(scope, p.dir, p.environ)
	if err != nil {
		return harness.Files{}
	}
	return f
}

// placeOf returns the place for a project folder, or for the user if dir is empty.
func placeOf(dir string, environ []string) (place, error) {
	home := absolute(environ, "HOME")
	if home == "" {
		return place{}, errors.New("HOME is not set to a folder")
	}
	config := cmp.Or(absolute(environ, "XDG_CONFIG_HOME"), filepath.Join(home, ".config"))
	if runtime.GOOS == "darwin" {
		config = filepath.Join(home, "Library", "Application Support")
	}
	return place{dir: dir, home: home, config: config, environ: environ}, nil
}

// absolute returns a variable of the environment if it names an absolute path, or "".
func absolute(environ []string, name string) string {
	value := ""
	for _, kv := range environ {
		if v, ok := strings.CutPrefix(kv, name+"="); ok {
			value = v
		}
	}
	if !filepath.IsAbs(value) {
		return ""
	}
	return value
}

// Register puts our gateway among the servers of a client, or in the place of the entry of that name, and returns what it did to which
// file. dir is the project folder for a file that holds for this folder only; "" means the user's own. Everything else in the file stays.
func (c Client) Register(dir string, environ []string, name, command string, args []string) (Change, error) {
	p, err := placeOf(dir, environ)
	if err != nil {
		return Change{}, err
	}
	file := c.file(p)
	if file == "" {
		return Change{}, fmt.Errorf("%s has no file of its own for this: %w", c.Title, errNoFile)
	}
	text, mode, err := readConfig(file)
	if err != nil {
		return Change{}, err
	}
	after, err := c.added(p, text, name, command, args)
	if err != nil {
		hint := "fix the file, and run this again; it was not touched"
		if errors.Is(err, errTaken) || errors.As(err, new(*elsewhereError)) {
			hint = "choose another name with --name, or remove the entry"
		}
		return Change{}, &FileError{file, err, hint}
	}
	e := edit{path: file, before: text, after: after, mode: mode}
	did, err := e.write()
	return Change{File: file, Did: did}, err
}

// HasProjectFile reports whether the client reads servers for one folder.
func (c Client) HasProjectFile(dir string, environ []string) bool {
	p, err := placeOf(dir, environ)
	return err == nil && c.file(p) != ""
}

// Next says what a person does after the entry is written.
func (c Client) Next() string {
	return strings.TrimSpace(fmt.Sprintf("If %s is running, restart it. %s", c.Title, c.note))
}

var errNoFile = errors.New("it keeps its servers for every folder in one place")

// errTaken reports an entry of the same name that starts another program.
var errTaken = errors.New("an entry of this name is there, and it starts another program")

// added returns the text with the entry. An entry that already starts our program keeps what a person has added to it.
func (c Client) added(p place, text []byte, name, command string, args []string) ([]byte, error) {
	path := append(c.path(p), name)
	if c.toml {
		return addTable(text, path, c.entry(command, args), args)
	}
	root, err := parseJSON(text, c.comments)
	if err != nil {
		return nil, err
	}
	if old := lookup(&root, path); old != nil {
		if !runsOurs(old.get("command").str(text)) {
			return nil, fmt.Errorf("%s: %w", strings.Join(path, "."), errTaken)
		}
		if is := old.get("args"); is != nil {
			if err := otherProject(is.raw(text), args); err != nil {
				return nil, fmt.Errorf("%s: %w", strings.Join(path, "."), err)
			}
		}
	}
	for _, f := range c.entry(command, args) {
		if text, err = setValue(text, c.comments, append(path[:len(path):len(path)], f.name), f.value); err != nil {
			return nil, err
		}
	}
	return text, nil
}

// elsewhereError reports an entry of the same name that starts us for another project. The client has one file for all of them.
type elsewhereError struct{ project string }

func (e *elsewhereError) Error() string {
	return "an entry of this name is there, and it is for the project " + e.project
}

// otherProject returns an error if the arguments of an entry, as JSON, are for another project than these, and that project still exists.
func otherProject(is []byte, args []string) error {
	var old []string
	if json.Unmarshal(is, &old) != nil {
		return nil //nolint:nilerr // not as we write it: the entry is made anew
	}
	was := projectOf(old)
	if was == "" || was == projectOf(args) {
		return nil
	}
	if _, err := os.Stat(was); err != nil {
		return nil //nolint:nilerr // it was moved or removed
	}
	return &elsewhereError{was}
}

// projectOf returns the folder behind -C in the arguments of an entry, or "".
func projectOf(args []string) string {
	if i := slices.Index(args, "-C"); i >= 0 && i+1 < len(args) {
		return args[i+1]
	}
	return ""
}

// runsOurs reports whether a command is a program of ours.
func runsOurs(command string) bool { return slices.Contains(hook.Programs[:], filepath.Base(command)) }

// addTable puts a table at the end of a TOML file, or in the place of the one that starts our program.
func addTable(text []byte, path []string, fields []field, args []string) ([]byte, error) {
	tables, err := tomlTables(text)
	if err != nil {
		return nil, err
	}
	var table strings.Builder
	fmt.Fprintf(&table, "[%s.%s]\n", strings.Join(path[:len(path)-1], "."), rawjson.Quote(path[len(path)-1]))
	for _, f := range fields {
		fmt.Fprintf(&table, "%s = %s\n", f.name, f.value)
	}
	for _, t := range tables {
		switch {
		case !slices.Equal(t.name, path):
			continue
		case !runsOurs(t.values["command"]):
			return nil, fmt.Errorf("%s: %w", strings.Join(path, "."), errTaken)
		case len(t.values) > len(fields):
			return nil, fmt.Errorf("line %d: the table has keys that we do not write: set command and args there by hand", t.line)
		}
		for line := range strings.Lines(string(text[t.start:t.own])) {
			if is, ok := strings.CutPrefix(line, "args = "); ok {
				if err := otherProject([]byte(is), args); err != nil {
					return nil, fmt.Errorf("%s: %w", strings.Join(path, "."), err)
				}
			}
		}
		return slices.Concat(text[:t.start], []byte(table.String()), text[t.own:]), nil
	}
	if len(tables[0].values) > 0 {
		for name := range tables[0].values {
			if first, _, _ := strings.Cut(name, "."); first == path[0] {
				return nil, fmt.Errorf("%s is not written as tables [%s.NAME]", path[0], path[0])
			}
		}
	}
	gap := ""
	if len(text) > 0 {
		gap = "\n"
		if text[len(text)-1] != '\n' {
			gap = "\n\n"
		}
	}
	return slices.Concat(text, []byte(gap+table.String())), nil
}
