package catalog

import (
	"strings"
	"testing"
)

// TestSchemas: a schema that does not compile is reported with the reason, and references are not followed.
func TestSchemas(t *testing.T) {
	for _, c := range []struct{ name, definition, want string }{
		{"2020-12 by default", `{"inputSchema":{"type":"object","properties":{"a":{"$ref":"#/$defs/n"}},"$defs":{"n":{"type":"number"}}}}`, ""},
		{"draft-07", `{"inputSchema":{"$schema":"http://json-schema.org/draft-07/schema#","type":"object",` +
			`"definitions":{"x":{"type":"string"}},"properties":{"a":{"$ref":"#/definitions/x"}}}}`, ""},
		{"both schemas", `{"inputSchema":{"type":"object"},"outputSchema":{"type":"array","items":{"type":"string"}}}`, ""},
		{"unknown members", `{"inputSchema":{"type":"object","x-mcp-header":"A","x-other":[1]}}`, ""},
		{"no schema", `{"name":"t"}`, "inputSchema: it is not an object"},
		{"null", `{"inputSchema":null}`, "inputSchema: it is not an object"},
		{"another dialect", `{"inputSchema":{"$schema":"http://json-schema.org/draft-03/schema#"}}`, "not understood"},
		{"wrong type", `{"inputSchema":{"type":7}}`, "it is not a JSON Schema"},
		{"lost reference", `{"inputSchema":{"$ref":"#/$defs/none"}}`, "does not compile"},
		{"bad pattern", `{"inputSchema":{"type":"object"},"outputSchema":{"type":"string","pattern":"("}}`, "outputSchema: it does not compile"},
		{"reference to the network", `{"inputSchema":{"type":"object","properties":{"a":{"$ref":"http://127.0.0.1:1/s.json"}}}}`,
			"references to other documents are not followed"},
		{"huge", `{"inputSchema":{"description":"` + strings.Repeat("x", maxSchema) + `"}}`, "longer than 256 KiB"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := strings.Join(SchemaProblems([]byte(c.definition)), "; ")
			if c.want == "" && got != "" || !strings.Contains(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func FuzzSchema(f *testing.F) {
	f.Add(`{"inputSchema":{"type":"object","properties":{"a":{"$ref":"#/$defs/n"}},"$defs":{"n":{"$ref":"#"}}}}`)
	f.Add(`{"inputSchema":{"allOf":[{"$dynamicRef":"#a"}],"$anchor":"a"},"outputSchema":{"if":{},"then":false}}`)
	f.Fuzz(func(_ *testing.T, definition string) {
		if strings.HasPrefix(definition, "{") {
			_ = SchemaProblems([]byte(definition)) // neither panics nor hangs
		}
	})
}
