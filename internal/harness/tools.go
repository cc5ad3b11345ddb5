package harness

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"mycelium/internal/rawjson"
	"mycelium/internal/text"
)

// own is the name under which an agent's own tools stand among the servers, as the policy has it.
const own = "agent"

// toolName says what a tool of an agent is in our words (decision 13). args renames its arguments: "theirs>ours", with spaces between.
// The names on the right that begin with "@" stand for more than another name; see reshape. A tool that is not in an agent's table is
// agent__<its own name> with its own arguments, and is granted by a skill that names it only.
type toolName struct{ native, tool, args string }

// Tools returns the agent's names for tools that are called otherwise here, in pairs: its name, and ours.
func (a Agent) Tools() [][2]string {
	var out [][2]string
	for _, t := range a.tools {
		out = append(out, [2]string{t.native, t.tool})
	}
	return out
}

// canonical puts the tool of an event into our words: name, arguments, and for a shell that is told to work elsewhere, the folder. What
// the arguments cannot be read for is an error: nothing may run by a reading of ours that is not the agent's.
func (e *Event) canonical(a *Agent, w *wire) error {
	e.Native, e.Input = w.ToolName, w.ToolInput
	if len(e.Input) == 0 || string(e.Input) == "null" {
		e.Input = jsontext.Value("{}")
	}
	if name := rawjson.RepeatedName(e.Input, maxMembers); name != "" {
		return fmt.Errorf("the arguments have the member %s twice, in other letters: programs read them differently",
			text.TruncateRunes(name, maxName))
	}
	server, tool := a.mcpTool(e.Native)
	if w.MCP != nil && w.MCP.Server != "" { // Gemini says in so many words what its name only suggests
		server, tool = w.MCP.Server, w.MCP.Tool
		e.Command = append([]string{w.MCP.Command}, w.MCP.Args...)
	}
	if server != "" {
		e.Server = server
		e.Tool = plain(server) + "__" + tool
		if plain(server) == own { // it would be taken for the agent's own hands
			return fmt.Errorf("an MCP server has the name %q, which stands for the agent's own tools; call it something else", own)
		}
		return nil
	}
	for _, t := range a.tools {
		if t.native == e.Native {
			e.Tool = own + "__" + t.tool
			return e.reshape(t.args)
		}
	}
	e.Tool = own + "__" + claudeName(e.Native)
	return nil
}

// claudeName is the name here of a tool that no other table has: Claude Code's other names hold for every agent.
func claudeName(native string) string {
	for _, t := range claude.tools {
		if t.native == native {
			return t.tool
		}
	}
	return native
}

// maxMembers bounds the members of the arguments of a tool: each is compared with each.
const maxMembers = 500

// mcpTool splits the name of an MCP server's tool as an agent writes it; no server: it is none. Gemini and crush put one "_" between
// server and tool, so a server there ends at the first: ours have none in their names.
func (a *Agent) mcpTool(native string) (server, tool string) {
	if rest, ok := strings.CutPrefix(native, "mcp__"); ok {
		if server, tool, ok = strings.Cut(rest, "__"); ok {
			return server, tool
		}
		return "", ""
	}
	if rest, ok := strings.CutPrefix(native, "mcp_"); ok && a.oneUnderscore {
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
		return errors.New("the arguments of the tool are not a JSON object")
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
			return nil, errors.New("the working directory of the command is not a string")
		}
		if !filepath.IsAbs(dir) {
			dir = filepath.Join(e.Dir, dir)
		}
		e.Dir = dir
		return nil, nil
	case "@patch":
		return patchMembers(value)
	case "@urls":
		urls := textList(urlsIn(stringOf(value)))
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
		words[i] = ShellWord(w)
	}
	return strings.Join(words, " "), nil
}

// ShellWord quotes a word for a POSIX shell if it needs quotes.
func ShellWord(w string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("/._-+:@%,=", r) || r > 0x7f
	}
	if w != "" && strings.IndexFunc(w, func(r rune) bool { return !plain(r) }) < 0 {
		return w
	}
	return "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
}

// patchMembers are the arguments that a patch of Codex comes to: its text, what it writes and what it deletes. A patch that touches
// nothing that we can see is an error, since Codex may see more.
func patchMembers(v jsontext.Value) ([]rawjson.Field, error) {
	patch, err := commandText(v)
	if err != nil {
		return nil, errors.New("the patch is not a string")
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
