package meaning

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"mycelium/internal/config"
	"mycelium/internal/skill"
)

// base is the project that the examples change.
const base = `
-- mycelium.yaml --
session:
  defaultRole: guest
  roles: [guest, developer]
mcpServers:
  fs: {command: fs-server, args: ["."]}
limits:
  guest: {perMinute: 10}
approval:
  judge: {mayDeny: false}
-- rules.yaml --
rules:
  - {name: no-secrets, action: deny, tool: Read, match: {path: {glob: "**/.env*"}}}
  - {name: ask-push, action: ask, tool: Bash, match: {program: git}}
  - {name: src, action: allow, tool: Write, role: developer, match: {path: {glob: "src/**"}}}
-- roles/guest.yaml --
id: guest
deny: [agent__Write]
-- roles/developer.yaml --
id: developer
-- skills/editor/SKILL.yaml --
name: editor
description: Edits
allowedRoles: [guest, developer]
allowedTools: [agent__Read, agent__Write, agent__Bash]
-- skills/deploy/SKILL.yaml --
name: deploy
description: Deploys
allowedRoles: [developer]
allowedTools: [agent__Bash]
-- skills/deploy/run.sh --
echo deploy
`

// noSecrets is the first rule of base.
const noSecrets = `  - {name: no-secrets, action: deny, tool: Read, match: {path: {glob: "**/.env*"}}}
`

// edit changes a text in the files of base; an empty new text removes the file of that name.
type edit struct{ file, old, new string }

