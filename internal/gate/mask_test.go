package gate

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"mycelium/internal/gate/session"
	"mycelium/internal/gate/view"
	"mycelium/internal/policy"
	"mycelium/internal/rawjson"
	"mycelium/internal/skill"
)

// tellTale is a world in which the guest sees fs__read and fs__read_file of the server fs, and the definitions are what a test
// says.
func tellTale(t *testing.T, bare string, defs ...policy.Definition) *house {
	t.Helper()
	p := plan{
		tools: []string{"fs__read_text_file", "fs__read_file_v2", "fs__search", "fs__get-sum", "fs__moveFile", "other__write_file",
			"other__dot.ted"},
		defs: defs,
		skills: []skill.Skill{
			{Grant: policy.Grant{Name: "reader", AllowedRoles: []string{"guest", "developer"}, AllowedTools: []string{"fs__read*", "?fs__shown"},
				AllowedPrompts: []string{"?fs__shown_prompt"}, AllowedResources: []string{"fs__file:///**"}}, Description: "x"},
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
		{"fs", "fs__read_text_file2 xfs__read_text_file fs__read_text_file_x FS__READ_TEXT_FILE",
			"fs__read_text_file2 xfs__read_text_file fs__read_text_file_x FS__READ_TEXT_FILE"},
		{"fs", "fs__read_file_v2 is here", "fs__read_file_v2 is here"},
		{"fs", "fs__search", "another tool"},
		// A server's own names, made like names.
		{"fs", "DEPRECATED: Use read_text_file instead.", "DEPRECATED: Use another tool instead."},
		{"fs", "`read_text_file` 'get-sum' moveFile()", "`another tool` 'another tool' another tool()"},
		{"fs", "read_text_file_now, get-summary, moveFiles, read_file_v2", "read_text_file_now, get-summary, moveFiles, fs__read_file_v2"},
		{"other", "read_text_file and get-sum are another server's", "read_text_file and get-sum are another server's"},
		// Common words count only where they are meant as names.
		{"fs", "Search the files; a search finds search results.", "Search the files; a search finds search results."},
		{"fs", "`search`, \"search\", “search”, 「search」", "`another tool`, \"another tool\", “another tool”, 「another tool」"},
		{"fs", "the search tool, search tools, searchツール, search(x)",
			"the another tool tool, another tool tools, another toolツール, another tool(x)"},
		{"fs", "a search toolbox, `search it`, it's search", "a search toolbox, `search it`, it's search"},
		{"", "", ""},
	} {
		if got := maskedFor(guest, c.server, c.text); got != c.want {
			t.Errorf("%s: %q\n  is masked %q\n  want      %q", c.server, c.text, got, c.want)
		}
		if got := maskedFor(developer, c.server, c.text); strings.Contains(got, "another tool") {
			t.Errorf("%s: %q, of which all is in view, is masked %q", c.server, c.text, got)
		}
	}
}

// TestServersTextsNameToolsAsClientsDo: the instructions of a server name its own tools as the client knows them, whole words only, and
// hidden ones not at all.
func TestServersTextsNameToolsAsClientsDo(t *testing.T) {
	h := tellTale(t, "")
	for _, c := range []struct{ role, text, want string }{
		{"guest", "Call read_file_v2, then read_text_file.", "Call fs__read_file_v2, then another tool."},
		{"developer", "Call `search`, read_text_file, read_text_files and fs__search; search well.",
			"Call `fs__search`, fs__read_text_file, read_text_files and fs__search; search well."},
		{"developer", "", ""},
	} {
		sc := h.enter(c.role).Snapshot()
		if got := sc.World.Masked("fs", c.text, sc.View()); got != c.want {
			t.Errorf("%s reads %q, want %q", c.role, got, c.want)
		}
	}
	sc := tellTale(t, "fs").enter("developer").Snapshot()
	if got := sc.World.Masked("fs", "read_text_file", sc.View()); got != "read_text_file" {
		t.Errorf("without a prefix it is %q", got)
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
		{"annotations and _meta", `{"name":"shown","annotations":{"title":"fs__search","readOnlyHint":true},"_meta":{"a/b":{"note":["see ` +
			`read_text_file"]}}}`,
			`{"name":"fs__shown","annotations":{"title":"another tool","readOnlyHint":true},"_meta":{"a/b":{"note":["see another tool"]}}}`},
		{"schema", `{"name":"shown","inputSchema":{"type":"object","properties":{"read_text_file":{"type":"string","description":"as ` +
			`read_text_file","default":"read_text_file"},"enum":{"description":"fs__search"}},"required":["read_text_file","fs__search"],` +
			`"$defs":{"fs__search":{"$ref":"#/$defs/fs__search"}},"$comment":"fs__search"}}`,
			`{"name":"fs__shown","inputSchema":{"type":"object","properties":{"read_text_file":{"type":"string","description":"as another tool",` +
				`"default":"read_text_file"},"enum":{"description":"another tool"}},"required":["read_text_file","fs__search"],` +
				`"$defs":{"fs__search":{"$ref":"#/$defs/fs__search"}},"$comment":"another tool"}}`},
		{"enum", `{"name":"shown","inputSchema":{"properties":{"a":{"enum":[ "fs__search", "search" , 1,null,{"x":"y"},"fs__read_file_v2",` +
			`"read_text_file"]},"b":{"enum":["fs__search"]},"c":{"enum":["search","read_text_file"]},"d":{"oneOf":[{"const":"fs__search",` +
			`"title":"fs__search"}],"examples":["fs__search","search"]}}}}`,
			`{"name":"fs__shown","inputSchema":{"properties":{"a":{"enum":["search",1,null,{"x":"y"},"fs__read_file_v2","read_text_file"]},` +
				`"b":{"enum":["another tool"]},"c":{"enum":["search","read_text_file"]},"d":{"oneOf":[{"const":"another tool","title":"another ` +
				`tool"}],"examples":["another tool","search"]}}}}`},
		{"output", `{"name":"shown","outputSchema":{"items":[{"description":"of ` + "`search`" + `"}]}}`,
			`{"name":"fs__shown","outputSchema":{"items":[{"description":"of ` + "`another tool`" + `"}]}}`},
	} {
		h := tellTale(t, "", def(c.raw))
		list := h.enter("guest").List(policy.Tool)
		i := slices.IndexFunc(list, func(l view.Listed) bool { return l.Item.Name == "shown" })
		if i < 0 || string(list[i].Raw) != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.name, list[i].Raw, c.want)
		}
		whole := h.enter("developer").List(policy.Tool)
		i = slices.IndexFunc(whole, func(l view.Listed) bool { return l.Item.Name == "shown" })
		if want := strings.Replace(c.raw, `"name":"shown"`, `"name":"fs__shown"`, 1); string(whole[i].Raw) != want {
			t.Errorf("%s: who sees all is shown %s", c.name, whole[i].Raw)
		}
	}
}

