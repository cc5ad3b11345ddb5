package hook

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"mycelium/internal/policy"
	"mycelium/internal/rawjson"
)

// naming says what a tool of an agent is in our words (decision 13). args renames its arguments: "theirs>ours", with spaces between. The
// names on the right that begin with "@" stand for more than another name; see reshape.
type naming struct{ agent, native, tool, args string }

// names is the table. A tool that is not in it is agent__<its own name> with its own arguments, which no skill grants unless it names
// it; Claude Code's names are ours, and its other names of the same tools stand in policy.AgentAliases.
var names = [...]naming{
	// Codex 0.169.0: what its hooks call Bash is each of its shells, with the command as text; the other names are those of its tools.
	{"codex", "Bash", "Bash", "command>@command workdir>@dir"},
	{"codex", "shell", "Bash", "command>@command workdir>@dir"},
	{"codex", "shell_command", "Bash", "command>@command workdir>@dir"},
	{"codex", "local_shell", "Bash", "command>@command workdir>@dir working_directory>@dir"},
	{"codex", "container.exec", "Bash", "command>@command workdir>@dir"},
	{"codex", "exec_command", "Bash", "cmd>@command workdir>@dir"},
	{"codex", "unified_exec", "Bash", "input>@command"},
	{"codex", "apply_patch", "Edit", "command>@patch input>@patch patch>@patch"},
	{"codex", "read_file", "Read", ""},
	{"codex", "view_image", "Read", "path>file_path"},
	{"codex", "list_dir", "LS", "dir_path>path"},
	{"codex", "grep_files", "Grep", ""},
	{"codex", "web_search", "WebSearch", ""},
	{"codex", "update_plan", "TodoWrite", ""},
	{"codex", "spawn_agent", "Task", ""},
	{"codex", "request_user_input", "AskUserQuestion", ""},

	// Gemini CLI 0.61.0.
	{"gemini", "run_shell_command", "Bash", "command>@command dir_path>@dir directory>@dir"},
	{"gemini", "read_file", "Read", "absolute_path>file_path"},
	{"gemini", "read_many_files", "Read", "include>@globs"},
	{"gemini", "write_file", "Write", ""},
	{"gemini", "replace", "Edit", ""},
	{"gemini", "list_directory", "LS", "dir_path>path"},
	{"gemini", "glob", "Glob", "dir_path>path"},
	{"gemini", "grep_search", "Grep", "dir_path>path"},
	{"gemini", "search_file_content", "Grep", "dir_path>path"},
	{"gemini", "web_fetch", "WebFetch", "prompt>@urls"},
	{"gemini", "google_web_search", "WebSearch", ""},
	{"gemini", "write_todos", "TodoWrite", ""},
	{"gemini", "invoke_agent", "Task", ""},
	{"gemini", "activate_skill", "Skill", ""},
	{"gemini", "ask_user", "AskUserQuestion", ""},
	{"gemini", "enter_plan_mode", "EnterPlanMode", ""},
	{"gemini", "exit_plan_mode", "ExitPlanMode", ""},

	// crush 0.96.1.
	{"crush", "bash", "Bash", "command>@command working_dir>@dir"},
	{"crush", "view", "Read", ""},
	{"crush", "edit", "Edit", ""},
	{"crush", "multiedit", "MultiEdit", ""},
	{"crush", "write", "Write", ""},
	{"crush", "glob", "Glob", ""},
	{"crush", "grep", "Grep", ""},
	{"crush", "ls", "LS", ""},
	{"crush", "fetch", "WebFetch", ""},
	{"crush", "agentic_fetch", "WebFetch", ""},
	{"crush", "web_fetch", "WebFetch", ""},
	{"crush", "web_search", "WebSearch", ""},
	{"crush", "todos", "TodoWrite", ""},
	{"crush", "agent", "Task", ""},
	{"crush", "job_output", "BashOutput", ""},
	{"crush", "job_kill", "KillShell", ""},
}

