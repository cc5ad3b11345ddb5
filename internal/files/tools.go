package files

import (
	_ "embed"
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"mycelium/internal/policy"
)

// definitions are the tools as clients see them, sorted by name. The arguments are checked against their schemas.
//
//go:embed tools.json
var definitions string

// table parses the definitions and joins each with its function.
func table() (map[string]*tool, []policy.Definition, error) {
	var raws []jsontext.Value
	if err := json.Unmarshal([]byte(definitions), &raws); err != nil {
		return nil, nil, fmt.Errorf("read the definitions of the files server: %w", err)
	}
	tools := map[string]*tool{
		"delete_file":    {run: with(deleteFile)},
		"edit_file":      {run: with(editFile)},
		"list_directory": {run: with(listDirectory)},
		"move_file":      {run: with(moveFile)},
		"read_file":      {run: with(readFile)},
		"search_files":   {run: with(searchFiles)},
		"stat_file":      {run: with(statFile)},
		"write_file":     {run: with(writeFile)},
	}
	defs := make([]policy.Definition, 0, len(raws))
	for _, raw := range raws {
		var d struct {
			Name        string `json:"name"`
			InputSchema struct {
				Properties map[string]property `json:"properties"`
				Required   []string            `json:"required"`
			} `json:"inputSchema"`
			Annotations map[string]any `json:"annotations"`
		}
		if err := json.Unmarshal(raw, &d); err != nil {
			return nil, nil, fmt.Errorf("read the definitions of the files server: %w", err)
		}
		t, ok := tools[d.Name]
		if !ok {
			return nil, nil, fmt.Errorf("the files server defines %s but has no function for it", d.Name)
		}
		t.props, t.required = d.InputSchema.Properties, d.InputSchema.Required
		hints := map[string]bool{}
		for k, v := range d.Annotations {
			if b, ok := v.(bool); ok {
				hints[k] = b
			}
		}
		defs = append(defs, policy.Definition{Item: policy.Item{Server: "files", Name: d.Name}, Raw: raw, Annotations: hints})
	}
	return tools, defs, nil
}
