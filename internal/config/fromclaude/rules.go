package fromclaude

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"mycelium/internal/config/servers"
	"mycelium/internal/policy"
	"mycelium/internal/yamlfile"
)

// rules collects the rules that entries of permissions mean.
type rules struct{ list []rule }

// rule is one rule of the file.
type rule struct {
	action string
	entry  string // of the permissions; "": it comes from us
	tool   string
	match  string // as YAML in one line; "" if the rule has none
	args   string
}

// The tools of an agent that read files and that change them.
const (
	readers = "Read|NotebookRead|Grep|Glob|LS"
	writers = "Write|Edit|MultiEdit|NotebookEdit"
)

// maxEntry bounds an entry of permissions, in bytes.
const maxEntry = 1000

// add adds the rules that an entry means, and otherwise says why there are none.
func (r *rules) add(action, entry string) (why string) {
	if len(entry) > maxEntry {
		return "it is too long"
	}
	tool, spec, limited := strings.Cut(strings.TrimSpace(entry), "(")
	if limited {
		var closed bool
		if spec, closed = strings.CutSuffix(spec, ")"); !closed {
			return "the parenthesis is not closed"
		}
		if spec == "" || spec == "*" || spec == ":*" {
			limited = false
		}
	}
	made := rule{action: action, entry: entry}
	if server, ok := strings.CutPrefix(tool, "mcp__"); ok {
		return r.addServer(made, server, limited)
	}
	name, known := policy.AgentTool(tool)
	switch {
	case !known:
		return "there is no tool " + tool
	case !limited && name == "Edit", !limited && name == "Write":
		made.tool = writers
	case !limited && name == "Read":
		made.tool = readers
	case !limited:
		made.tool = name
	case name == "Bash":
		made.tool, made.args = name, fmt.Sprintf("{command: [{regex: %s}]}", yamlfile.Text(commandRegex(spec, action != "allow")))
	case name == "WebFetch" && strings.HasPrefix(spec, "domain:"):
		made.tool, made.match = name, "{host: ["+pattern(strings.TrimPrefix(spec, "domain:"))+"]}"
	case among(name, readers+"|"+writers):
		return r.addPaths(made, name, spec)
	default:
		return "what stands in its parentheses has no counterpart here"
	}
	r.list = append(r.list, made)
	return ""
}

// addServer adds the rule of an entry about tools of an MCP server: mcp__SERVER, mcp__SERVER__TOOL or mcp__SERVER__*.
func (r *rules) addServer(made rule, name string, limited bool) (why string) {
	if limited {
		return "what stands in its parentheses has no counterpart here"
	}
	made.tool = serverTool(name)
	if _, err := policy.ParsePattern(made.tool); err != nil {
		return "a rule names one server, and one tool or all of them"
	}
	r.list = append(r.list, made)
	return ""
}

// serverTool writes a tool of a server, or all of them, as we do: SERVER__TOOL, with the name that the server has here.
func serverTool(name string) string {
	server, tool, found := strings.Cut(name, "__")
	if !found {
		tool = "*"
	}
	return servers.MapName(server) + "__" + tool
}

// addPaths adds the rules of an entry about files. What Claude Code denies or asks for its file tools holds for every tool here, the shell
// included. A change is to write or to delete.
func (r *rules) addPaths(made rule, tool, spec string) (why string) {
	globs := pathGlobs(spec)
	if len(globs) == 0 {
		return "its path cannot be read"
	}
	accesses := []string{"write", "delete"}
	made.tool = writers
	if among(tool, readers) {
		accesses, made.tool = []string{"read"}, readers
	}
	if made.action != "allow" {
		made.tool = `"*"`
	} else {
		accesses = accesses[:1] // its own tools do not delete
	}
	for _, access := range accesses {
		made.match = fmt.Sprintf("{%s: [%s]}", access, strings.Join(globs, ", "))
		r.list = append(r.list, made)
	}
	return ""
}

// among reports whether a tool is one of those that a bar joins.
func among(tool, list string) bool { return slices.Contains(strings.Split(list, "|"), tool) }

