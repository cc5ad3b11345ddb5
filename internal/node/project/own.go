package project

import (
	"github.com/go-json-experiment/json"

	"mycelium/internal/harness"
	"mycelium/internal/policy"
)

// ownTools are the tools that coding agents have of their own, as definitions: no server lists them, and the hook decides their calls.
func ownTools() []policy.Definition {
	var out []policy.Definition
	for _, name := range policy.AgentTools() {
		it := policy.Item{Server: policy.AgentServer, Name: name}
		kind := policy.KindOf(it)
		raw, err := json.Marshal(map[string]any{
			"name": name, "description": "A coding agent's own tool; the hook decides its calls.", "inputSchema": ownSchema(name),
		}, json.Deterministic(true))
		if err != nil {
			raw = nil // it is shown without a description
		}
		out = append(out, policy.Definition{Item: it, Raw: raw, Annotations: map[string]bool{"readOnlyHint": !kind.Changes && !kind.Commands}})
	}
	return out
}

// ownSchema is a schema with the names of the arguments that agents send to a tool. Agents do not tell their types here.
func ownSchema(name string) map[string]any {
	args, known := harness.Arguments(name)
	if !known {
		return map[string]any{"type": "object"}
	}
	properties := map[string]any{}
	for _, a := range args {
		properties[a] = map[string]any{}
	}
	return map[string]any{"type": "object", "properties": properties}
}
