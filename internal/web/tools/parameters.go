package tools

import (
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"mycelium/internal/rawjson"
	"mycelium/internal/text"
)

// parametersOf reads a JSON Schema of arguments, the required ones first. What is no such schema has none.
func parametersOf(schema jsontext.Value) (out []parameter) {
	var s struct {
		Properties map[string]jsontext.Value `json:"properties"`
		Required   []string                  `json:"required"`
	}
	if rawjson.Decode(schema, &s) != nil {
		return nil
	}
	for name, raw := range s.Properties {
		var p struct {
			Type        jsontext.Value `json:"type"`
			Description string         `json:"description"`
		}
		_ = rawjson.Decode(raw, &p) // a parameter of which nothing is said
		out = append(out, parameter{Name: text.OneLine(name), Type: text.OneLine(strings.Trim(string(p.Type), `"`)),
			Description: text.Visible(p.Description), Required: slices.Contains(s.Required, name)})
	}
	slices.SortFunc(out, func(a, b parameter) int {
		if a.Required != b.Required {
			return map[bool]int{true: -1, false: 1}[a.Required]
		}
		return strings.Compare(a.Name, b.Name)
	})
	return out
}