// pattern writes a name, with * for anything, as a pattern.
func pattern(s string) string {
	if strings.Contains(s, "*") {
		return "{glob: " + yamlfile.Text(s) + "}"
	}
	return yamlfile.Text(s)
}

// pathGlobs returns the globs of a path of permissions, which are written as in gitignore: //x is absolute, ~/x in the home folder, /x and
// ./x in the project, a name without a slash anywhere. A folder means what is in it too.
func pathGlobs(spec string) []string {
	path := spec
	switch {
	case strings.ContainsAny(path, "!\\\n"):
		return nil
	case strings.HasPrefix(path, "//"):
		path = path[1:]
	case strings.HasPrefix(path, "~/"):
	case strings.HasPrefix(path, "/"):
		path = "." + path
	case strings.HasPrefix(path, "./"):
	case strings.HasPrefix(path, "../"):
		return nil
	case !strings.Contains(strings.TrimSuffix(path, "/"), "/"):
		path = "**/" + path
	case strings.HasPrefix(path, "**/"):
	default:
		path = "./" + path
	}
	folder, isFolder := strings.CutSuffix(path, "/")
	glob := func(s string) string { return "{glob: " + yamlfile.Text(s) + "}" }
	switch {
	case folder == "":
		return nil
	case isFolder:
		return []string{glob(folder + "/**")}
	case strings.HasSuffix(path, "*"):
		return []string{glob(path)}
	}
	return []string{glob(path), glob(path + "/**")}
}

// commandRegex returns the expression for an entry of Bash: an exact command, a prefix (npm run test:*), or one with * for anything. With
// within, it also finds the command among others of one line, so that no chain hides what is denied or asks.
func commandRegex(spec string, within bool) string {
	prefix, isPrefix := strings.CutSuffix(spec, ":*")
	if !isPrefix {
		if p, ok := strings.CutSuffix(spec, " *"); ok {
			prefix, isPrefix = p, true
		}
	}
	parts := strings.Split(prefix, "*")
	for i, p := range parts {
		parts[i] = strings.Join(strings.Fields(regexp.QuoteMeta(p)), `\s+`)
		if p != strings.TrimLeft(p, " ") && i > 0 {
			parts[i] = `\s+` + parts[i]
		}
		if p != strings.TrimRight(p, " ") && i < len(parts)-1 {
			parts[i] += `\s+`
		}
	}
	out := `\s*` + strings.Join(parts, ".*")
	if within {
		out = `(?:.*[;&|(\n{])?` + out
	}
	switch {
	case isPrefix && within:
		out += `(?:[\s;&|)}].*)?`
	case isPrefix:
		out += `(?:\s.*)?`
	case within:
		out += `\s*(?:[;&|)\n}].*)?`
	default:
		out += `\s*`
	}
	return "(?s)" + out
}

// text returns the rules file.
func (r *rules) text() []byte {
	var b bytes.Buffer
	b.WriteString("# claude-rules.yaml: what the permissions in .claude/settings.json and settings.local.json mean, written once by\n" +
		"# myc init --from claude. Deny comes before ask, and ask before allow. Change it as you like: Mycelium does not write it again.\n" +
		"# Rules about a command's text cannot judge one command of several, so these allow only commands that stand alone.\n" +
		"version: 1\nrules:\n")
	for i, x := range r.list {
		fmt.Fprintf(&b, "  - name: claude-%s-%d\n    action: %s\n    tool: %s\n", x.action, i+1, x.action, x.tool)
		if x.match != "" {
			fmt.Fprintf(&b, "    match: %s\n", x.match)
		}
		if x.args != "" {
			fmt.Fprintf(&b, "    args: %s\n", x.args)
		}
		reason := "What the skills grant of the built-in servers is allowed, as in every project."
		if x.entry != "" {
			reason = "The permissions of Claude Code had " + x.action + " " + x.entry + "."
		}
		fmt.Fprintf(&b, "    reason: %s\n", yamlfile.Text(reason))
	}
	return b.Bytes()
}