func write(t *testing.T, dir string, edits ...edit) *config.Project {
	t.Helper()
	folder := t.TempDir()
	for _, f := range txtar.Parse([]byte(base)).Files {
		text := string(f.Data)
		for _, e := range edits {
			if e.file == f.Name {
				if !strings.Contains(text, e.old) {
					t.Fatalf("%s has no %q", e.file, e.old)
				}
				text = strings.Replace(text, e.old, e.new, 1)
			}
		}
		path := filepath.Join(folder, f.Name)
		if text == "" {
			continue
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	p := loadFolder(t, dir, folder)
	if p.Broken.All != "" {
		t.Fatal(p.Problems)
	}
	return p
}

func TestCompare(t *testing.T) {
	dir := t.TempDir()
	old := write(t, dir)
	for name, c := range map[string]struct {
		edits []edit
		want  []string
	}{
		"nothing":   {nil, nil},
		"a comment": {[]edit{{"rules.yaml", "rules:", "# Our rules.\nrules:"}, {"roles/guest.yaml", "id: guest", "id:   'guest' # a role"}}, nil},
		"another order": {[]edit{{"rules.yaml", "rules:\n", "rules:\n  - {name: zed, action: ask, tool: agent__Bash, match: {program: git}}\n"},
			{"rules.yaml", "  - {name: ask-push, action: ask, tool: Bash, match: {program: git}}\n", ""}},
			[]string{"narrows rule ask-push is called zed now (rules.yaml:2)"}},
		"a rule is gone": {[]edit{{"rules.yaml", noSecrets, ""}},
			[]string{"widens rule no-secrets is gone: it denies Read where path is **/.env* (rules.yaml, was 2)"}},
		"a rule denies more": {[]edit{{"rules.yaml", "tool: Read, match", "tool: [Read, Grep], match"}},
			[]string{"narrows rule no-secrets changed: it denies Read, Grep where path is **/.env*; until now it denies Read where path is " +
				"**/.env* (rules.yaml:2, was 2)"}},
		"outside of the project": {[]edit{{"rules.yaml", `glob: "src/**"`, `glob: "/**"`}},
			[]string{"widens rule src changed: it allows Write for role developer where path is /**; until now it allows Write for role " +
				"developer where path is src/**: developer may now write outside the project (rules.yaml:4, was 4)"}},
		"a role loses a skill": {[]edit{{"skills/editor/SKILL.yaml", "[guest, developer]", "[developer]"}},
			[]string{"narrows role guest loses skill editor (roles/guest.yaml:1, was 1)"}},
		"a script": {[]edit{{"skills/deploy/run.sh", "echo", "curl"}},
			[]string{"unclear skill deploy: its file run.sh changed (skills/deploy/run.sh)"}},
		"another command": {[]edit{{"mycelium.yaml", "command: fs-server", "command: ./x"}},
			[]string{"unclear server fs is started with another command: it runs ./x .; until now it runs fs-server . (mycelium.yaml:5, was 5)"}},
		"the judge": {[]edit{{"mycelium.yaml", "mayDeny: false", "mayDeny: true"}},
			[]string{"narrows the judge may now deny (mycelium.yaml:9, was 9)"}},
		"a limit": {[]edit{{"mycelium.yaml", "perMinute: 10", "perMinute: 20"}},
			[]string{"widens role guest may make 20 calls a minute; until now 10 calls a minute (mycelium.yaml:7, was 7)"}},
		"a role hides less": {[]edit{{"roles/guest.yaml", "deny: [agent__Write]", ""}},
			[]string{"widens role guest no longer hides Write (roles/guest.yaml:1, was 1)"}},
		"tools of a skill": {[]edit{{"skills/editor/SKILL.yaml", "agent__Write, agent__Bash", "agent__WebFetch"}},
			[]string{"widens skill editor grants the tools WebFetch (skills/editor/SKILL.yaml)",
				"narrows skill editor no longer grants the tools Write, Bash (skills/editor/SKILL.yaml)"}},
		"roles by cards": {[]edit{{"skills/deploy/SKILL.yaml", "allowedRoles: [developer]", "allowedRoles: [developer]\nidentity:\n" +
			"  trustedPrefixes: [acme-]\n  skillMatching:\n  - {role: developer, requiredSkills: [a, b], forbiddenSkills: [x], priority: 5,\n" +
			"     context: {allowedTime: '22:00-06:00', allowedDays: [5], timezone: Asia/Tokyo}}\n  - {role: guest, anySkills: [c, d]}"}},
			[]string{"widens skill deploy gives the role developer to agents whose card has a and b, and not x, 22:00-06:00, on Friday " +
				"(Asia/Tokyo), with priority 5 (skills/deploy/SKILL.yaml)",
				"widens skill deploy gives the role guest to agents whose card has 1 of c, d (skills/deploy/SKILL.yaml)",
				"unclear skill deploy gives roles to agents whose names begin with acme-; until now to every agent (skills/deploy/SKILL.yaml)"}},
		"roles to take": {[]edit{{"mycelium.yaml", "[guest, developer]", "[guest]"}},
			[]string{"narrows an agent may no longer take the role developer (mycelium.yaml:3, was 3)"}},
		"what hides itself": {[]edit{{"rules.yaml", "name: src,", `name: "src\u001b[2K\u202e",`}},
			[]string{`narrows rule src is called src\x1b[2K\u202e now (rules.yaml:4)`}},
	} {
		t.Run(name, func(t *testing.T) {
			fresh := write(t, dir, c.edits...)
			got := shown(Compare(old, fresh, skill.Catalog{}, SkillFiles(old, fresh)))
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestRolesByCards: a rule for agents' cards that is gone, or comes in another order, is told and is unclear.
func TestRolesByCards(t *testing.T) {
	dir := t.TempDir()
	rules := func(text string) *config.Project {
		return write(t, dir, edit{"skills/deploy/SKILL.yaml", "allowedRoles: [developer]",
			"allowedRoles: [developer]\nidentity: {skillMatching: [" + text + "]}"})
	}
	const one, two = "{role: developer, requiredSkills: [a]}", "{role: guest, requiredSkills: [b]}"
	both := rules(one + ", " + two)
	for text, want := range map[string]string{
		one: "unclear skill deploy no longer gives the role guest to agents whose card has b (skills/deploy/SKILL.yaml)",
		two + ", " + one: "unclear skill deploy has its rules for agents' cards in another order: of equal priorities the first counts " +
			"(skills/deploy/SKILL.yaml)",
	} {
		if diff := cmp.Diff([]string{want}, shown(Compare(both, rules(text), skill.Catalog{}, nil))); diff != "" {
			t.Error(diff)
		}
	}
	if got := shown(Compare(both, write(t, dir), skill.Catalog{}, nil)); len(got) != 2 {
		t.Errorf("both are gone: %q", got)
	}
}

// A first acceptance never only narrows, whatever the files say.
func TestFirstAcceptance(t *testing.T) {
	got := Compare(nil, write(t, t.TempDir()), skill.Catalog{}, nil)
	if len(got) < 8 || got[0].Text != "the files of this project take effect for the first time" || OnlyNarrows(got) {
		t.Error(strings.Join(shown(got), "\n"))
	}
}

func shown(changes []Change) []string {
	var out []string
	for _, c := range changes {
		s := fmt.Sprintf("%s %s (%s", c.Mark, c.Text, c.File)
		if c.Line > 0 {
			s += fmt.Sprintf(":%d", c.Line)
		}
		if c.Was > 0 {
			s += fmt.Sprintf(", was %d", c.Was)
		}
		out = append(out, s+")")
	}
	return out
}
