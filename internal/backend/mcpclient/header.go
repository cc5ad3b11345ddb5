package mcpclient

import (
	"bytes"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"mycelium/internal/rawjson"
	"mycelium/internal/rpc"
)

// nameOf is the value of the modern revision's Mcp-Name header: the name or the URI of the item that a request is about.
func nameOf(method string, params []byte) string {
	key := ""
	switch method {
	case "tools/call", "prompts/get":
		key = "name"
	case "resources/read":
		key = "uri"
	case "tasks/get", "tasks/update", "tasks/cancel": // of the extension io.modelcontextprotocol/tasks
		key = "taskId"
	default:
		return ""
	}
	name := rawjson.TextAt(params, key)
	return name
}

// paramHeadersOf finds the arguments that have to be repeated in headers, by tool.
func paramHeadersOf(definitions [][]byte) map[string][]rpc.ParamHeader {
	m := map[string][]rpc.ParamHeader{}
	for _, raw := range definitions {
		if wanted := rpc.ParamHeaders(raw); wanted != nil {
			name := rawjson.TextAt(raw, "name")
			m[name] = wanted
		}
	}
	return m
}

// headerFault says why the x-mcp-header annotations of a tool's input schema are not valid, by the rules of the modern revision over
// HTTP; empty: they are valid, or there are none. A tool with invalid annotations must not be used.
func headerFault(definition []byte) string {
	if !bytes.Contains(definition, []byte(headerKey)) {
		return ""
	}
	f := headerFaults{seen: map[string]bool{}}
	f.schema(rawjson.Member(definition, "inputSchema"), false, 0)
	return f.fault
}

const headerKey = rpc.ParamHeaderKey

// maxSchemaDepth bounds how deep a schema is searched.
const maxSchemaDepth = 64

// headerFaults searches a schema for annotations that are not valid.
type headerFaults struct {
	seen  map[string]bool // header names, in lower case
	fault string          // the first one
}

// schema searches one schema. argument reports that it is the schema of an argument: the path to it has only properties.
func (f *headerFaults) schema(raw []byte, argument bool, depth int) {
	if f.fault != "" || len(raw) == 0 || depth > maxSchemaDepth {
		return
	}
	if raw[0] == '[' {
		for one := range rawjson.Elements(raw) {
			f.schema(one, false, depth+1)
		}
		return
	}
	for key, value := range rawjson.Members(raw) {
		switch {
		case key == headerKey:
			f.annotation(value, rawjson.Member(raw, "type"), argument)
		case key == "properties":
			for _, property := range rawjson.Members(value) {
				f.schema(property, argument || depth == 0, depth+1)
			}
		case slices.Contains(plainKeywords, key):
		default:
			f.schema(value, false, depth+1)
		}
	}
}

// plainKeywords have values, not schemas: an x-mcp-header member inside of them is data.
var plainKeywords = []string{"const", "enum", "default", "examples"}

// annotation checks one annotation.
func (f *headerFaults) annotation(name, kind []byte, argument bool) {
	text, ok := rawjson.Text(name)
	simple, _ := rawjson.Text(kind)
	switch {
	case !argument:
		f.fault = "x-mcp-header is allowed only below properties"
	case !ok || !rpc.IsToken(text):
		f.fault = fmt.Sprintf("x-mcp-header %.60s is not a header name", name)
	case f.seen[strings.ToLower(text)]:
		f.fault = fmt.Sprintf("x-mcp-header %q appears twice", text)
	case simple != "string" && simple != "integer" && simple != "boolean":
		f.fault = fmt.Sprintf("x-mcp-header %q is of an argument that is not a string, an integer or a boolean", text)
	}
	f.seen[strings.ToLower(text)] = true
}

// setParams repeats the arguments of a call in headers.
func setParams(h http.Header, wanted []rpc.ParamHeader, params []byte) {
	for _, w := range wanted {
		if text, ok := w.Value(rawjson.Member(params, "arguments")); ok {
			h.Set(w.Name, rpc.HeaderValue(text))
		}
	}
}

// MissesHeaders reports whether a server refused a tool call for want of headers. The tool's definition may have changed.
func (c *Conn) MissesHeaders(method string, rpcErr []byte) bool {
	return rpcErr != nil && c.modern && method == "tools/call" && codeOf(rpcErr) == rpc.CodeHeaderMismatch
}
