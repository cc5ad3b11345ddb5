package main

import (
	"strings"
	"testing"
)

// TestAgentShellClosed: what the rules close to the role of the real Claude Code is closed in its sandbox, whatever the command says that it
// does: files, the commits that have them, and what it makes.
func TestAgentShellClosed(t *testing.T) {
	door := agentDoors[0]
	_, err := door.find("../..", "claude")
	needed(t, err, "Claude Code, "+door.name)
	if !withoutNetwork(t) {
		return
	}
	files := shellWorld()
	files["rules.yaml"] = strings.Replace(files["rules.yaml"], "rules:\n", "rules:\n"+
		"  - {name: plans, action: ask, tool: Read, match: {read: [{glob: \"notes/**\"}]}, when: 'args.limit != 3'}\n"+
		"  - {name: pages, action: deny, tool: Write|Edit, match: {path: [{glob: \"pages/**\"}]}, role: developer}\n"+
		"  - {name: other, action: deny, tool: Read, match: {read: [{glob: \"other/**\"}]}, role: guest}\n", 1)
	p := newProject(t, files)
	p.write("../.gitconfig", "[user]\n\tname = Ada\n\temail = ada@example.com\n")
	p.write("notes/plan.md", "a plan\n")
	p.write("pages/a.html", "a page\n")
	p.write("other/o.txt", "another\n")
	p.write(".env.production", "KEY=of-production\n")
	p.write("look.sh", "cat notes/plan.md .env.production other/o.txt; git show HEAD:notes/plan.md; git show HEAD:.env.production; git log -p\n")
	p.write("make.sh", "echo mine > pages/a.html; mkdir -p pages/sub; echo mine > pages/sub/b.html; echo mine > c.html; git status --porcelain\n")
	p.git("init", "-q")
	p.git("add", "-f", "notes", "other", ".env.production", "go.mod")
	p.git("commit", "-qm", "begin")
	told := p.shellRun(t, door, bashStep("sh look.sh"), bashStep("sh make.sh"))
	if strings.Contains(told[0], "a plan") || strings.Contains(told[0], "of-production") || !strings.Contains(told[0], "another") {
		t.Errorf("the model reads %q", told[0])
	}
	if strings.Contains(told[1], "env.production") || strings.Contains(told[1], "notes/") {
		t.Errorf("git takes what is covered for changed: %q", told[1])
	}
	if p.read("pages/a.html") != "a page\n" || exists(p, "pages/sub/b.html") || p.read("c.html") != "mine\n" {
		t.Errorf("it wrote %q", p.read("pages/a.html"))
	}
}
