package gateway

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"mycelium/internal/policy"
)

// TestParamHeadersAreChecked: a call is refused unless its headers repeat the arguments that the tool wants repeated. The headers are not
// checked for a hidden tool, and for a tool that wants none.
func TestParamHeadersAreChecked(t *testing.T) {
	schema := `"inputSchema":{"type":"object","properties":{"region":{"type":"string","x-mcp-header":"Region"},` +
		`"at":{"type":"object","properties":{"n":{"type":"integer","x-mcp-header":"N"}}}}},`
	b := newWorld(t, define(policy.Tool, "docs", "region", schema), define(policy.Tool, "secret", "region", schema))
	w := newWebOf(t, b, b.server(Options{}))
	for _, c := range []struct {
		name, tool, args string
		header           []string
		status           int
	}{
		{"as they are", "docs__region", `{"region":"eu","at":{"n":42}}`, []string{"Mcp-Param-Region", "eu", "mcp-param-n", "42"}, 200},
		{"encoded", "docs__region", `{"region":"東京"}`, []string{"Mcp-Param-Region", "=?base64?5p2x5Lqs?="}, 200},
		{"equal as numbers", "docs__region", `{"at":{"n":42}}`, []string{"Mcp-Param-N", "42.0"}, 200},
		{"nothing to repeat", "docs__region", `{"region":null}`, nil, 200},
		{"missing", "docs__region", `{"region":"eu"}`, nil, 400},
		{"another value", "docs__region", `{"region":"eu"}`, []string{"Mcp-Param-Region", "us"}, 400},
		{"another number", "docs__region", `{"at":{"n":42}}`, []string{"Mcp-Param-N", "43"}, 400},
		{"of nothing", "docs__region", `{}`, []string{"Mcp-Param-Region", "eu"}, 400},
		{"a tool that asks for none", "docs__echo", `{"region":"eu"}`, []string{"Mcp-Param-Region", "us"}, 200},
		{"a hidden tool is unknown", "secret__region", `{"region":"eu"}`, nil, 400},
	} {
		t.Run(c.name, func(t *testing.T) {
			body := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"` + c.tool + `","arguments":` + c.args +
				`,"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`
			header := append([]string{headerVersion, v20260728, headerMethod, "tools/call", headerName, c.tool}, c.header...)
			res := w.do(t.Context(), http.MethodPost, body, header...)
			defer res.Body.Close()
			said, _ := io.ReadAll(res.Body)
			if res.StatusCode != c.status {
				t.Errorf("status %d: %s", res.StatusCode, said)
			}
			want := ""
			switch {
			case c.tool == "secret__region":
				want = `"message":"Unknown tool: secret__region"`
			case c.status == 400:
				want = `"code":-32020`
			}
			if !strings.Contains(string(said), want) {
				t.Errorf("answer %s, want %s", said, want)
			}
		})
	}
}
