package gate

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"pgregory.net/rapid"

	"mycelium/internal/policy"
	"mycelium/internal/rawjson"
	"mycelium/internal/skill"
)

// tellTale is a world in which the guest sees fs__read and fs__read_file of the server fs, and the definitions are what a test
// says.
func tellTale(t *testing.T, bare string, defs ...policy.Definition) *house {
	t.Helper()
	p := plan{
		tools: []string{"fs__read_text_file", "fs__read_file_v2", "fs__search", "fs__get-sum", "fs__moveFile", "other__write_file", "other__dot.ted"},
		defs:  defs,
		skills: []skill.Skill{
			{Grant: policy.Grant{Name: "reader", AllowedRoles: []string{"guest", "developer"}, AllowedTools: []string{"fs__read*", "?fs__shown"}, AllowedPrompts: []string{"?fs__shown_prompt"}, AllowedResources: []string{"fs__file:///**"}}, Description: "x"},
			{Grant: policy.Grant{Name: "rest", AllowedRoles: []string{"developer"}, AllowedTools: []string{"fs__*", "other__*"}}, Description: "x"},
		},
		roles: []policy.Role{{ID: "guest", Deny: []string{"fs__read_text_file"}}, {ID: "developer"}},
	}
	h := build(t, p)
	if bare != "" {
		w := h.World()
		w.Bare = bare
		h.Swap(w)
	}
	return h
}

// TestMaskedText: what counts as the name of a hidden tool in a text, and what does not. The guest sees fs__read_file_v2 of the
// names that stand here.
func TestMaskedText(t *testing.T) {
	h := tellTale(t, "")
	guest, developer := h.enter("guest"), h.enter("developer")
	for _, c := range []struct{ server, text, want string }{
		// The client's form, wherever it stands.
		{"fs", "Use fs__read_text_file.", "Use another tool."},
		{"other", "Use fs__read_text_file, or fs__read_text_file!", "Use another tool, or another tool!"},
		{"other", "(fs__read_text_file) fs__read_text_file-based x.fs__read_text_file", "(another tool) another tool-based x.another tool"},
		{"other", "fs__read_text_fileを使う", "another toolを使う"},
		{"other", "other__dot.ted. other__dot.teddy other__dot", "another tool. other__dot.teddy other__dot"},
		{"fs", "fs__read_text_file2 xfs__read_text_file fs__read_text_file_x FS__READ_TEXT_FILE", "fs__read_text_file2 xfs__read_text_file fs__read_text_file_x FS__READ_TEXT_FILE"},
		{"fs", "fs__read_file_v2 is here", "fs__read_file_v2 is here"},
		{"fs", "fs__search", "another tool"},
		// A server's own names, made like names.
		{"fs", "DEPRECATED: Use read_text_file instead.", "DEPRECATED: Use another tool instead."},
		{"fs", "`read_text_file` 'get-sum' moveFile()", "`another tool` 'another tool' another tool()"},
		{"fs", "read_text_file_now, get-summary, moveFiles, read_file_v2", "read_text_file_now, get-summary, moveFiles, read_file_v2"},
		{"other", "read_text_file and get-sum are another server's", "read_text_file and get-sum are another server's"},
		// Common words count only where they are meant as names.
		{"fs", "Search the files; a search finds search results.", "Search the files; a search finds search results."},
		{"fs", "`search`, \"search\", “search”, 「search」", "`another tool`, \"another tool\", “another tool”, 「another tool」"},
		{"fs", "the search tool, search tools, searchツール, search(x)", "the another tool tool, another tool tools, another toolツール, another tool(x)"},
		{"fs", "a search toolbox, `search it`, it's search", "a search toolbox, `search it`, it's search"},
		{"", "", ""},
	} {
		if got := h.Masked(guest, c.server, c.text); got != c.want {
			t.Errorf("%s: %q\n  is masked %q\n  want      %q", c.server, c.text, got, c.want)
		}
		if got := h.Masked(developer, c.server, c.text); got != c.text {
			t.Errorf("%s: %q, of which all is in view, is masked %q", c.server, c.text, got)
		}
	}
}

