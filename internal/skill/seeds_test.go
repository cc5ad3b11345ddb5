package skill

import (
	"io/fs"
	"os"
	"path"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"mycelium/internal/policy"
)

// catalog makes a catalog of tools, prompts ("prompt:x__y") and resources ("resource:x__uri").
func catalog(names ...string) Catalog {
	c := Catalog{Pending: map[string]string{}}
	for _, n := range names {
		var it policy.Item
		if rest, ok := strings.CutPrefix(n, "prompt:"); ok {
			it.Kind, n = policy.Prompt, rest
		} else if rest, ok := strings.CutPrefix(n, "resource:"); ok {
			it.Kind, n = policy.Resource, rest
		}
		it.Server, it.Name, _ = strings.Cut(n, "__")
		c.Definitions = append(c.Definitions, policy.Definition{Item: it})
	}
	return c
}

// filesystem is the server of the founding documents' config.json (@modelcontextprotocol/server-filesystem).
func filesystem() Catalog {
	return catalog("filesystem__read_file", "filesystem__read_text_file", "filesystem__write_file", "filesystem__edit_file",
		"filesystem__list_directory")
}

// TestSeeds reads every skill of the founding documents as it is printed there, and says what becomes of it.
func TestSeeds(t *testing.T) {
	type P = policy.Problem
	pending := Catalog{Pending: map[string]string{"filesystem": "it was never started"}}
	noDescription := P{Message: "the skill has no description", Hint: "say in a sentence what it is for: people and models choose by it",
		Warning: true}
	waits := func(line int, tool string) P {
		return P{Line: line, Message: `"` + tool + `" waits for the server filesystem: it was never started`,
			Hint: "the skill takes effect once the server has answered", Warning: true}
	}
	comment := []P{{Line: 2, Message: "the front matter does not begin at the first line, so it counts as text",
		Hint: "remove what is above the first ---"}}
	for _, tt := range []struct {
		dir      string
		c        Catalog
		state    State // empty: not loaded
		problems []P   // of Load and Validate
		grant    policy.Grant
	}{
		{dir: "router/session-management", c: filesystem(), state: Invalid, problems: []P{noDescription,
			{Line: 7, Message: `allowedTools: there is no server "mycelium-session" (in "mycelium-session__*")`,
				Hint: `this version does not have that built-in server; write "?mycelium-session__*" to use it where it exists`}}},
		{dir: "router/memory-basic", state: Valid, grant: policy.Grant{Name: "memory-basic", AllowedRoles: []string{"developer", "tester"},
			AllowedTools: []string{}, Grants: policy.Grants{Memory: "isolated"}}},
		{dir: "router/memory-admin", state: Valid, grant: policy.Grant{Name: "memory-admin", AllowedRoles: []string{"admin"},
			AllowedTools: []string{}, Grants: policy.Grants{Memory: "all"}}},
		{dir: "router/memory-team", state: Valid, grant: policy.Grant{Name: "memory-team", AllowedRoles: []string{"lead"},
			AllowedTools: []string{}, Grants: policy.Grants{Memory: "team", MemoryTeamRoles: []string{"frontend", "backend", "qa"}}}},
		// With the path of the file above the front matter, as the document prints it.
		{dir: "router-as-printed/memory-basic", problems: comment},
		{dir: "router-as-printed/memory-admin", problems: comment},
		{dir: "router-as-printed/memory-team", problems: comment},
		{dir: "cli/reader", c: filesystem(), state: Valid, grant: policy.Grant{Name: "reader",
			AllowedTools: []string{"filesystem__read_file", "filesystem__list_directory"}}},
		{dir: "cli/reader", c: pending, state: Pending, problems: []P{waits(5, "filesystem__read_file"), waits(6, "filesystem__list_directory")}},
		{dir: "cli/reader", c: catalog("files__read_file", "files__list_directory"), state: Invalid, problems: []P{
			{Line: 5, Message: `allowedTools: no server "filesystem" is configured (in "filesystem__read_file")`,
				Hint: `add it to mcpServers, or write "?filesystem__read_file" if it may be missing`},
			{Line: 6, Message: `allowedTools: no server "filesystem" is configured (in "filesystem__list_directory")`,
				Hint: `add it to mcpServers, or write "?filesystem__list_directory" if it may be missing`}}},
		{dir: "cli/editor", c: filesystem(), state: Valid, grant: policy.Grant{Name: "editor",
			AllowedTools: []string{"filesystem__read_file", "filesystem__write_file", "filesystem__list_directory"}}},
		{dir: "cli/skill-id", c: filesystem(), state: Invalid, problems: []P{
			{Line: 8, Message: `allowedTools: no server "server" is configured (in "server__tool_name")`,
				Hint: `add it to mcpServers, or write "?server__tool_name" if it may be missing`},
			{Line: 9, Message: `allowedTools: no server "server" is configured (in "server__another_tool")`,
				Hint: `add it to mcpServers, or write "?server__another_tool" if it may be missing`}}},
		{dir: "cli/skill-id", c: catalog("server__tool_name", "server__another_tool"), state: Valid,
			grant: policy.Grant{Name: "skill-id", AllowedRoles: []string{"developer", "admin"},
				AllowedTools: []string{"server__tool_name", "server__another_tool"}}},
		{dir: "practice/reader", c: filesystem(), state: Valid, problems: []P{noDescription},
			grant: policy.Grant{Name: "reader", AllowedTools: []string{"filesystem__read_file", "filesystem__list_directory"}}},
		{dir: "practice/file-all", c: filesystem(), state: Valid, grant: policy.Grant{Name: "file-all", AllowedTools: []string{"filesystem__*"}},
			problems: []P{noDescription,
				{Line: 4, Message: `allowedTools: "filesystem__*" grants every tool of the server filesystem, also those that it gets later`,
					Hint:    "name the tools that the skill needs: filesystem__edit_file, filesystem__list_directory, filesystem__read_file, …",
					Warning: true}}},
	} {
		t.Run(tt.dir+" "+string(tt.state), func(t *testing.T) {
			parent, folder := path.Split(tt.dir)
			skills, got := LoadOne(os.DirFS("testdata/seeds/"+parent), folder, "skills", "project")
			lib := Validate(skills, tt.c)
			var state State
			for _, s := range lib.All() {
				state = s.State
				got = append(got, s.Problems...)
			}
			if state != tt.state {
				t.Errorf("state %q, want %q", state, tt.state)
			}
			file := "skills/" + folder + "/SKILL.md"
			if _, err := fs.Stat(os.DirFS("testdata/seeds/"+tt.dir), "SKILL.yaml"); err == nil {
				file = "skills/" + folder + "/SKILL.yaml"
			}
			for i := range tt.problems {
				tt.problems[i].File = file
			}
			if diff := cmp.Diff(tt.problems, got); diff != "" {
				t.Errorf("problems (-want +got)\n%s", diff)
			}
			if tt.state == Valid {
				if diff := cmp.Diff([]policy.Grant{tt.grant}, lib.Grants()); diff != "" {
					t.Errorf("grant (-want +got)\n%s", diff)
				}
			} else if len(lib.Grants()) > 0 {
				t.Errorf("a skill that is %s grants %v", tt.state, lib.Grants())
			}
		})
	}
}

