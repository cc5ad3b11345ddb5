package control

import (
	"context"

	"github.com/go-json-experiment/json/jsontext"

	"mycelium/internal/gate/view"
	"mycelium/internal/policy"
	"mycelium/internal/rawjson"
)

// The limits of find_tool. With fifteen tools the one that is needed is nearly always among them (docs/proofs/performance.md).
const (
	findDefault = 15
	findMost    = 50
)

func findTool() tool {
	return tool{
		item: view.FindTool(), title: "Find tools", readOnly: true, run: runFind,
		description: "Finds tools by what they do. The list of tools may show only a part of those that you can call: before you say that " +
			"something cannot be done, describe it here, in English or Japanese; several steps at once are fine. The answer has the " +
			"definitions; call the tools by these names. They are listed from now on.",
		params: []param{
			{name: "query", kind: "string", required: true, description: "What is to be done, in words."},
			{name: "limit", kind: "integer", description: "How many tools at most, 1 to 50. Default: 15."},
		},
	}
}

// found is the answer of find_tool.
type found struct {
	Tools    []jsontext.Value `json:"tools"`         // name, description and inputSchema
	Callable int              `json:"callableTools"` // all that the session may call, the gate's own aside
}

func runFind(_ context.Context, x *Tools, c *Call, a arguments) (any, error) {
	limit := findDefault
	if n, given := a["limit"].(int64); given {
		if n < 1 || n > findMost {
			return nil, failure("Argument limit must be an integer from 1 to 50")
		}
		limit = int(n)
	}
	query := a.text("query")
	if query == "" {
		return nil, failure("Argument query must not be empty")
	}
	v := c.now().View()
	out := found{Tools: []jsontext.Value{}}
	var items []policy.Item
	for _, l := range v.Find(query, limit, x.Sessions.Taught.Learnt(c.Began)) {
		if !c.Session.Shows(c.Child, l.Item) {
			continue // hidden from the principal above
		}
		items = append(items, l.Item)
		out.Tools = append(out.Tools, short(l.Raw))
	}
	for _, l := range v.Items[policy.Tool] {
		if !view.IsOwn(l.Item.Server) {
			out.Callable++
		}
	}
	c.Session.Found(query, items, c.Began)
	return out, nil
}

// short returns what a model needs of a definition to call the tool.
func short(raw []byte) jsontext.Value {
	var fields []rawjson.Field
	for _, name := range [...]string{"name", "description", "inputSchema"} {
		if v := rawjson.Member(raw, name); v != nil {
			fields = append(fields, rawjson.Field{Name: name, Value: v})
		}
	}
	return rawjson.Object(fields...)
}
