package tools

import (
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"mycelium/internal/node/api"
	"mycelium/internal/web/site"
	"mycelium/internal/web/webtest"
)

// TestInjections has a text of an agent, or of a server, in each place of the room that one can write to.
func TestInjections(t *testing.T) {
	t.Parallel()
	s := webtest.Site(t, Room())
	webtest.HoldsText(t, func(x string) map[string]string {
		quoted, err := jsontext.AppendQuote(nil, x)
		if err != nil {
			quoted = []byte(`"word"`)
		}
		schema := `{"properties":{"p":{"type":` + string(quoted) + `,"description":` + string(quoted) + `}},"required":["p"]}`
		l := toolList{Projects: []site.Choice{{Value: "p", Text: x}}, Key: "p", Problem: x, Done: x, Failed: []string{x}, Text: x}
		l.fill(api.KnownTools{Unknown: []string{x}, Categories: []api.ToolCategory{{ID: "c", Name: x, Description: x}},
			Tools: []api.KnownTool{{Tool: api.Tool{Name: x, Title: x, Description: x, Category: "c", Skills: []string{x},
				Parameters: jsontext.Value(schema)}, Roles: []string{x}, Held: x}}})
		l.Categories[0].Tools = append(l.Categories[0].Tools, toolOf(api.KnownTool{Tool: api.Tool{Name: x, Description: x, Skills: []string{x},
			Parameters: jsontext.Value(schema)}, Roles: []string{x}, Held: x}))
		return map[string]string{"tools": webtest.Show(s, "tools", x, l)}
	})
}

// TestFilter: words, what a tool does and a role choose tools; without a filter every category is there, those without tools too.
func TestFilter(t *testing.T) {
	t.Parallel()
	known := api.KnownTools{Categories: []api.ToolCategory{{ID: "filesystem", Name: "Filesystem"}, {ID: "vcs", Name: "Version Control"}},
		Tools: []api.KnownTool{{Tool: api.Tool{Name: "files__read_file", Category: "filesystem", Description: "Reads."},
			Roles: []string{"guest"}},
			{Tool: api.Tool{Name: "files__write_file", Category: "filesystem", Description: "Writes.", Mutates: true}}}}
	for _, c := range []struct {
		filter            toolList
		tools, categories int
	}{{toolList{}, 2, 2}, {toolList{Text: "FILE reads", Filtered: true}, 1, 1}, {toolList{Does: "mutates", Filtered: true}, 1, 1},
		{toolList{Does: "reads", Filtered: true}, 1, 1}, {toolList{Role: "guest", Filtered: true}, 1, 1},
		{toolList{Text: "nothing", Filtered: true}, 0, 0}} {
		l := c.filter
		if l.fill(known); l.Shown != c.tools || len(l.Categories) != c.categories || l.All != 2 {
			t.Errorf("%+v: %d tools in %d categories of %d", c.filter, l.Shown, len(l.Categories), l.All)
		}
	}
}
