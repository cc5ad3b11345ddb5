package schemas

import (
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
)

// TestEveryKeyIsSaid: a schema says of each key what it is.
func TestEveryKeyIsSaid(t *testing.T) {
	for _, name := range Names() {
		b, err := Of(name)
		if err != nil {
			t.Fatal(err)
		}
		var doc struct {
			Defs map[string]struct {
				Properties map[string]map[string]any `json:"properties"`
			} `json:"$defs"`
		}
		if err := json.Unmarshal(b, &doc); err != nil {
			t.Fatal(err)
		}
		for part, is := range doc.Defs {
			for key, p := range is.Properties {
				ref, _ := p["$ref"].(string)
				if p["description"] == nil {
					t.Errorf("%s: %s.%s %s", name, part, key, strings.TrimPrefix(ref, "#/$defs/"))
				}
			}
		}
	}
}