// TestMaskedDefinition: texts are masked, values of a schema only where they have the client's form, an enum loses them, keys
// and what refers to keys stay, and so does every other byte.
func TestMaskedDefinition(t *testing.T) {
	def := func(text string) policy.Definition {
		return policy.Definition{Item: policy.Item{Server: "fs", Name: "shown"}, Raw: []byte(text)}
	}
	for _, c := range []struct{ name, raw, want string }{
		{"texts", `{ "name":"shown","title" : "like read_text_file", "description":"a \u0041 \"search\" \u0066s__search b","x":1.0e2}`,
			`{ "name":"fs__shown","title" : "like another tool", "description":"a A \"another tool\" another tool b","x":1.0e2}`},
		{"nothing hidden", `{"name":"shown","description":"a \u0041 fs__read_file_v2 read_file_v2 shown","x":[1.50]}`,
			`{"name":"fs__shown","description":"a \u0041 fs__read_file_v2 read_file_v2 shown","x":[1.50]}`},
		{"annotations and _meta", `{"name":"shown","annotations":{"title":"fs__search","readOnlyHint":true},"_meta":{"a/b":{"note":["see read_text_file"]}}}`,
			`{"name":"fs__shown","annotations":{"title":"another tool","readOnlyHint":true},"_meta":{"a/b":{"note":["see another tool"]}}}`},
		{"schema", `{"name":"shown","inputSchema":{"type":"object","properties":{"read_text_file":{"type":"string","description":"as read_text_file","default":"read_text_file"},"enum":{"description":"fs__search"}},"required":["read_text_file","fs__search"],"$defs":{"fs__search":{"$ref":"#/$defs/fs__search"}},"$comment":"fs__search"}}`,
			`{"name":"fs__shown","inputSchema":{"type":"object","properties":{"read_text_file":{"type":"string","description":"as another tool","default":"read_text_file"},"enum":{"description":"another tool"}},"required":["read_text_file","fs__search"],"$defs":{"fs__search":{"$ref":"#/$defs/fs__search"}},"$comment":"another tool"}}`},
		{"enum", `{"name":"shown","inputSchema":{"properties":{"a":{"enum":[ "fs__search", "search" , 1,null,{"x":"y"},"fs__read_file_v2","read_text_file"]},"b":{"enum":["fs__search"]},"c":{"enum":["search","read_text_file"]},"d":{"oneOf":[{"const":"fs__search","title":"fs__search"}],"examples":["fs__search","search"]}}}}`,
			`{"name":"fs__shown","inputSchema":{"properties":{"a":{"enum":["search",1,null,{"x":"y"},"fs__read_file_v2","read_text_file"]},"b":{"enum":["another tool"]},"c":{"enum":["search","read_text_file"]},"d":{"oneOf":[{"const":"another tool","title":"another tool"}],"examples":["another tool","search"]}}}}`},
		{"output", `{"name":"shown","outputSchema":{"items":[{"description":"of ` + "`search`" + `"}]}}`, `{"name":"fs__shown","outputSchema":{"items":[{"description":"of ` + "`another tool`" + `"}]}}`},
	} {
		h := tellTale(t, "", def(c.raw))
		list := h.List(h.enter("guest"), policy.Tool)
		i := slices.IndexFunc(list, func(l Listed) bool { return l.Item.Name == "shown" })
		if i < 0 || string(list[i].Raw) != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.name, list[i].Raw, c.want)
		}
		whole := h.List(h.enter("developer"), policy.Tool)
		i = slices.IndexFunc(whole, func(l Listed) bool { return l.Item.Name == "shown" })
		if want := strings.Replace(c.raw, `"name":"shown"`, `"name":"fs__shown"`, 1); string(whole[i].Raw) != want {
			t.Errorf("%s: who sees all is shown %s", c.name, whole[i].Raw)
		}
	}
}

