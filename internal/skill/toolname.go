package skill

import (
	"cmp"
	"slices"
	"strings"

	"mycelium/internal/policy"
	"mycelium/internal/text"
)

// ToolPattern returns the name pattern of an entry of allowedTools: without the "?" of an optional tool and the limit in
// parentheses.
func ToolPattern(entry string) string {
	name, _, _ := strings.Cut(strings.TrimPrefix(entry, "?"), "(")
	return name
}

// normalTool writes an entry of allowedTools as server__name. It does not change an unknown form; the validation reports it.
func normalTool(entry string) string {
	entry = strings.TrimSpace(entry)
	rest, optional := strings.CutPrefix(entry, "?")
	name, limit, limited := strings.Cut(rest, "(")
	if limited {
		limit = "(" + limit
	}
	name = strings.TrimSpace(name)
	if inner, ok := strings.CutPrefix(name, "mcp__"); ok {
		name = mcpTool(inner)
	} else if own, known := policy.AgentTool(strings.TrimPrefix(name, policy.AgentServer+"__")); known { // Only these may be written bare.
		name = policy.AgentServer + "__" + own
	}
	if limit == "(*)" || limit == "(:*)" { // "Bash(*)" has no limit
		limit = ""
	}
	if optional {
		return "?" + name + limit
	}
	return name + limit
}

// mcpTool reads what follows "mcp__" in a tool name of Claude Code: server__tool, a server alone, or plugin_PLUGIN_SERVER__tool.
func mcpTool(inner string) string {
	server, tool, found := strings.Cut(inner, "__")
	if plugin, ok := strings.CutPrefix(server, "plugin_"); ok {
		if i := strings.LastIndexByte(plugin, '_'); i >= 0 { // names of plugins may have "_", names of servers do not
			server = plugin[i+1:]
		}
	}
	if !found {
		tool = "*"
	}
	return server + "__" + tool
}

// splitTools splits a text of tools at spaces and commas that are not in parentheses: "Bash(git add *) Read, Grep".
func splitTools(s string) []string {
	var out []string
	depth, from := 0, 0
	flush := func(to int) {
		if part := strings.TrimSpace(s[from:to]); part != "" {
			out = append(out, part)
		}
	}
	for i := range len(s) {
		switch c := s[i]; {
		case c == '(':
			depth++
		case c == ')':
			depth = max(depth-1, 0)
		case depth == 0 && (c == ' ' || c == ',' || c == '\n' || c == '\t'):
			flush(i)
			from = i + 1
		}
	}
	flush(len(s))
	return out
}

// toolList is a list of tools, or one text with spaces between them (Agent Skills).
type toolList []string

// YAMLSchema is how people write a list of tools.
func (toolList) YAMLSchema() map[string]any {
	return map[string]any{"type": []string{"string", "array"}, "items": map[string]any{"type": "string"}}
}

// UnmarshalYAML reads both forms.
func (t *toolList) UnmarshalYAML(decode func(any) error) error {
	var text string
	if decode(&text) == nil {
		*t = splitTools(text)
		if *t == nil {
			*t = toolList{}
		}
		return nil
	}
	var list []string
	err := decode(&list)
	*t = list
	return err
}

// NearestTool returns the tool that a person probably meant by word, or "". It prefers tools of the same server, then tools with the same
// name.
func NearestTool(word string, all []string) string {
	server, name, found := strings.Cut(word, "__")
	if !found {
		return nearestBare(word, all)
	}
	var same, names []string
	for _, t := range all {
		s, n, _ := strings.Cut(t, "__")
		if s == server {
			same = append(same, t)
		}
		if n == name {
			names = append(names, t)
		}
	}
	if near := text.Nearest(word, same); near != "" {
		return near
	}
	if len(names) > 0 {
		slices.Sort(names)
		if near := text.Nearest(word, names); near != "" {
			return near
		}
		return names[0]
	}
	return cmp.Or(text.Nearest(word, all), nearestBeginning(word, same))
}

// nearestBeginning is NearestTool for a word that has only the first words of a name: files__raed means files__read_file.
func nearestBeginning(word string, tools []string) string {
	full := map[string]string{}
	var beginnings []string
	for _, t := range slices.Sorted(slices.Values(tools)) {
		server, name, _ := strings.Cut(t, "__")
		for i := range len(name) {
			b := server + "__" + name[:i]
			if _, taken := full[b]; strings.IndexByte("_-.", name[i]) >= 0 && !taken {
				full[b] = t
				beginnings = append(beginnings, b)
			}
		}
	}
	return full[text.Nearest(word, beginnings)]
}

// nearestBare is NearestTool for a word without a server.
func nearestBare(word string, all []string) string {
	full := map[string]string{}
	var names []string
	for _, t := range all {
		_, name, _ := strings.Cut(t, "__")
		if _, taken := full[name]; !taken {
			full[name] = t
			names = append(names, name)
		}
	}
	return full[text.Nearest(word, names)]
}
