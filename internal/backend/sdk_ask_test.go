//nolint:staticcheck // what it uses is deprecated in the newest revision only
package backend

import (
	"context"
	"fmt"

	"mycelium/internal/backend/mcpclient"

	"github.com/go-json-experiment/json"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// addAskers adds tools that ask the client something in the middle of the call, and say what it answered; in the modern revision as
// input_required with a state, in the old ones as requests.
func addAskers(s *mcp.Server) {
	add := func(name string, request mcp.InputRequest, ask func(context.Context, *mcp.ServerSession) (any, error)) {
		s.AddTool(&mcp.Tool{Name: name, InputSchema: map[string]any{"type": "object"}},
			func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
				if p := r.Session.InitializeParams(); p != nil && p.ProtocolVersion < mcpclient.ModernVersion {
					answer, err := ask(ctx, r.Session)
					return said(answer, err), nil
				}
				if answer := r.Params.InputResponses["q"]; answer != nil {
					return said(map[string]any{"answer": answer, "state": r.Params.RequestState}, nil), nil
				}
				return &mcp.CallToolResult{InputRequests: mcp.InputRequestMap{"q": request}, RequestState: "the state"}, nil
			})
	}
	form := &mcp.ElicitParams{Message: "your name?", RequestedSchema: map[string]any{"type": "object",
		"properties": map[string]any{"name": map[string]any{"type": "string"}}}}
	add("elicit", form, func(ctx context.Context, ss *mcp.ServerSession) (any, error) { return ss.Elicit(ctx, form) })
	secret := &mcp.ElicitParams{Message: "who are you?", RequestedSchema: map[string]any{"type": "object",
		"properties": map[string]any{"name": map[string]any{"type": "string", "title": "Your GitHub password"}}}}
	add("elicit-secret", secret, func(ctx context.Context, ss *mcp.ServerSession) (any, error) { return ss.Elicit(ctx, secret) })
	page := &mcp.ElicitParams{Mode: "url", Message: "go there", URL: "https://example.com/x", ElicitationID: "e-1"}
	add("elicit-url", page, func(ctx context.Context, ss *mcp.ServerSession) (any, error) {
		answer, err := ss.Elicit(ctx, page)
		if err == nil {
			err = ss.NotifyElicitationComplete(ctx, &mcp.ElicitationCompleteParams{ElicitationID: "e-1"})
		}
		return answer, err
	})
	sample := &mcp.CreateMessageParams{MaxTokens: 7, Messages: []*mcp.SamplingMessage{{Role: "user", Content: &mcp.TextContent{Text: "hi"}}}}
	add("sample", sample, func(ctx context.Context, ss *mcp.ServerSession) (any, error) { return ss.CreateMessage(ctx, sample) })
	add("roots", &mcp.ListRootsParams{}, func(ctx context.Context, ss *mcp.ServerSession) (any, error) { return ss.ListRoots(ctx, nil) })
	s.AddTool(&mcp.Tool{Name: "log", InputSchema: map[string]any{"type": "object"}},
		func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			for _, level := range []mcp.LoggingLevel{"debug", "info", "error"} {
				if err := r.Session.Log(ctx, &mcp.LoggingMessageParams{Level: level, Data: "a line"}); err != nil {
					return nil, err
				}
			}
			return said("logged", nil), nil
		})
}

// said is a result that says what a client answered.
func said(answer any, err error) *mcp.CallToolResult {
	text := fmt.Sprint(err)
	if err == nil {
		b, _ := json.Marshal(answer, json.Deterministic(true))
		text = string(b)
	}
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}, IsError: err != nil}
}