// Names are the table for people: what each agent calls a tool, and what that is here. Rows of four: agent, native, tool, arguments.
func Names() [][4]string {
	rows := make([][4]string, 0, len(names))
	for _, alias := range policy.AgentAliases() {
		rows = append(rows, [4]string{"claude", alias[0], policy.AgentServer + "__" + alias[1], ""})
	}
	for _, n := range names {
		rows = append(rows, [4]string{n.agent, n.native, policy.AgentServer + "__" + n.tool, n.args})
	}
	return rows
}

// canonical puts the tool of an event into our words: name, arguments, and for a shell that is told to work elsewhere, the folder. What
// the arguments cannot be read for is an error: nothing may run by a reading of ours that is not the agent's.
func (e *Event) canonical(w *wire) error {
	e.Native, e.Input = w.ToolName, w.ToolInput
	if len(e.Input) == 0 || string(e.Input) == "null" {
		e.Input = jsontext.Value("{}")
	}
	if name := rawjson.RepeatedName(e.Input, maxMembers); name != "" {
		return fmt.Errorf("the arguments have the member %s twice, in other letters: programs read them differently", bounded(name, maxName))
	}
	server, tool := mcpTool(e.Agent, e.Native)
	if w.MCP != nil && w.MCP.Server != "" { // Gemini says in so many words what its name only suggests
		server, tool = w.MCP.Server, w.MCP.Tool
		e.Command = append([]string{w.MCP.Command}, w.MCP.Args...)
	}
	if server != "" {
		e.Server = server
		e.Tool = plain(server) + "__" + tool
		if plain(server) == policy.AgentServer { // it would be taken for the agent's own hands
			return fmt.Errorf("an MCP server has the name %q, which stands for the agent's own tools; call it something else", policy.AgentServer)
		}
		return nil
	}
	for _, n := range names {
		if n.agent == e.Agent && n.native == e.Native {
			e.Tool = policy.AgentServer + "__" + n.tool
			return e.reshape(n.args)
		}
	}
	own, _ := policy.AgentTool(e.Native)
	e.Tool = policy.AgentServer + "__" + own
	return nil
}

// maxMembers bounds the members of the arguments of a tool: each is compared with each.
const maxMembers = 500

// mcpTool splits the name of an MCP server's tool as an agent writes it; no server: it is none. Gemini and crush put one "_" between
// server and tool, so a server there ends at the first: ours have none in their names.
func mcpTool(agent, native string) (server, tool string) {
	if rest, ok := strings.CutPrefix(native, "mcp__"); ok {
		if server, tool, ok = strings.Cut(rest, "__"); ok {
			return server, tool
		}
		return "", ""
	}
	if rest, ok := strings.CutPrefix(native, "mcp_"); ok && (agent == "gemini" || agent == "crush") {
		server, tool, _ = strings.Cut(rest, "_")
		return server, tool
	}
	return "", ""
}

// plain is the name of an agent's MCP server as ours: of a plugin's server (plugin_PLUGIN_SERVER) the server's own. A name that cannot be
// one of ours stays, and is unknown.
func plain(server string) string {
	if plugin, ok := strings.CutPrefix(server, "plugin_"); ok {
		if i := strings.LastIndexByte(plugin, '_'); i >= 0 { // a server's name has no "_", a plugin's may
			return plugin[i+1:]
		}
	}
	return server
}

// reshape renames the arguments of a tool as the table says. The targets that are no names:
//
//	@command  a command as a text or as an argument vector → command, a text that the shell reads the same way
//	@dir      the folder in which it works → the event's
//	@patch    a patch of Codex → patch, with paths and deletedPaths, which are what it touches
//	@urls     a text that addresses stand in → prompt, with urls
//	@globs    patterns of files → paths
func (e *Event) reshape(args string) error {
	if args == "" {
		return nil
	}
	if e.Input.Kind() != '{' {
		return errors.New("the arguments of the tool are no object")
	}
	var out []rawjson.Field
	for name, value := range rawjson.Members(e.Input) {
		to := name
		for pair := range strings.FieldsSeq(args) {
			if theirs, ours, _ := strings.Cut(pair, ">"); theirs == name {
				to = ours
			}
		}
		made, err := e.target(to, value)
		if err != nil {
			return err
		}
		out = append(out, made...)
	}
	e.Input = rawjson.Object(out...)
	return nil
}