// TestMaskedEverywhere: prompts, resources, templates, the manifest of a role switch; and a server whose names stand bare.
func TestMaskedEverywhere(t *testing.T) {
	defs := []policy.Definition{
		{Item: policy.Item{Kind: policy.Prompt, Server: "fs", Name: "shown_prompt"}, Raw: []byte(`{"name":"shown_prompt","description":"asks read_text_file","arguments":[{"name":"read_text_file","description":"of read_text_file"}]}`)},
		{Item: policy.Item{Kind: policy.Prompt, Server: "fs", Name: "hidden_prompt"}, Raw: []byte(`{"name":"hidden_prompt"}`)},
		{Item: policy.Item{Kind: policy.Resource, Server: "fs", Name: "file:///a"}, Raw: []byte(`{"uri":"file:///a","name":"x","description":"by read_text_file or hidden_prompt, not shown_prompt"}`)},
		{Item: policy.Item{Server: "fs", Name: "shown"}, Raw: []byte(`{"name":"shown","description":"see read_text_file"}`)},
	}
	h := tellTale(t, "", defs...)
	w := h.World()
	w.Templates = []policy.Definition{{Item: policy.Item{Kind: policy.Resource, Server: "fs", Name: "file:///{path}"}, Raw: []byte(`{"uriTemplate":"file:///{path}","name":"t","description":"for read_text_file"}`)}}
	h.Swap(w)
	s := h.enter("guest", "guest")
	for what, got := range map[string][]Listed{"prompt": h.List(s, policy.Prompt)[:1], "resource": h.List(s, policy.Resource)[:1], "template": h.Templates(s)} {
		want := map[string]string{
			"prompt":   `{"name":"fs__shown_prompt","description":"asks another tool","arguments":[{"name":"read_text_file","description":"of another tool"}]}`,
			"resource": `{"uri":"fs+file:///a","name":"x","description":"by another tool or another tool, not shown_prompt"}`,
			"template": `{"uriTemplate":"fs+file:///{path}","name":"t","description":"for another tool"}`,
		}[what]
		if len(got) != 1 || string(got[0].Raw) != want {
			t.Errorf("%s:\n got %v\nwant %s", what, got, want)
		}
	}
	m, err := h.SetRole(t.Context(), s, "guest", ByAgent)
	if err != nil {
		t.Fatal(err)
	}
	if raw, _ := json.Marshal(m); strings.Contains(string(raw), "read_text_file") || !strings.Contains(string(raw), "see another tool") {
		t.Errorf("the manifest is %s", raw)
	}

	bare := tellTale(t, "fs", policy.Definition{Item: policy.Item{Server: "fs", Name: "shown"}, Raw: []byte(`{"name":"shown","description":"see read_text_file or search"}`)},
		policy.Definition{Item: policy.Item{Server: "other", Name: "also"}, Raw: []byte(`{"name":"also","description":"not read_text_file"}`)})
	list := bare.List(bare.enter("guest"), policy.Tool)
	if i := slices.IndexFunc(list, func(l Listed) bool { return l.Item.Name == "shown" }); string(list[i].Raw) != `{"name":"shown","description":"see another tool or search"}` {
		t.Errorf("bare: %s", list[i].Raw)
	}
	if got := bare.Masked(bare.enter("guest"), "other", "not read_text_file"); got != "not another tool" {
		t.Errorf("bare, of another server: %q", got)
	}
}

