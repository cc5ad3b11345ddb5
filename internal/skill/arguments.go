package skill

import (
	"maps"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"mycelium/internal/policy"
)

// Arguments are the arguments that the schema of a tool declares, sorted. They are nil if the schema says that there may be others, or
// puts them together from parts.
func Arguments(d policy.Definition) []string {
	var said struct {
		Input struct {
			Properties map[string]jsontext.Value `json:"properties"`
			Additional jsontext.Value            `json:"additionalProperties"`
			Patterns   jsontext.Value            `json:"patternProperties"`
			AllOf      jsontext.Value            `json:"allOf"`
			AnyOf      jsontext.Value            `json:"anyOf"`
			OneOf      jsontext.Value            `json:"oneOf"`
			Ref        jsontext.Value            `json:"$ref"`
		} `json:"inputSchema"`
	}
	if json.Unmarshal(d.Raw, &said) != nil {
		return nil
	}
	in := said.Input
	closed := len(in.Additional) == 0 || string(in.Additional) == "false"
	if !closed || len(in.Patterns)+len(in.AllOf)+len(in.AnyOf)+len(in.OneOf)+len(in.Ref) > 0 {
		return nil
	}
	return slices.Sorted(maps.Keys(in.Properties))
}
