package harness

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"mycelium/internal/rawjson"
	"mycelium/internal/text"
)

// own is the server name of an agent's own tools in the policy.
const own = "agent"

// toolName maps a tool of an agent to its canonical name (decision 13). args renames its arguments: pairs "theirs>ours", separated by
// spaces. Targets that begin with "@" are described at reshape. A tool that is not in an agent's table is agent__<its own name> with its
// own arguments. Only a skill that names it grants it.
type toolName struct{ native, tool, args string }

// Tools returns the pairs of an agent's name for a tool and the canonical name, where they differ.
func (a Agent) Tools() [][2]string {
	var out [][2]string
	for _, t := range a.tools {
		out = append(out, [2]string{t.native, t.tool})
	}
	return out
}

// canonical translates the tool of an event: its name, its arguments and, for a shell with a working directory, the folder. Arguments
// that it cannot translate are an error, because the policy must decide about what the agent will run.
func (e *Event) canonical(a *Agent, w *wire) error {
	e.Native, e.Input = w.ToolName, w.ToolInput
	if len(e.Input) == 0 || string(e.Input) == "null" {
		e.Input = jsontext.Value("{}")
	}
	if name := rawjson.RepeatedName(e.Input, maxMembers); name != "" {
		return fmt.Errorf("the arguments have the member %s twice, in different case: programs read them differently",
			text.TruncateRunes(name, maxName))
	}
	server, tool := a.mcpTool(e.Native)
	if w.MCP != nil && w.MCP.Server != "" { // Gemini names the server here; the name of the tool is only a hint
		server, tool = w.MCP.Server, w.MCP.Tool
		e.Command = append([]string{w.MCP.Command}, w.MCP.Args...)
	}
	if server != "" {
		e.Server = server
		e.Tool = plain(server) + "__" + tool
		if plain(server) == own { // the tool would look like one of the agent's own
			return fmt.Errorf("an MCP server has the name %q, which stands for the agent's own tools; call it something else", own)
		}
		return nil
	}
	for _, t := range a.tools {
		if t.native == e.Native {
			e.Tool = own + "__" + t.tool
			if err := e.reshape(t.args); err != nil {
				return err
			}
			return e.addFiles()
		}
	}
	e.Tool = own + "__" + claudeName(e.Native)
	return e.addFiles()
}

// claudeName returns the canonical name of a tool that is not in its agent's table. The names of Claude Code apply to every agent.
func claudeName(native string) string {
	for _, t := range claude.tools {
		if t.native == native {
			return t.tool
		}
	}
	return native
}

// maxMembers bounds the members of the arguments of a tool, because each is compared with each.
const maxMembers = 500

// mcpTool splits an agent's name of an MCP server's tool. The server is empty for any other tool. Gemini and crush put one "_" between
// server and tool, so the server ends at the first "_": names of our servers have no "_".
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

// plain returns our name of an agent's MCP server. The server of a plugin (plugin_PLUGIN_SERVER) has its own name. A name that cannot be
// one of ours stays as it is, and is unknown.
func plain(server string) string {
	if plugin, ok := strings.CutPrefix(server, "plugin_"); ok {
		if i := strings.LastIndexByte(plugin, '_'); i >= 0 { // the name of a plugin may have a "_", that of a server has none
			return plugin[i+1:]
		}
	}
	return server
}

// reshape renames the arguments of a tool as the table says. Special targets:
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

// target translates one argument.
func (e *Event) target(to string, value jsontext.Value) ([]rawjson.Field, error) {
	switch to {
	case "@command":
		command, err := commandText(value)
		return []rawjson.Field{{Name: "command", Value: rawjson.Quote(command)}}, err
	case "@dir":
		var dir string
		if string(value) == "null" || rawjson.Decode(value, &dir) == nil && dir == "" {
			return nil, nil
		}
		if rawjson.Decode(value, &dir) != nil {
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

// commandText returns a command as the text of a shell command. It quotes each word of an argument vector.
func commandText(v jsontext.Value) (string, error) {
	var command string
	if rawjson.Decode(v, &command) == nil {
		return command, nil
	}
	var argv []string
	if rawjson.Decode(v, &argv) != nil {
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

// patchMembers translates a patch of Codex into its text, the files that it writes and the files that it deletes. A patch without a file
// is an error, because Codex may find one.
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

// urlsIn returns the URLs in a text.
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
