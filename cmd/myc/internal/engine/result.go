package engine

import (
	"errors"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"mycelium/internal/agent"
	"mycelium/internal/model"
	"mycelium/internal/rawjson"
	"mycelium/internal/rpc"
)

// content is one part of the result of a tool (MCP, tools/call).
type content struct {
	Type     string         `json:"type"` // text, image, audio, resource or resource_link
	Text     string         `json:"text"`
	Data     string         `json:"data"`
	MimeType string         `json:"mimeType"`
	URI      string         `json:"uri"`
	Resource jsontext.Value `json:"resource"`
}

// resultOf is the result of a call of a tool, as a model and people see it: texts, and the pictures that a model takes.
func resultOf(tool string, raw []byte, asked bool) agent.Result {
	var r struct {
		Content    []content      `json:"content"`
		Structured jsontext.Value `json:"structuredContent"`
		IsError    bool           `json:"isError"`
	}
	if err := json.Unmarshal(raw, &r); err != nil {
		return resultOf(tool, textResult("The tool answered with what is no result: "+err.Error()), asked)
	}
	out := agent.Result{Failed: r.IsError}
	var texts []string
	for _, c := range r.Content {
		if c.Type == "image" && slices.Contains([]string{"image/png", "image/jpeg", "image/gif", "image/webp"}, c.MimeType) {
			out.Content = append(out.Content, model.Block{Type: "image", Source: &model.Source{Type: "base64", MediaType: c.MimeType, Data: c.Data}})
			texts = append(texts, "["+c.MimeType+"]")
			continue
		}
		if s := c.said(); strings.TrimSpace(s) != "" { // the API takes no empty text
			out.Content = append(out.Content, model.Block{Type: "text", Text: s})
			texts = append(texts, s)
		}
	}
	if len(out.Content) == 0 {
		s := "(no output)"
		if len(r.Structured) > 0 {
			s = string(r.Structured)
		}
		out.Content, texts = []model.Block{{Type: "text", Text: s}}, []string{s}
	}
	out.Text, out.Cost = strings.Join(texts, "\n"), agent.CostOf(tool, r.Structured)
	out.Effect = effect(out.Text, out.Failed, asked)
	return out
}

// said is a part of a result as text.
func (c content) said() string {
	switch c.Type {
	case "text":
		return c.Text
	case "resource_link":
		return c.URI
	case "resource":
		if s, ok := rawjson.Text(rawjson.Member(c.Resource, "text")); ok {
			return s
		}
		return rawjson.TextAt(c.Resource, "uri")
	}
	return "[" + c.Type + " " + c.MimeType + "]"
}

// textResult is the result of a tool that failed with a text.
func textResult(s string) []byte {
	return append(append([]byte(`{"isError":true,"content":[{"type":"text","text":`), rawjson.Quote(s)...), "}]}"...)
}

func asRPC(err error, to **rpc.Error) bool { return errors.As(err, to) }

// denied begins the result of a call that the gateway refused.
const denied = "Denied by policy: "

// effect is what became of a call before it ran.
func effect(text string, failed, asked bool) string {
	switch {
	case failed && strings.HasPrefix(text, denied):
		return "deny"
	case asked:
		return "ask"
	}
	return "allow"
}
