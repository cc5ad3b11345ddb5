package skill

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"mycelium/internal/policy"
	"mycelium/internal/policy/identity"
)

// files makes a file system of paths and texts.
func files(pairs ...string) fstest.MapFS {
	out := fstest.MapFS{}
	for i := 0; i < len(pairs); i += 2 {
		out[pairs[i]] = &fstest.MapFile{Data: []byte(pairs[i+1])}
	}
	return out
}

// bare removes what tests cannot state.
func bare(list []Skill) []Skill {
	out := make([]Skill, len(list))
	for i, s := range list {
		s.Dir, s.origin = nil, origin{}
		out[i] = s
	}
	return out
}

func TestLoad(t *testing.T) {
	for _, tt := range []struct {
		name string
		fsys fs.FS
		want Skill
	}{
		{"SKILL.md", files("a/SKILL.md", "---\nname: a\ndescription: d\nallowedTools: [x__y]\n---\n\n# Do\n\nit\n"),
			Skill{Grant: policy.Grant{Name: "a", AllowedTools: []string{"x__y"}}, Description: "d", Instructions: "# Do\n\nit\n",
				File: "s/a/SKILL.md"}},
		{"byte order mark and CRLF", files("a/SKILL.md", "\ufeff---\r\nname: a\r\ndescription: d\r\n---\r\nit\r\nall\r\n"),
			Skill{Grant: policy.Grant{Name: "a"}, Description: "d", Instructions: "it\nall\n", File: "s/a/SKILL.md"}},
		{"SKILL.yaml and README.md", files("a/SKILL.yaml", "name: a\ndescription: d\n", "a/README.md", "read me\n"),
			Skill{Grant: policy.Grant{Name: "a"}, Description: "d", Instructions: "read me\n", File: "s/a/SKILL.yaml"}},
		{"SKILL.yml", files("a/SKILL.yml", "id: a\ndescription: d\n"),
			Skill{Grant: policy.Grant{Name: "a"}, Description: "d", File: "s/a/SKILL.yml"}},
		{"both: yaml overrides key by key, instructions are the body", files(
			"a/SKILL.md", "---\nid: a\ndescription: old\nallowedRoles: [x]\nallowedTools: [p__q, r__s]\n"+
				"grants: {memory: team, memoryTeamRoles: [z]}\nmetadata: {author: me}\ntriggers: [t]\n---\nbody\n",
			"a/SKILL.yaml", "name: a\ndescription: new\nallowedTools: [u__v]\ngrants: {memory: isolated}\n", "a/README.md", "not this"),
			Skill{Grant: policy.Grant{Name: "a", AllowedRoles: []string{"x"}, AllowedTools: []string{"u__v"},
				Grants: policy.Grants{Memory: "isolated"}}, Description: "new",
				Triggers: []string{"t"}, Metadata: Metadata{Author: "me"}, Instructions: "body\n", File: "s/a/SKILL.yaml"}},
		{"md without front matter beside yaml is all body", files("a/SKILL.md", "just text\n", "a/SKILL.yaml", "name: a\ndescription: d\n"),
			Skill{Grant: policy.Grant{Name: "a"}, Description: "d", Instructions: "just text\n", File: "s/a/SKILL.yaml"}},
		{"empty body falls back to README.md", files("a/SKILL.md", "---\nname: a\ndescription: d\n---\n \n", "a/README.md", "read me"),
			Skill{Grant: policy.Grant{Name: "a"}, Description: "d", Instructions: "read me\n", File: "s/a/SKILL.md"}},
		{"keys with hyphens", files("a/SKILL.yaml", "name: a\ndescription: d\nallowed-roles: [r]\nallowed-tools: [x__y]\n"+
			"allowed-resources: [x__file:///a]\nallowed-prompts: [x__p]\ndisplay-name: A\ngrants: {memory: team, memory-team-roles: [q]}\n"+
			"commands: [{name: c, handler-type: tool, tool-name: x__y}]\n"),
			Skill{Grant: policy.Grant{Name: "a", AllowedRoles: []string{"r"}, AllowedTools: []string{"x__y"},
				AllowedResources: []string{"x__file:///a"}, AllowedPrompts: []string{"x__p"},
				Grants: policy.Grants{Memory: "team", MemoryTeamRoles: []string{"q"}}},
				Description: "d", DisplayName: "A", Commands: []Command{{Name: "c", HandlerType: "tool", ToolName: "x__y"}}, File: "s/a/SKILL.yaml"}},
		{"Agent Skills and Claude Code",
			files("a/SKILL.md", "---\nname: a\ndescription: d\nlicense: Apache-2.0\ncompatibility: any\n"+
				"metadata: {author: me, version: 1.10, tags: 'x, y', other: 1}\n"+
				"allowed-tools: Bash(git add *) Bash(git status), Read mcp__github__get_issue mcp__plugin_my_pl_srv__do mcp__docs Bash(*) Read\n"+
				"when_to_use: now\nargument-hint: '[x]'\narguments: [a]\n"+
				"disable-model-invocation: true\nuser-invocable: false\nmodel: opus\neffort: high\ncontext: fork\nagent: x\nbackground: true\n"+
				"hooks: {PreToolUse: []}\npaths: ['*.go']\nshell: bash\n---\nbody\n"),
			Skill{Grant: policy.Grant{Name: "a", AllowedTools: []string{"agent__Bash(git add *)", "agent__Bash(git status)", "agent__Read",
				"github__get_issue", "srv__do", "docs__*", "agent__Bash"}},
				Description: "d", Metadata: Metadata{Author: "me", Version: "1.10", Tags: []string{"x", "y"}}, Instructions: "body\n",
				File: "s/a/SKILL.md"}},
		{"disallowed-tools are taken out",
			files("a/SKILL.yaml", "name: a\ndescription: d\nallowed-tools: Read Write Grep\ndisallowed-tools: [Write]\n"),
			Skill{Grant: policy.Grant{Name: "a", AllowedTools: []string{"agent__Read", "agent__Grep"}}, Description: "d", File: "s/a/SKILL.yaml"}},
		{"identity, version, commands",
			files("a/SKILL.yaml", "name: a\ndescription: d\nversion: 1.0\nidentity: {skillMatching: [{role: x, anySkills: [y], priority: 3}]}\n"+
				"commands:\n"+
				"  - name: go\n    description: goes\n    handlerType: script\n    scriptPath: run.sh\n    usage: /go N\n"+
				"    arguments: [{name: n, description: how far, required: true, default: 3}]\n"),
			Skill{Grant: policy.Grant{Name: "a"}, Description: "d", Metadata: Metadata{Version: "1.0"},
				Identity: &identity.Declared{SkillMatching: []identity.Rule{{Role: "x", AnySkills: []string{"y"}, Priority: 3}}},
				Commands: []Command{{Name: "go", Description: "goes", HandlerType: "script", ScriptPath: "run.sh", Usage: "/go N",
					Arguments: []Argument{{"n", "how far", true, int64(3)}}}}, File: "s/a/SKILL.yaml"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, problems := Load(tt.fsys, "s", "project")
			if problems != nil {
				t.Fatalf("problems: %+v", problems)
			}
			tt.want.Source = "project"
			if diff := cmp.Diff([]Skill{tt.want}, bare(got), cmp.AllowUnexported(Skill{}, origin{}, position{})); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestLoadProblems(t *testing.T) {
	type P = policy.Problem
	start := "begin the file with a line ---, then name: and description:, then a line ---"
	for _, tt := range []struct {
		name string
		fsys fs.FS
		load []string // the names that are loaded all the same
		want []P
	}{
		{"typo", files("a/SKILL.yaml", "name: a\ndescription: d\nallowedTool: [x]\n", "b/SKILL.yaml", "name: b\ndescription: d\n"), []string{"b"},
			[]P{{File: "s/a/SKILL.yaml", Line: 3, Message: `unknown key "allowedTool"`, Hint: `did you mean "allowedTools"?`}}},
		{"lines of front matter", files("a/SKILL.md", "---\nname: a\ndescription: d\ntriggers: x\n---\n"), nil,
			[]P{{File: "s/a/SKILL.md", Line: 4, Message: `triggers must be a list, not the text "x"`, Hint: `write it as a list: ["x"]`}}},
		{"doubled key", files("a/SKILL.yaml", "name: a\ndescription: d\nname: b\n"), nil,
			[]P{{File: "s/a/SKILL.yaml", Line: 3, Message: `the key "name" is given twice (first on line 1)`, Hint: "keep one of them"}}},
		{"both spellings", files("a/SKILL.yaml", "name: a\ndescription: d\nallowedTools: []\nallowed-tools: []\n"), nil,
			[]P{{File: "s/a/SKILL.yaml", Line: 4, Message: `the keys "allowedTools" (line 3) and "allowed-tools" are the same`,
				Hint: "keep one of them"}}},
		{"no name", files("a/SKILL.yaml", "description: d\n"), nil,
			[]P{{File: "s/a/SKILL.yaml", Message: "the skill has no name", Hint: "write name: a"}}},
		{"empty file", files("a/SKILL.yaml", ""), nil, []P{{File: "s/a/SKILL.yaml", Message: "the skill has no name", Hint: "write name: a"},
			{File: "s/a/SKILL.yaml", Message: "the skill has no description",
				Hint: "say in a sentence what it is for: people and models choose by it", Warning: true}}},
		{"bad name", files("a/SKILL.yaml", "name: Not OK\ndescription: d\n"), nil,
			[]P{{File: "s/a/SKILL.yaml", Line: 1, Message: `"Not OK" is not a valid name of a skill`,
				Hint: "use lower-case letters, digits and hyphens, at most 64"}}},
		{"long name", files("a/SKILL.yaml", "name: "+strings.Repeat("a", 65)+"\ndescription: d\n"), nil,
			[]P{{File: "s/a/SKILL.yaml", Line: 1, Message: `"` + strings.Repeat("a", 65) + `" is not a valid name of a skill`,
				Hint: "use lower-case letters, digits and hyphens, at most 64"}}},
		{"id and name", files("a/SKILL.yaml", "id: b\nname: a\ndescription: d\n"), nil,
			[]P{{File: "s/a/SKILL.yaml", Line: 2, Message: `id is "b" and name is "a": both name the skill`, Hint: "keep name"}}},
		{"folder", files("b/SKILL.yaml", "name: a\ndescription: d\n"), []string{"a"},
			[]P{{File: "s/b/SKILL.yaml", Line: 1, Message: `the skill is named "a" and its folder "b"`,
				Hint: "give both one name; other programs find a skill by its folder", Warning: true}}},
		{"one name twice", files("a/SKILL.yaml", "name: a\ndescription: d\n", "b/SKILL.yaml", "name: a\ndescription: d\n"), nil, []P{
			{File: "s/b/SKILL.yaml", Line: 1, Message: `the skill is named "a" and its folder "b"`,
				Hint: "give both one name; other programs find a skill by its folder", Warning: true},
			{File: "s/a/SKILL.yaml", Line: 1, Message: `the name "a" is also the name of s/b/SKILL.yaml; all of them are left out`,
				Hint: "give each skill a name of its own"},
			{File: "s/b/SKILL.yaml", Line: 1, Message: `the name "a" is also the name of s/a/SKILL.yaml; all of them are left out`,
				Hint: "give each skill a name of its own"}}},
		{"unclosed", files("a/SKILL.md", "---\nname: a\n"), nil,
			[]P{{File: "s/a/SKILL.md", Line: 1, Message: "the front matter that begins on line 1 is never closed",
				Hint: "end it with a line of its own: ---"}}},
		{"no front matter", files("a/SKILL.md", "# hello\n"), nil,
			[]P{{File: "s/a/SKILL.md", Line: 1, Message: "has no front matter, so it declares no tools", Hint: start}}},
		{"yaml and yml", files("a/SKILL.yaml", "name: a", "a/SKILL.yml", "name: a"), nil,
			[]P{{File: "s/a", Message: "has both SKILL.yaml and SKILL.yml", Hint: "keep one of them"}}},
		{"case of the file", files("a/skill.md", "---\nname: a\n---\n"), nil,
			[]P{{File: "s/a/skill.md", Message: "is not read: upper and lower case count", Hint: "rename it to SKILL.md", Warning: true}}},
		{"no skill", files("a/notes.txt", "x"), nil,
			[]P{{File: "s/a", Message: "is not a skill: it has neither SKILL.md nor SKILL.yaml",
				Hint: "write one (myc skill templates shows a start), or move the folder away", Warning: true}}},
		{"stray file", files("reader.yaml", "name: reader", "README.md", "x", ".hidden/x", "y"), nil,
			[]P{{File: "s/reader.yaml", Message: "is not read: a skill is a folder", Hint: "move it to s/reader/SKILL.yaml", Warning: true}}},
		{"too large", files("a/SKILL.yaml", strings.Repeat("#", 1<<20+1)), nil,
			[]P{{File: "s/a/SKILL.yaml", Message: "cannot be read: it is larger than 1048576 bytes"}}},
		{"not UTF-8", files("a/SKILL.md", "---\nname: a\ndescription: \"\xff\"\n---\n"), nil,
			[]P{{File: "s/a/SKILL.md", Line: 3, Message: "the file is not valid UTF-8 (byte 0xff)", Hint: "save it as UTF-8"}}},
		{"folder as file", files("a/SKILL.yaml/x", "y"), nil, []P{{File: "s/a/SKILL.yaml", Message: "cannot be read: it is not a regular file"}}},
		{"disallowed out of a wildcard", files("a/SKILL.yaml", "name: a\ndescription: d\nallowedTools: [x__*]\ndisallowed-tools: x__y\n"), nil,
			[]P{{File: "s/a/SKILL.yaml", Line: 4, Message: `disallowed-tools takes "x__y" out of the wildcard "x__*", which cannot be said here`,
				Hint: "write out the tools that are allowed"}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			skills, got := Load(tt.fsys, "s", "project")
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			var names []string
			for _, s := range skills {
				names = append(names, s.Name)
			}
			if diff := cmp.Diff(tt.load, names); diff != "" {
				t.Errorf("loaded (-want +got)\n%s", diff)
			}
		})
	}
}

func TestLoadOfNoFolder(t *testing.T) {
	skills, problems := Load(os.DirFS(filepath.Join(t.TempDir(), "none")), "s", "user")
	want := []policy.Problem{{File: "s", Message: "the folder cannot be read: no such file or directory",
		Hint: "make it a folder with one folder per skill"}}
	if diff := cmp.Diff(want, problems); diff != "" || skills != nil {
		t.Error(diff, skills)
	}
}

func TestResources(t *testing.T) {
	dir := t.TempDir()
	outside := filepath.Join(t.TempDir(), "secret")
	write := func(name, text string) {
		t.Helper()
		p := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("a/SKILL.yaml", "name: a\ndescription: d\n")
	write("a/README.md", "r")
	write("a/refs/one.txt", "one")
	write("a/.env", "s")
	write("a/.git/config", "s")
	write("a/big", strings.Repeat("x", MaxResource+1))
	if err := os.WriteFile(outside, []byte("s"), 0o600); err != nil {
		t.Fatal(err)
	}
	for link, to := range map[string]string{"a/link": outside, "a/dirlink": filepath.Dir(outside)} {
		if err := os.Symlink(to, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	skills, problems := Load(os.DirFS(dir), "s", "project")
	if len(skills) != 1 {
		t.Fatal(problems)
	}
	got, err := skills[0].Resources()
	if diff := cmp.Diff([]string{"README.md", "big", "refs/one.txt"}, got); diff != "" || err != nil {
		t.Error(diff, err)
	}
	if data, err := skills[0].Resource("refs/one.txt"); err != nil || string(data) != "one" {
		t.Errorf("%q, %v", data, err)
	}
	for name, why := range map[string]string{
		"": "not a file of", ".": "not a file of", "..": "not a file of", "../b": "not a file of", "/etc/passwd": "not a file of",
		"refs/../SKILL.yaml": "not a file of", "SKILL.yaml": "not a file of", "skill.MD": "not a file of",
		"refs\\one.txt": "not a file of", "refs": "not a regular file", ".env": "hidden", ".git/config": "hidden", "link": "a link",
		"dirlink/secret": "a link", "none": "no such file", "big": "larger than", "a\x00b": "not a file of",
	} {
		if data, err := skills[0].Resource(name); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("Resource(%q) = %q, %v; want %q", name, data, err, why)
		}
	}
	if list, err := (&Skill{}).Resources(); list != nil || err != nil {
		t.Error(list, err)
	}
	if _, err := (&Skill{}).Resource("x"); err == nil {
		t.Error("a skill without a folder has a file")
	}
}

// FuzzFrontMatter: whatever stands in a SKILL.md, reading it ends, and what is loaded has a name that is one.
func FuzzFrontMatter(f *testing.F) {
	for _, s := range []string{"---\nname: a\n---\nbody", "---\n---\n", "---", "\ufeff---\r\nname: a\r\n...\r\nx", "# a\n---\nname: b\n---\n",
		"---\nallowed-tools: Bash(git *) Read\n---\n", "---\nname: a\nmetadata: {tags: [a, 1], version: 1.0}\n---\n"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := parsePage(data)
		if err == nil && p.front != nil && strings.Count(string(p.front), "\n") > strings.Count(string(data), "\n")+1 {
			t.Errorf("%q: front matter %q", data, p.front)
		}
		skills, problems := Load(fstest.MapFS{"a/SKILL.md": {Data: data}}, "s", "project")
		for _, s := range skills {
			if !namePattern.MatchString(s.Name) {
				t.Errorf("%q: loaded as %q", data, s.Name)
			}
		}
		if len(skills) == 0 && len(problems) == 0 {
			t.Errorf("%q: neither a skill nor a problem", data)
		}
		for _, c := range Validate(skills, catalog("files__read")).All() {
			if len(c.AllowedTools) != len(c.origin.tools) {
				t.Errorf("%q: %d tools, %d lines", data, len(c.AllowedTools), len(c.origin.tools))
			}
			if fmt.Sprint(c.State) == "" {
				t.Errorf("%q: no state", data)
			}
		}
	})
}
