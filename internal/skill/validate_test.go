package skill

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"mycelium/internal/policy"
)

// builtin is the catalog of a project without configured servers.
func builtin() Catalog {
	return catalog("files__read_file", "files__write_file", "files__edit_file", "files__list_directory", "files__search_files",
		"files__stat_file", "files__move_file", "files__delete_file",
		"mycelium-router__set_role", "mycelium-skills__list_skills")
}

// program is the catalog of a project without servers of its own, as far as shipped skills name it.
func program() Catalog {
	c := builtin()
	c.Definitions = append(c.Definitions, catalog("mycelium-skills__run_script", "mycelium-sandbox__bash", "mycelium-sandbox__sandbox_exec",
		"mycelium-sandbox__sandbox_exec_script", "mycelium-sandbox__sandbox_capabilities", "mycelium-sandbox__sandbox_profiles").Definitions...)
	for _, name := range folders(Shipped()) { // the tools of the swarm are those that its skill grants; TestSkillOfTheSwarm has the table
		skills, _ := loadOne(Shipped(), name, "s", "shipped", nil)
		for _, tool := range skills[0].AllowedTools {
			if strings.HasPrefix(tool, "mycelium-swarm__") {
				c.Definitions = append(c.Definitions, catalog(tool).Definitions...)
			}
		}
	}
	return c
}

