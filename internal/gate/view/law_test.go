package view

import (
	"bytes"
	"fmt"
	"log/slog"
	"regexp"
	"slices"
	"strings"
	"testing"

	"mycelium/internal/policy"
	"mycelium/internal/skill"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"pgregory.net/rapid"
)

// TestLawNoHiddenNames: decision 5. For random catalogs and scopes no listed definition names a hidden tool in the client's form,
// and a definition that mentions only what is in view is the server's, byte for byte.
func TestLawNoHiddenNames(t *testing.T) {
	servers := []string{"a", "b-c", "fs"}
	names := []string{"read_file", "read_file_v2", "read", "x.y", "x", "get-sum", "get-", "do_it", "doIt"}
	var all []string
	for _, s := range servers {
		for _, n := range names {
			all = append(all, s+"__"+n)
		}
	}
	word := rapid.OneOf(
		rapid.SampledFrom(all), rapid.SampledFrom(names),
		rapid.SampledFrom([]string{" ", ".", "-", "_", ",", "(", ")", "`", "\"", "\\", "\n", "を", "z", "tool", " tool", "é", "__",
			"\u200b", "1"}),
	)
	text := rapid.Map(rapid.SliceOfN(word, 0, 12), func(words []string) string { return strings.Join(words, "") })
	rapid.Check(t, func(rt *rapid.T) {
		var defs []policy.Definition
		var granted []string
		texts := map[string][]string{}
		for _, name := range rapid.SliceOfNDistinct(rapid.SampledFrom(all), 1, 12, rapid.ID).Draw(rt, "catalog") {
			it, err := policy.ParseTool(name)
			if err != nil {
				rt.Fatal(err)
			}
			a, b, c := text.Draw(rt, "a"), text.Draw(rt, "b"), text.Draw(rt, "c")
			raw, err := json.Marshal(map[string]any{
				"name": it.Name, "description": a, "inputSchema": map[string]any{"type": "object", "properties": map[string]any{
					"p": map[string]any{"description": b, "enum": []any{c, "k", 1}, "default": c},
					"q": map[string]any{"enum": []string{c}, "examples": []string{b}, "const": a},
				}}, "annotations": map[string]any{"title": b, "more": []any{a, map[string]any{"x": c}}},
			})
			if err != nil {
				rt.Fatal(err)
			}
			texts[name] = []string{a, b, c}
			defs = append(defs, policy.Definition{Item: it, Raw: raw})
			if rapid.Bool().Draw(rt, "granted") {
				granted = append(granted, name)
			}
		}
		world := guestWorld(defs, granted)
		world.Bare = rapid.SampledFrom([]string{"", "a"}).Draw(rt, "bare")
		w := New(world, nil, nil, slog.New(slog.DiscardHandler))
		for _, l := range w.Lists(guest, []string{"k"}, nil).Items[policy.Tool] {
			if !jsontext.Value(l.Raw).IsValid() {
				rt.Fatalf("no JSON: %s", l.Raw)
			}
			mentionsHidden := false
			for _, d := range defs {
				name := d.Item.String()
				if slices.Contains(granted, name) {
					continue
				}
				asWord := regexp.MustCompile(`(?:^|[^A-Za-z0-9_])(` + regexp.QuoteMeta(name) + `)(?:$|[^A-Za-z0-9_])`)
				for _, shown := range stringsOf(rt, l.Raw) {
					for _, at := range asWord.FindAllStringSubmatchIndex(shown, -1) {
						if !partOfVisible(shown, at[2], at[3], granted) {
							rt.Fatalf("%s, which is hidden, stands in %q of %s", name, shown, l.Item)
						}
					}
				}
				for _, text := range texts[l.Item.String()] {
					mentionsHidden = mentionsHidden || strings.Contains(text, d.Item.Name)
				}
			}
			if original := w.byItem[l.Item].Raw; !mentionsHidden && !bytes.Equal(original, l.Raw) {
				rt.Fatalf("nothing hidden is mentioned, and yet\n%s is shown as\n%s", original, l.Raw)
			}
		}
	})
}

// partOfVisible reports whether a piece of a text lies in a longer name that is in view, as fs__x does in fs__x.y.
func partOfVisible(s string, from, to int, visible []string) bool {
	for _, name := range visible {
		for i := 0; ; {
			n := strings.Index(s[i:], name)
			if n < 0 {
				break
			}
			if at := i + n; at <= from && at+len(name) >= to {
				return true
			}
			i += n + 1
		}
	}
	return false
}

// stringsOf are the string values of a JSON text.
func stringsOf(t interface{ Fatal(...any) }, raw []byte) []string {
	var v any
	if err := json.Unmarshal(raw, &v); err != nil {
		t.Fatal(err)
	}
	var out []string
	var walk func(any)
	walk = func(v any) {
		switch v := v.(type) {
		case string:
			out = append(out, v)
		case []any:
			for _, e := range v {
				walk(e)
			}
		case map[string]any:
			for _, e := range v {
				walk(e)
			}
		}
	}
	walk(v)
	return out
}

