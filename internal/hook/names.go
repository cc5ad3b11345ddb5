package hook

import (
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"mycelium/internal/policy"
)

// canonical is a tool of an agent in our words: agent__Bash whatever the agent calls its shell, with the arguments that Claude Code's
// tool of that name has, and server__tool for one of an MCP server. A tool that is not in the table is agent__<its own name> with its
// own arguments, which no skill grants unless it names it.
func canonical(_, native string, input jsontext.Value) (tool string, args jsontext.Value) {
	if rest, ok := strings.CutPrefix(native, "mcp__"); ok {
		server, name, _ := strings.Cut(rest, "__")
		return mcpName(server, name), orObject(input)
	}
	return policy.AgentServer + "__" + native, orObject(input)
}

// mcpName is the name of an MCP server's tool in our words.
func mcpName(server, tool string) string {
	if plugin, ok := strings.CutPrefix(server, "plugin_"); ok {
		if i := strings.LastIndexByte(plugin, '_'); i >= 0 { // a server's name has no "_", a plugin's may
			server = plugin[i+1:]
		}
	}
	return server + "__" + tool
}

// orObject is no arguments as an empty object.
func orObject(v jsontext.Value) jsontext.Value {
	if len(v) == 0 || string(v) == "null" {
		return jsontext.Value("{}")
	}
	return v
}
