package mcpclient

import (
	"strings"
	"testing"
)

func TestHeaderAnnotationsThatDoNotHold(t *testing.T) {
	for schema, want := range map[string]string{
		`{"properties":{"a":{"type":"string","x-mcp-header":"A"},"b":{"type":"object","properties":{"c":{"type":"integer",` +
			`"x-mcp-header":"B"}}}}}`: "",
		`{"properties":{"x-mcp-header":{"type":"string"}}}`:                                                  "",
		`{"properties":{"a":{"type":"string","default":{"x-mcp-header":1}}}}`:                                "",
		`{"properties":{"a":{"type":"string","x-mcp-header":"A"},"b":{"type":"string","x-mcp-header":"a"}}}`: "twice",
		`{"properties":{"a":{"type":"string","x-mcp-header":""}}}`:                                           "not a header name",
		`{"properties":{"a":{"type":"string","x-mcp-header":7}}}`:                                            "not a header name",
		`{"properties":{"a":{"type":"number","x-mcp-header":"A"}}}`:                                          "not a string",
		`{"properties":{"a":{"type":"object","x-mcp-header":"A"}}}`:                                          "not a string",
		`{"properties":{"a":{"type":"array","items":{"type":"string","x-mcp-header":"A"}}}}`:                 "only below properties",
		`{"anyOf":[{"properties":{"a":{"type":"string","x-mcp-header":"A"}}}]}`:                              "only below properties",
		`{"$defs":{"d":{"properties":{"a":{"type":"string","x-mcp-header":"A"}}}}}`:                          "only below properties",
		`{"x-mcp-header":"A","type":"string"}`:                                                               "only below properties",
	} {
		got := headerFault([]byte(`{"name":"t","inputSchema":` + schema + `}`))
		if (want == "") != (got == "") || !strings.Contains(got, want) {
			t.Errorf("%s: %q", schema, got)
		}
	}
}