func TestValidate(t *testing.T) {
	type P = policy.Problem
	c := builtin()
	c.Definitions = append(c.Definitions, catalog("docs__get", "prompt:docs__summarize", "resource:docs__file:///a").Definitions...)
	c.Pending["github"] = "starting"
	head := "name: a\ndescription: d\n"
	for _, tt := range []struct {
		name, yaml string
		state      State
		want       []P
	}{
		{"nothing granted", "", Valid, nil},
		{"requires", "requires: {programs: [pdftotext, 'chromium|google-chrome'], python: [openpyxl]}\n", Valid, nil},
		{"requires a path", "requires: {programs: [python3, ../evil]}\n", Invalid,
			[]P{{Line: 3, Message: `requires.programs: "../evil" is not the name of a program`,
				Hint: "write its name as on a command line, without a path: pdftotext"}}},
		{"requires a part of a module", "requires:\n  python: ['docx|docx.shared']\n", Invalid,
			[]P{{Line: 3, Message: `requires.python: "docx.shared" is not the name of a module`,
				Hint: "write the first part of what import takes: openpyxl"}}},
		{"known tools", "allowedTools: [files__read_file, docs__get, agent__Bash, 'agent__Bash(git *)', mycelium-router__set_role]\n", Valid,
			nil},
		{"unknown tool", "allowedTools:\n  - files__read_file\n  - files__raed_file\n", Invalid,
			[]P{{Line: 5, Message: `allowedTools: the server files has no tool "raed_file"`, Hint: `did you mean "files__read_file"?`}}},
		{"tool of another server", "allowedTools: [docs__read_file]\n", Invalid,
			[]P{{Line: 3, Message: `allowedTools: the server docs has no tool "read_file"`, Hint: `did you mean "files__read_file"?`}}},
		{"nothing near", "allowedTools: [files__zzz]\n", Invalid,
			[]P{{Line: 3, Message: `allowedTools: the server files has no tool "zzz"`,
				Hint: `see what it offers: myc tools --all; or write "?files__zzz" if it may be missing`}}},
		{"optional", "allowedTools: ['?files__zzz', '?nowhere__x', '?nowhere__*', '?github__x', '?files__read_file']\n", Valid, nil},
		{"server not configured", "allowedTools: [flies__read_file]\n", Invalid,
			[]P{{Line: 3, Message: `allowedTools: no server "flies" is configured (in "flies__read_file")`,
				Hint: `did you mean the server "files"? Else add it to mcpServers, or write "?flies__read_file" if it may be missing`}}},
		{"built-in server of later", "allowedTools: [mycelium-memory__save]\n", Invalid,
			[]P{{Line: 3, Message: `allowedTools: there is no server "mycelium-memory" (in "mycelium-memory__save")`,
				Hint: `this version does not have that built-in server; write "?mycelium-memory__save" to use it where it exists`}}},
		{"unknown control tool", "allowedTools: [mycelium-router__set_rolle]\n", Invalid,
			[]P{{Line: 3, Message: `allowedTools: the server mycelium-router has no tool "set_rolle"`,
				Hint: `did you mean "mycelium-router__set_role"?`}}},
		{"no server part", "allowedTools: [read_file]\n", Invalid,
			[]P{{Line: 3, Message: `allowedTools: "read_file" is not a tool name`, Hint: `did you mean "files__read_file"?`}}},
		{"bare own tool misspelt", "allowedTools: [Raed]\n", Invalid,
			[]P{{Line: 3, Message: `allowedTools: "Raed" is not a tool name`, Hint: `did you mean "agent__Read"?`}}},
		{"empty entry", "allowedTools: ['']\n", Invalid,
			[]P{{Line: 3, Message: "an entry of allowedTools is empty", Hint: "write server__tool"}}},
		{"malformed", "allowedTools: ['files__read file', 'Files__x']\n", Invalid, []P{
			{Line: 3, Message: `allowedTools: "files__read file" is not a tool name`, Hint: `did you mean "files__read_file"?`},
			{Line: 3, Message: `allowedTools: "Files__x" is not a tool name`,
				Hint: `write server__tool, "agent__Read" for an agent's own tool, or "server__*" for all tools of a server`}}},
		{"pending", "allowedTools: [github__get_issue, files__read_file]\n", Pending,
			[]P{{Line: 3, Message: `"github__get_issue" waits for the server github: starting`,
				Hint: "the skill takes effect once the server has answered", Warning: true}}},
		{"pending and wrong is wrong", "allowedTools: [github__get_issue, files__zzz]\n", Invalid, []P{
			{Line: 3, Message: `"github__get_issue" waits for the server github: starting`,
				Hint: "the skill takes effect once the server has answered", Warning: true},
			{Line: 3, Message: `allowedTools: the server files has no tool "zzz"`,
				Hint: `see what it offers: myc tools --all; or write "?files__zzz" if it may be missing`}}},
		{"wide", "allowedTools: ['docs__*']\n", Valid,
			[]P{{Line: 3, Message: `allowedTools: "docs__*" grants every tool of the server docs, also those that it gets later`,
				Hint: "name the tools that the skill needs: docs__get", Warning: true}}},
		{"widest", "allowedTools: ['*']\n", Valid,
			[]P{{Line: 3, Message: `allowedTools: "*" reaches across servers, also those that are added later`,
				Hint: "name the tools that the skill needs", Warning: true}}},
		{"across servers", "allowedTools: ['*__read_file']\n", Valid,
			[]P{{Line: 3, Message: `allowedTools: "*__read_file" reaches across servers, also those that are added later`,
				Hint: "name the tools that the skill needs", Warning: true}}},
		{"narrow wildcard", "allowedTools: ['files__read_*']\n", Valid, nil},
		{"wildcard without a match", "allowedTools: ['files__raed_*']\n", Invalid,
			[]P{{Line: 3, Message: `allowedTools: no tool of the server files matches "files__raed_*"`,
				Hint: "see what it offers: myc tools --all"}}},
		{"wildcard of an unknown server", "allowedTools: ['gone__*']\n", Invalid,
			[]P{{Line: 3, Message: `allowedTools: no server "gone" is configured (in "gone__*")`,
				Hint: `add it to mcpServers, or write "?gone__*" if it may be missing`}}},
		{"wildcard of a pending server", "allowedTools: ['github__*']\n", Pending,
			[]P{{Line: 3, Message: `"github__*" waits for the server github: starting`, Hint: "the skill takes effect once the server has answered",
				Warning: true}}},
		{"unknown own tool", "allowedTools: [agent__Grepp]\n", Valid,
			[]P{{Line: 3, Message: `no agent that we know has a tool "Grepp"`, Hint: `did you mean "agent__Grep"?`, Warning: true}}},
		{"own tools by wildcard", "allowedTools: ['agent__*']\n", Valid,
			[]P{{Line: 3, Message: `"agent__*" grants tools of an agent by a wildcard, its shell perhaps among them`,
				Hint: "name the tools that the skill needs: agent__Read, agent__Grep …", Warning: true}}},
		{"limit of a wildcard", "allowedTools: ['agent__*(git *)']\n", Invalid,
			[]P{{Line: 3, Message: `allowedTools: "agent__*(git *)" limits a wildcard; a limit needs the name of one tool`,
				Hint: "write the tool out"}}},
		{"limit not closed", "allowedTools: ['Bash(git *']\n", Invalid,
			[]P{{Line: 3, Message: `allowedTools: the limit of "agent__Bash(git *" is empty or not closed`, Hint: "write agent__Bash(git *)"}}},
		{"empty limit", "allowedTools: ['Bash()']\n", Invalid,
			[]P{{Line: 3, Message: `allowedTools: the limit of "agent__Bash()" is empty or not closed`, Hint: "write agent__Bash(git *)"}}},
		{"prompts", "allowedPrompts: [docs__summarize, '?docs__gone']\n", Valid, nil},
		{"unknown prompt", "allowedPrompts:\n  - docs__summarise\n", Invalid,
			[]P{{Line: 4, Message: `allowedPrompts: the server docs has no prompt "summarise"`, Hint: `did you mean "docs__summarize"?`}}},
		{"a tool is no prompt", "allowedPrompts: [docs__get]\n", Invalid,
			[]P{{Line: 3, Message: `allowedPrompts: the server docs has no prompt "get"`,
				Hint: `see what it offers: myc tools --all; or write "?docs__get" if it may be missing`}}},
		{"malformed prompt", "allowedPrompts: [summarize]\n", Invalid,
			[]P{{Line: 3, Message: `allowedPrompts: "summarize" is not a prompt name`, Hint: "write server__prompt"}}},
		{"resources", "allowedResources: ['docs__file:///**', '?gone__x']\n", Valid, nil},
		{"resources of an unknown server", "allowedResources:\n  - gone__file:///x\n", Invalid,
			[]P{{Line: 4, Message: `allowedResources: no server "gone" is configured (in "gone__file:///x")`,
				Hint: `add it to mcpServers, or write "?gone__file:///x" if it may be missing`}}},
		{"malformed resource", "allowedResources: ['file:///x', 'docs__']\n", Invalid, []P{
			{Line: 3, Message: `allowedResources: "file:///x" is not a server and a URI`, Hint: "write server__uri: docs__file:///**"},
			{Line: 3, Message: `allowedResources: "docs__" is not a server and a URI`, Hint: "write server__uri: docs__file:///**"}}},
		{"resources of a pending server", "allowedResources: ['github__repo://x']\n", Pending,
			[]P{{Line: 3, Message: `"github__repo://x" waits for the server github: starting`,
				Hint: "the skill takes effect once the server has answered", Warning: true}}},
		{"roles", "allowedRoles: ['*', dev-1]\n", Valid, nil},
		{"no roles", "allowedRoles: []\n", Valid,
			[]P{{Line: 3, Message: "allowedRoles is empty, so no role can have the skill",
				Hint: `name roles, write ["*"], or leave the key out to be open to the roles that list the skill`, Warning: true}}},
		{"bad role", "allowedRoles: ['a b', 'dev*']\n", Invalid, []P{
			{Line: 3, Message: `allowedRoles: "a b" is not a role`, Hint: `write the id of a role, or "*" for every role`},
			{Line: 3, Message: `allowedRoles: "dev*" is not a role`, Hint: `write the id of a role, or "*" for every role`}}},
		{"memory", "grants:\n  memory: isolatd\n", Invalid,
			[]P{{Line: 4, Message: `grants.memory: "isolatd" is not a memory policy`, Hint: `did you mean "isolated"?`}}},
		{"team without team", "grants: {memory: all, memoryTeamRoles: [x]}\n", Valid,
			[]P{{Line: 3, Message: "grants.memoryTeamRoles has no effect without memory: team", Hint: "write memory: team, or remove the key",
				Warning: true}}},
		{"empty trigger", "triggers: [read, ' ']\n", Valid,
			[]P{{Line: 3, Message: "an empty trigger never matches", Hint: "remove it", Warning: true}}},
		{"long description", "displayName: x\n", Invalid,
			[]P{{Line: 2, Message: "the description has 1025 characters, more than 1024",
				Hint: "shorten it; details belong into the instructions"}}},
		{"commands", "allowedTools: [files__read_file]\ncommands:\n  - {name: ok, handlerType: tool, toolName: files__read_file}\n" +
			"  - {name: role, handlerType: tool, toolName: mycelium-router__set_role}\n", Valid, nil},
		{"bad commands", "allowedTools: [files__read_file]\ncommands:\n  - {name: 'A b', handlerType: tool, toolName: files__read_file}\n" +
			"  - {name: w, handlerType: tool, toolName: files__write_file}\n  - {name: w, handlerType: magic}\n" +
			"  - {name: x, handlerType: tool, toolName: nope}\n  - {name: y, handlerType: script, scriptPath: ../x.sh}\n" +
			"  - {name: z, handlerType: script, scriptPath: /bin/sh}\n" +
			"  - {name: s, handlerType: script, scriptPath: gone.sh, arguments: [{name: n}, {name: n}]}\n", Invalid, []P{
			{Line: 5, Message: `commands: "A b" is not a valid name of a command`, Hint: "use lower-case letters, digits, hyphens and underscores"},
			{Line: 6, Message: `commands: "w" uses "files__write_file", which the skill does not grant`,
				Hint: `add "files__write_file" to allowedTools`},
			{Line: 7, Message: `commands: "w" is there twice`, Hint: "give each command a name of its own"},
			{Line: 7, Message: `commands: the handlerType "magic" of "w" is neither tool nor script`,
				Hint: "write handlerType: tool or handlerType: script"},
			{Line: 8, Message: `commands: the toolName "nope" of "x" is not a tool name`, Hint: "write toolName: server__tool"},
			{Line: 9, Message: `commands: the scriptPath "../x.sh" of "y" does not name a file of the skill`,
				Hint: "write a path inside the skill's folder, without .."},
			{Line: 10, Message: `commands: the scriptPath "/bin/sh" of "z" does not name a file of the skill`,
				Hint: "write a path inside the skill's folder, without .."},
			{Line: 11, Message: `commands: the script "gone.sh" of "s" does not exist`, Hint: "write the script, or correct the path",
				Warning: true},
			{Line: 11, Message: `commands: "s" has an argument without a name of its own ("n")`, Hint: "give each argument a name of its own"}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			text := head + tt.yaml
			if tt.name == "long description" {
				text = strings.Replace(text, "description: d", "description: "+strings.Repeat("説", maxDescription+1), 1)
			}
			skills, problems := Load(files("a/SKILL.yaml", text), "s", "project")
			if len(problems) > 0 {
				t.Fatal(problems)
			}
			lib := Validate(skills, c)
			got := lib.All()[0]
			if got.State != tt.state {
				t.Errorf("%s, want %s", got.State, tt.state)
			}
			for i := range tt.want {
				tt.want[i].File = "s/a/SKILL.yaml"
			}
			if diff := cmp.Diff(tt.want, got.Problems); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			_, ok := lib.Skill("a")
			if ok != (tt.state == Valid) || (len(lib.Grants()) == 1) != (tt.state == Valid) {
				t.Errorf("a skill that is %s: known %v, grants %v", tt.state, ok, lib.Grants())
			}
		})
	}
}