// TestMaskFollowsTheView: with the skill that shows the tool the definition is the server's own again, and a catalog that loses
// or gains a name is looked through anew.
func TestMaskFollowsTheView(t *testing.T) {
	def := policy.Definition{Item: policy.Item{Server: "fs", Name: "shown"}, Raw: []byte(`{"name":"shown","description":"see later_tool and search()"}`)}
	h := tellTale(t, "", def)
	shown := func(s *Session) string {
		list := h.List(s, policy.Tool)
		return rawjson.TextAt(list[slices.IndexFunc(list, func(l Listed) bool { return l.Item.Name == "shown" })].Raw, "description")
	}
	s := h.enter("guest", "developer")
	if got := shown(s); got != "see later_tool and another tool()" {
		t.Errorf("at first %q", got)
	}
	if _, err := h.SetRole(t.Context(), s, "developer", ByOperator); err != nil {
		t.Fatal(err)
	}
	if got := shown(s); got != "see later_tool and search()" {
		t.Errorf("as developer %q", got)
	}
	if _, err := h.SetRole(t.Context(), s, "guest", ByOperator); err != nil {
		t.Fatal(err)
	}
	changed := s.Changed()
	w := h.World()
	w.Definitions = append(slices.Clone(w.Definitions), define("fs__later_tool"))
	h.Swap(w)
	if got := shown(s); got != "see another tool and another tool()" || !closed(changed) {
		t.Errorf("with the new tool %q, told: %v", got, closed(changed))
	}
}

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
		rapid.SampledFrom(all), rapid.SampledFrom(names), rapid.SampledFrom([]string{" ", ".", "-", "_", ",", "(", ")", "`", "\"", "\\", "\n", "を", "z", "tool", " tool", "é", "__", "\u200b", "1"}),
	)
	text := rapid.Map(rapid.SliceOfN(word, 0, 12), func(words []string) string { return strings.Join(words, "") })
	h := tellTale(t, "") // its gate is not used; it is what makes one
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
					"p": map[string]any{"description": b, "enum": []any{c, "k", 1}, "default": c}, "q": map[string]any{"enum": []string{c}, "examples": []string{b}, "const": a},
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
		lib := skill.Validate([]skill.Skill{{Grant: policy.Grant{Name: "k", AllowedRoles: []string{"guest"}, AllowedTools: granted}, Description: "x"}}, skill.Catalog{Definitions: defs})
		pol, _ := policy.New(policy.Source{Catalog: slices.Concat(ControlDefinitions(), defs), Grants: lib.Grants(), Roles: []policy.Role{{ID: "guest"}}})
		w := newWorld(World{Policy: pol, Skills: lib, Definitions: defs, Bare: rapid.SampledFrom([]string{"", "a"}).Draw(rt, "bare")}, nil, h.logger)
		s := &Session{ID: "s", gate: h.Gate}
		sc := s.scopeIn(&state{role: "guest"}, w)
		for _, l := range sc.view().lists[policy.Tool] {
			if ownServer(l.Item.Server) {
				continue
			}
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
	for _, s := range []string{`{"name":"x","inputSchema":{"enum":["a",1]}}`, `{"a":[`, `{"enum":["fs__x"`, `[[[]]]`, `{"inputSchema":{"enum":[{"enum":["fs__x"]}]}}`, `"`, `{"a"}`, `{"a":"\ud800"}`} {
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
	var p plan
	var granted []string
	for i := range 10_000 {
		server, name := fmt.Sprintf("s%d", i%50), fmt.Sprintf("tool_number_%d", i)
		text := strings.Repeat("This tool does something useful with the files of the project. ", 8)
		if i%2 == 0 {
			text += fmt.Sprintf("See tool_number_%d.", (i+50)%10_000)
		}
		p.defs = append(p.defs, policy.Definition{Item: policy.Item{Server: server, Name: name}, Raw: fmt.Appendf(nil, `{"name":%q,"description":%q,"inputSchema":{"type":"object","properties":{"path":{"type":"string","description":"The path."}}}}`, name, text)})
		if i%4 < 2 {
			granted = append(granted, server+"__"+name)
		}
	}
	p.skills = []skill.Skill{{Grant: policy.Grant{Name: "k", AllowedRoles: []string{"guest"}, AllowedTools: granted}, Description: "x"}}
	p.roles = []policy.Role{{ID: "guest"}}
	w := p.world(b, b.TempDir())
	logger := (&Gate{}).logger
	b.Run("world", func(b *testing.B) {
		for b.Loop() {
			newWorld(w, nil, logger)
		}
	})
	n := newWorld(w, nil, logger)
	b.Run("same-world", func(b *testing.B) {
		for b.Loop() {
			newWorld(w, n, logger)
		}
	})
	s := &Session{ID: "s"}
	b.Run("view", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			n.views.made = nil
			s.scopeIn(&state{role: "guest"}, n).view()
		}
	})
}