// TestSeedsMended makes the changes that the hints of TestSeeds name.
func TestSeedsMended(t *testing.T) {
	for _, tt := range []struct{ dir, old, replacement string }{
		{"router/session-management/SKILL.yaml", "- mycelium-session__*", `- "?mycelium-session__*"`},
		{"cli/reader/SKILL.yaml", "- filesystem__", "- ?filesystem__"},
		{"cli/skill-id/SKILL.yaml", "- server__", "- ?server__"},
		{"router-as-printed/memory-team/SKILL.md", "# skills/memory-team/SKILL.md\n", ""},
	} {
		data, err := os.ReadFile("testdata/seeds/" + tt.dir)
		if err != nil {
			t.Fatal(err)
		}
		mended := strings.ReplaceAll(string(data), tt.old, tt.replacement)
		if mended == string(data) {
			t.Fatalf("%s: nothing to mend", tt.dir)
		}
		fsys := fstest.MapFS{strings.SplitN(tt.dir, "/", 2)[1]: {Data: []byte(mended)}}
		skills, problems := Load(fsys, "skills", "project")
		lib := Validate(skills, Catalog{})
		if n := lib.Count(); n[Valid] != 1 {
			t.Errorf("%s: %v %v %+v", tt.dir, n, problems, lib.All())
		}
	}
}