// target is what one argument becomes.
func (e *Event) target(to string, value jsontext.Value) ([]rawjson.Field, error) {
	switch to {
	case "@command":
		command, err := commandText(value)
		return []rawjson.Field{{Name: "command", Value: rawjson.Quote(command)}}, err
	case "@dir":
		var dir string
		if string(value) == "null" || json.Unmarshal(value, &dir) == nil && dir == "" {
			return nil, nil
		}
		if json.Unmarshal(value, &dir) != nil {
			return nil, errors.New("the working directory of the command is no text")
		}
		if !filepath.IsAbs(dir) {
			dir = filepath.Join(e.Dir, dir)
		}
		e.Dir = dir
		return nil, nil
	case "@patch":
		return patchMembers(value)
	case "@urls":
		urls := textList(urlsIn(text(value)))
		return []rawjson.Field{{Name: "prompt", Value: value}, {Name: "urls", Value: urls}}, nil
	case "@globs":
		to = "paths"
	}
	return []rawjson.Field{{Name: to, Value: value}}, nil
}

// commandText is a command as a shell reads it. An argument vector is quoted word by word, so that it means the same.
func commandText(v jsontext.Value) (string, error) {
	var command string
	if json.Unmarshal(v, &command) == nil {
		return command, nil
	}
	var argv []string
	if json.Unmarshal(v, &argv) != nil {
		return "", errors.New("the command is neither a text nor a list of words")
	}
	words := make([]string, len(argv))
	for i, w := range argv {
		words[i] = shellWord(w)
	}
	return strings.Join(words, " "), nil
}

// patchMembers are the arguments that a patch of Codex comes to: its text, what it writes and what it deletes. A patch that touches
// nothing that we can see is an error, since Codex may see more.
func patchMembers(v jsontext.Value) ([]rawjson.Field, error) {
	patch, err := commandText(v)
	if err != nil {
		return nil, errors.New("the patch is no text")
	}
	var written, deleted []string
	for line := range strings.Lines(patch) {
		header, ok := strings.CutPrefix(strings.TrimSpace(line), "*** ")
		if !ok {
			continue
		}
		what, path, _ := strings.Cut(header, ": ")
		path = strings.TrimSpace(path)
		switch what {
		case "Add File", "Update File", "Move to":
			written = append(written, path)
		case "Delete File":
			deleted = append(deleted, path)
		}
	}
	if len(written)+len(deleted) == 0 || slices.Contains(slices.Concat(written, deleted), "") {
		return nil, errors.New("the patch does not say which files it touches")
	}
	out := []rawjson.Field{{Name: "patch", Value: rawjson.Quote(patch)}}
	if len(written) > 0 {
		out = append(out, rawjson.Field{Name: "paths", Value: textList(written)})
	}
	if len(deleted) > 0 {
		out = append(out, rawjson.Field{Name: "deletedPaths", Value: textList(deleted)})
	}
	return out, nil
}

// urlsIn are the addresses that stand in a text.
func urlsIn(s string) []string {
	urls := []string{}
	for word := range strings.FieldsSeq(s) {
		if i := strings.Index(strings.ToLower(word), "http"); i >= 0 && strings.Contains(word[i:], "://") {
			urls = append(urls, strings.TrimRight(word[i:], `.,;:!?)]}>"'`))
		}
	}
	return urls
}

// textList returns texts as a JSON array.
func textList(list []string) []byte {
	elements := make([][]byte, len(list))
	for i, s := range list {
		elements[i] = rawjson.Quote(s)
	}
	return rawjson.Array(elements)
}