func TestGrantsLeaveOutWhatIsMissing(t *testing.T) {
	skills, _ := Load(files("a/SKILL.yaml", "name: a\ndescription: d\n"+
		"allowedTools: ['?files__read_file', '?files__gone', '?gone__*', '?Read', files__edit_file]\nallowedPrompts: ['?x__y']\n"+
		"allowedResources: ['?x__y']\n"), "s", "project")
	want := []policy.Grant{{Name: "a", AllowedTools: []string{"files__read_file", "agent__Read", "files__edit_file"},
		AllowedPrompts: []string{}, AllowedResources: []string{}}}
	if diff := cmp.Diff(want, Validate(skills, builtin()).Grants()); diff != "" {
		t.Error(diff)
	}
}

// TestNamesakes: the user's skill bounds the project's of the same name, so a broken one must not leave the other unbounded.
func TestNamesakes(t *testing.T) {
	user, _ := Load(files("a/SKILL.yaml", "name: a\ndescription: d\nallowedTools: [files__raed_file]\n"), "user", "user")
	project, _ := Load(files("a/SKILL.yaml", "name: a\ndescription: d\nallowedTools: [files__read_file, files__delete_file]\n", "b/SKILL.yaml",
		"name: b\ndescription: d\n"), "skills", "project")
	lib := Validate(append(user, project...), builtin())
	if diff := cmp.Diff(map[State]int{Valid: 1, Invalid: 2, Pending: 0}, lib.Count()); diff != "" {
		t.Error(diff)
	}
	if _, ok := lib.Skill("a"); ok || len(lib.Grants()) != 1 {
		t.Errorf("the project's skill takes effect without the user's: %v", lib.Grants())
	}
	want := []policy.Problem{{File: "skills/a/SKILL.yaml", Line: 1,
		Message: `the skill "a" of user/a/SKILL.yaml is invalid, and this one of the same name is bounded by it`,
		Hint:    "mend that one, or give this one another name"}}
	if diff := cmp.Diff(want, lib.All()[1].Problems); diff != "" {
		t.Error(diff)
	}
	user, _ = Load(files("a/SKILL.yaml", "name: a\ndescription: d\nallowedTools: [files__read_file]\n"), "user", "user")
	lib = Validate(append(user, project...), builtin())
	if s, ok := lib.Skill("a"); !ok || s.Source != "project" || len(lib.Grants()) != 3 {
		t.Errorf("%+v, %d grants", s, len(lib.Grants()))
	}
}