// FuzzMaskWalk: whatever a definition is, going through it neither panics nor changes what is not to change, and what comes of
// masking is valid JSON again.
func FuzzMaskWalk(f *testing.F) {
	for _, s := range []string{`{"name":"x","inputSchema":{"enum":["a",1]}}`, `{"a":[`, `{"enum":["fs__x"`, `[[[]]]`,
		`{"inputSchema":{"enum":[{"enum":["fs__x"]}]}}`, `"`, `{"a"}`, `{"a":"\ud800"}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		same, err := walk(raw, ofDefinition("name"), func(s string, _ part) (string, bool) { return s, false })
		if err == nil && !bytes.Equal(same, raw) {
			t.Errorf("%q became %q", raw, same)
		}
		if !jsontext.Value(raw).IsValid() {
			return
		}
		if err != nil {
			t.Fatalf("%q: %v", raw, err)
		}
		out, err := walk(raw, ofDefinition("name"), func(s string, _ part) (string, bool) { return s + "!", true })
		if err != nil || !jsontext.Value(out).IsValid(jsontext.AllowDuplicateNames(true)) {
			t.Errorf("%q became %q: %v", raw, out, err)
		}
	})
}

// BenchmarkMaskedView is what a session's first list costs with 10,000 tools, half of which name a hidden one.
func BenchmarkMaskedView(b *testing.B) {
	var p []policy.Definition
	var granted []string
	for i := range 10_000 {
		server, name := fmt.Sprintf("s%d", i%50), fmt.Sprintf("tool_number_%d", i)
		text := strings.Repeat("This tool does something useful with the files of the project. ", 8)
		if i%2 == 0 {
			text += fmt.Sprintf("See tool_number_%d.", (i+50)%10_000)
		}
		p = append(p, policy.Definition{Item: policy.Item{Server: server, Name: name},
			Raw: fmt.Appendf(nil,
				`{"name":%q,"description":%q,"inputSchema":{"type":"object",`+
					`"properties":{"path":{"type":"string","description":"The path."}}}}`, name, text)})
		if i%4 < 2 {
			granted = append(granted, server+"__"+name)
		}
	}
	w := guestWorld(p, granted)
	logger := slog.New(slog.DiscardHandler)
	b.Run("world", func(b *testing.B) {
		for b.Loop() {
			New(w, nil, nil, logger)
		}
	})
	n := New(w, nil, nil, logger)
	b.Run("same-world", func(b *testing.B) {
		for b.Loop() {
			New(w, nil, n, logger)
		}
	})
	b.Run("view", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			n.views.made = nil
			n.Lists(guest, []string{"k"}, nil)
		}
	})
}

// tenThousand are the definitions of as many tools of one server.
func tenThousand() []policy.Definition {
	var defs []policy.Definition
	for i := range 10_000 {
		name := fmt.Sprintf("tool_%05d", i)
		defs = append(defs, policy.Definition{
			Item: policy.Item{Server: "big", Name: name}, Raw: fmt.Appendf(nil,
				`{"name":%q,"description":"Does it.","inputSchema":{"type":"object"}}`, name),
		})
	}
	return defs
}

// TestAListCostsAFewAllocations: the lists of a view are a few large pieces of memory, however many tools they hold.
func TestAListCostsAFewAllocations(t *testing.T) {
	w := New(guestWorld(tenThousand(), []string{"big__*"}), nil, nil, nil)
	n := testing.AllocsPerRun(5, func() {
		w.views.made = nil
		w.Lists(guest, []string{"k"}, nil)
	})
	if n > 100 {
		t.Errorf("the lists of 10,000 tools cost %v allocations", n)
	}
}

// BenchmarkView is what a list of 10,000 tools costs.
func BenchmarkView(b *testing.B) {
	defs := tenThousand()
	w := New(guestWorld(defs, []string{"big__*"}), nil, nil, nil)
	b.Run("changed", func(b *testing.B) {
		for b.Loop() {
			w.views.made = nil
			if len(w.Lists(guest, []string{"k"}, nil).Items[policy.Tool]) < 10_000 {
				b.Fatal("too few")
			}
		}
	})
	b.Run("swap", func(b *testing.B) {
		again := guestWorld(defs, []string{"big__*"})
		for b.Loop() {
			New(again, nil, w, nil)
		}
	})
}

// guest is the scope of a session whose role is open to the skill k.
var guest = policy.Scope{Principal: policy.Principal{ID: "s", Role: "guest"}, Skills: []string{"k"}}

// guestWorld is a world in which skill k grants tools to the role guest.
func guestWorld(defs []policy.Definition, granted []string) World {
	grant := policy.Grant{Name: "k", AllowedRoles: []string{"guest"}, AllowedTools: granted}
	lib := skill.Validate([]skill.Skill{{Grant: grant, Description: "x"}}, skill.Catalog{Definitions: defs})
	pol, _ := policy.New(policy.Source{Catalog: defs, Grants: lib.Grants(), Roles: []policy.Role{{ID: "guest"}}})
	return World{Policy: pol, Skills: lib, Definitions: defs}
}