// TestMaskedEverywhere: prompts, resources, templates, the manifest of a role switch; and a server whose names stand bare.
func TestMaskedEverywhere(t *testing.T) {
	defs := []policy.Definition{
		{Item: policy.Item{Kind: policy.Prompt, Server: "fs", Name: "shown_prompt"}, Raw: []byte(`{"name":"shown_prompt","description":"asks ` +
			`read_text_file","arguments":[{"name":"read_text_file","description":"of read_text_file"}]}`)},
		{Item: policy.Item{Kind: policy.Prompt, Server: "fs", Name: "hidden_prompt"}, Raw: []byte(`{"name":"hidden_prompt"}`)},
		{Item: policy.Item{Kind: policy.Resource, Server: "fs", Name: "file:///a"},
			Raw: []byte(`{"uri":"file:///a","name":"x","description":"by read_text_file or hidden_prompt, not shown_prompt"}`)},
		{Item: policy.Item{Server: "fs", Name: "shown"}, Raw: []byte(`{"name":"shown","description":"see read_text_file"}`)},
	}
	h := tellTale(t, "", defs...)
	w := h.World()
	w.Templates = []policy.Definition{{Item: policy.Item{Kind: policy.Resource, Server: "fs", Name: "file:///{path}"},
		Raw: []byte(`{"uriTemplate":"file:///{path}","name":"t","description":"for read_text_file"}`)}}
	h.Swap(w)
	s := h.enter("guest", "guest")
	for what, got := range map[string][]view.Listed{"prompt": s.List(policy.Prompt)[:1], "resource": s.List(policy.Resource)[:1],
		"template": s.Templates()} {
		want := map[string]string{
			"prompt": `{"name":"fs__shown_prompt","description":"asks another tool","arguments":[{"name":"read_text_file","description":"of ` +
				`another tool"}]}`,
			"resource": `{"uri":"fs+file:///a","name":"x","description":"by another tool or another tool, not shown_prompt"}`,
			"template": `{"uriTemplate":"fs+file:///{path}","name":"t","description":"for another tool"}`,
		}[what]
		if len(got) != 1 || string(got[0].Raw) != want {
			t.Errorf("%s:\n got %v\nwant %s", what, got, want)
		}
	}
	m, err := h.switchRole(t.Context(), s, "guest", session.ByAgent)
	if err != nil {
		t.Fatal(err)
	}
	if raw, _ := json.Marshal(m); strings.Contains(string(raw), "read_text_file") || !strings.Contains(string(raw), "see another tool") {
		t.Errorf("the manifest is %s", raw)
	}

	bare := tellTale(t, "fs", policy.Definition{Item: policy.Item{Server: "fs", Name: "shown"},
		Raw: []byte(`{"name":"shown","description":"see read_text_file or search"}`)},
		policy.Definition{Item: policy.Item{Server: "other", Name: "also"}, Raw: []byte(`{"name":"also","description":"not read_text_file"}`)})
	list := bare.enter("guest").List(policy.Tool)
	if i := slices.IndexFunc(list, func(l view.Listed) bool { return l.Item.Name == "shown" }); string(list[i].Raw) != `{"name":"shown",`+
		`"description":"see another tool or search"}` {
		t.Errorf("bare: %s", list[i].Raw)
	}
	if got := maskedFor(bare.enter("guest"), "other", "not read_text_file"); got != "not another tool" {
		t.Errorf("bare, of another server: %q", got)
	}
}