// TestInvalidLeavesNoTrace: what an agent can learn of a policy does not name a skill that is invalid, nor its tools.
func TestInvalidLeavesNoTrace(t *testing.T) {
	skills, _ := Load(files("good/SKILL.yaml", "name: good\ndescription: d\nallowedRoles: [dev]\nallowedTools: [files__read_file]\n",
		"broken/SKILL.yaml", "name: broken\ndescription: d\nallowedRoles: [dev, ghost]\nallowedTools: [files__write_file, files__nope]\n"+
			"triggers: [write]\n"), "s", "project")
	c := builtin()
	lib := Validate(skills, c)
	p, problems := policy.New(policy.Source{Catalog: c.Definitions, Grants: lib.Grants(), Dir: "/p"})
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	if diff := cmp.Diff([]string{"dev"}, p.Roles()); diff != "" {
		t.Error(diff)
	}
	scope := policy.Scope{Principal: policy.Principal{ID: "x", Role: "dev", Roles: []string{"dev"}}, Skills: []string{"good", "broken"}}
	if p.Visible(scope, policy.Item{Server: "files", Name: "write_file"}) ||
		!p.Visible(scope, policy.Item{Server: "files", Name: "read_file"}) {
		t.Error("visible: the broken skill's tool, or not the good one's")
	}
	if got := lib.Intent("write this", []string{"good", "broken"}).Wanted; got != nil {
		t.Error(got)
	}
}

