package catalog

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"mycelium/internal/policy"
	"mycelium/internal/rawjson"
)

func TestResourceNames(t *testing.T) {
	l := Listing{}
	l[Resources] = [][]byte{
		[]byte(`{"uri":"file:///A","name":"n"}`), []byte(`{"uri":"file:///a"}`), []byte(`{"uri":"x y"}`), []byte(`{"uri":""}`),
		[]byte(`{"uri":"dup:1"}`), []byte(`{"uri":"dup:1","name":"other"}`), []byte(`{"uri":"a\u202eb"}`), []byte(`{"name":"no uri"}`),
	}
	defs, _, out := l.Definitions("s", false)
	if got := names(defs); !slices.Equal(got, []string{"s__file:///A", "s__file:///a"}) || len(out) != 5 {
		t.Errorf("%q, left out %q", got, out)
	}
}

func FuzzStoredCatalog(f *testing.F) {
	f.Add([]byte(`{"version":2,"server":"s","config":"d","tools":[{"name":"a"}],"prompts":[],"resources":[],"resourceTemplates":[]}`))
	f.Add([]byte(`{"version":2,"server":"s","config":"d","tools":[`))
	f.Add([]byte(`{"version":2,"server":"s","config":"d","tools":7}`))
	f.Add([]byte(``))
	f.Fuzz(func(t *testing.T, b []byte) {
		var l Listing
		_, known, err := l.parse(b, "s", "d")
		if known && err != nil {
			t.Error("known and broken")
		}
		defs, temps, _ := l.Definitions("s", true)
		for _, d := range append(defs, temps...) {
			if !rawjson.Valid(d.Raw) || !bytes.Contains(b, d.Raw) {
				t.Errorf("definition %q is not in the file", d.Raw)
			}
		}
	})
}

func FuzzPage(f *testing.F) {
	f.Add([]byte(`{"tools":[{"name":"a","annotations":{"readOnlyHint":true}},{"name":"A"},null,{"name":"b"}],"nextCursor":"x"}`))
	f.Add([]byte(`{"tools":[{"name":"\u0061"},{"name":"a"}],"nextCursor":null}`))
	f.Add([]byte(`{"tools":{}}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		if !rawjson.Valid(b) {
			return // a message is checked before its result is looked at
		}
		items, _, err := Page(Tools, b)
		if err != nil {
			return
		}
		var l Listing
		l[Tools] = items
		defs, _, _ := l.Definitions("s", true)
		seen := map[string]bool{}
		for _, d := range defs {
			fold := strings.ToLower(d.Item.Name)
			if seen[fold] || !isToolName(d.Item.Name) {
				t.Errorf("name %q", d.Item.Name)
			}
			seen[fold] = true
		}
	})
}

func TestDeclares(t *testing.T) {
	s := About{Capabilities: []byte(`{"resources":{"subscribe":false,"listChanged":true},"logging":{},"completions":null}`)}
	for path, want := range map[string]bool{"resources": true, "resources subscribe": false, "resources listChanged": true, "logging": true,
		"completions": false, "tools": false} {
		if got := s.Declares(strings.Fields(path)...); got != want {
			t.Errorf("%s: %v", path, got)
		}
	}
	if (About{}).Declares("tools") {
		t.Error("nothing said declares something")
	}
}

func names(defs []policy.Definition) (list []string) {
	for _, d := range defs {
		list = append(list, d.Item.String())
	}
	return list
}
