package main

import (
	"testing"

	"mycelium/internal/model/fake"
)

// TestStatusLine: the real Claude Code of both versions, at a terminal, shows below its prompt what `myc claude` has its status line say:
// the session, a file that waits, and its own call while a person has not answered. The status line of the project, a command that comes
// with a pull, is not run.
func TestStatusLine(t *testing.T) {
	needTerminals(t)
	if !withoutNetwork(t) {
		return
	}
	for _, door := range doors(agentDoors) {
		if !door.http {
			t.Run(door.name, func(t *testing.T) {
				t.Parallel()
				showsStatusLine(t, door)
			})
		}
	}
}

func showsStatusLine(t *testing.T, door agentDoor) {
	p := newProject(t, world(map[string]string{
		"mycelium.yaml":           "session: {defaultRole: guest, roles: [guest, developer]}\napproval: {mode: remote, deadline: 200s}\n",
		"skills/hands/SKILL.yaml": "name: hands\ndescription: Own tools.\nallowedRoles: [developer]\nallowedTools: [agent__Bash]\n",
		"rules.yaml":              "version: 1\nrules: []\n",
	}))
	p.write(".claude/settings.json", `{"statusLine": {"type": "command", "command": "touch pulled; echo pulled"}}`)
	s := fake.New(bashStep("make things"), fake.Step{Text: "as you wish"})
	defer s.Close()
	p.write("rules.yaml", "version: 1\nrules: [{name: all, action: allow, tool: '*'}]\n")
	a := p.atTerminal(door, p.dir, s)
	a.start()
	a.shows("mycelium: waiting for myc trust: rules.yaml (changed) · developer [")
	a.types("go")
	a.shows("mycelium: 1 call waits for an answer · waiting for myc trust: rules.yaml (")
	p.must("approvals", "deny", waitingFor(t, p, "make things"))
	a.shows("as you wish")
	if exists(p, "pulled") {
		t.Error("the status line of the project ran")
	}
}
