package engine

import (
	"context"

	"github.com/go-json-experiment/json/jsontext"

	"mycelium/internal/agent"
)

// page is one page of tools/list.
type page struct {
	Tools []struct {
		Name        string         `json:"name"`
		Description string         `json:"description"`
		InputSchema jsontext.Value `json:"inputSchema"`
		Annotations struct {
			ReadOnly bool `json:"readOnlyHint"`
		} `json:"annotations"`
	} `json:"tools"`
	Next string `json:"nextCursor"`
}

// Tools lists the tools that the session sees.
func (d *Door) Tools(ctx context.Context) (out []agent.Tool, err error) {
	for cursor := ""; ; {
		params := map[string]string{}
		if cursor != "" {
			params["cursor"] = cursor
		}
		var p page
		if err := d.request(ctx, "tools/list", params, &p); err != nil {
			return nil, err
		}
		for _, t := range p.Tools {
			out = append(out, agent.Tool{Name: t.Name, Description: t.Description, Schema: []byte(t.InputSchema), ReadOnly: t.Annotations.ReadOnly})
		}
		if p.Next == "" || p.Next == cursor {
			return out, nil
		}
		cursor = p.Next
	}
}