// TestMaskFollowsTheView: with the skill that shows the tool the definition is the server's own again, and a catalog that loses
// or gains a name is looked through anew.
func TestMaskFollowsTheView(t *testing.T) {
	def := policy.Definition{Item: policy.Item{Server: "fs", Name: "shown"}, Raw: []byte(`{"name":"shown","description":"see later_tool and ` +
		`search()"}`)}
	h := tellTale(t, "", def)
	shown := func(s *session.Session) string {
		list := s.List(policy.Tool)
		return rawjson.TextAt(list[slices.IndexFunc(list, func(l view.Listed) bool { return l.Item.Name == "shown" })].Raw, "description")
	}
	s := h.enter("guest", "developer")
	if got := shown(s); got != "see later_tool and another tool()" {
		t.Errorf("at first %q", got)
	}
	if _, err := h.switchRole(t.Context(), s, "developer", session.ByOperator); err != nil {
		t.Fatal(err)
	}
	if got := shown(s); got != "see later_tool and search()" {
		t.Errorf("as developer %q", got)
	}
	if _, err := h.switchRole(t.Context(), s, "guest", session.ByOperator); err != nil {
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

// maskedFor is a text of a server as a session may read it.
func maskedFor(s *session.Session, server, text string) string {
	sc := s.Snapshot()
	return sc.World.Masked(server, text, sc.View())
}