// TestAnySkillIsSafe: whatever entries a skill has, it is valid only if the policy takes its grant without a problem.
func TestAnySkillIsSafe(t *testing.T) {
	c := builtin()
	rapid.Check(t, func(t *rapid.T) {
		entry := rapid.OneOf(rapid.StringMatching(`\??(mcp__)?[a-z]{0,3}(files|agent|x)?(__)?[A-Za-z_*]{0,9}(\([a-z *:]{0,5}\)?)?`),
			rapid.SampledFrom([]string{"files__read_file", "Bash(git *)", "Read", "*", "files__*", "agent__*", "?gone__x"}))
		s := Skill{Grant: policy.Grant{Name: "a", AllowedRoles: []string{"r"}}, File: "f"}
		for _, e := range rapid.SliceOfN(entry, 0, 4).Draw(t, "tools") {
			s.AllowedTools = append(s.AllowedTools, normalTool(e))
		}
		lib := Validate([]Skill{s}, c)
		if _, problems := policy.New(policy.Source{Catalog: c.Definitions, Grants: lib.Grants(), Dir: "/p"}); len(problems) > 0 {
			t.Errorf("%q is valid, and the policy says %+v", s.AllowedTools, problems)
		}
		for _, g := range lib.Grants() {
			for _, e := range g.AllowedTools {
				if strings.HasPrefix(e, "?") {
					t.Errorf("optional entry %q in a grant", e)
				}
			}
		}
	})
}
