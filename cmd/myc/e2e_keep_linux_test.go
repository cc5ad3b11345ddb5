package main

import (
	"regexp"
	"strings"
	"testing"

	"mycelium/internal/model/fake"
)

// TestKeptFromTheDialog: the real Claude Code of both versions asks in its own dialog; after the yes its model and its status line name the
// command that keeps it; a person runs that, and the same command is not asked about again.
func TestKeptFromTheDialog(t *testing.T) {
	needTerminals(t)
	if !withoutNetwork(t) {
		return
	}
	for _, door := range doors(agentDoors) {
		if !door.http {
			t.Run(door.name, func(t *testing.T) {
				t.Parallel()
				keepsFromTheDialog(t, door)
			})
		}
	}
}

func keepsFromTheDialog(t *testing.T, door agentDoor) {
	p := newProject(t, world(map[string]string{
		"mycelium.yaml":           "session: {defaultRole: guest, roles: [guest, developer]}\napproval: {mode: local}\n",
		"skills/hands/SKILL.yaml": "name: hands\ndescription: Own tools.\nallowedRoles: [developer]\nallowedTools: [agent__Bash]\n",
		"rules.yaml":              "version: 1\n",
	}))
	s := fake.New(bashStep("touch c.txt"), fake.Step{Text: "done once"}, bashStep("touch c.txt"), fake.Step{Text: "done twice"})
	defer s.Close()
	a := p.atTerminal(door, p.dir, s)
	a.start("--permission-mode", "default")
	a.shows("❯")
	a.types("go")
	a.shows("Do you want to proceed?", "Mycelium asks: It would ", "says yes. To change that: myc edit rules.")
	a.chooses("1", func() bool { return exists(p, "c.txt") })
	screen := a.shows("done once", "mycelium: to be asked no more: myc approvals keep ")
	id := regexp.MustCompile(`approvals keep ([a-z2-9]+)`).FindStringSubmatch(screen)
	if id == nil {
		t.Fatal(screen)
	}
	if told := requestsOf(s); !strings.Contains(told, "myc approvals keep "+id[1]) {
		t.Error("its model is not told how the answer is kept")
	}
	if said := p.must("approvals", "keep", id[1]); !strings.Contains(said, "is allowed from now on: this call") {
		t.Error(said)
	}
	a.types("again")
	a.shows("done twice")
	var calls []struct {
		Effect    string `json:"effect"`
		DecidedBy string `json:"decidedBy"`
		Rule      string `json:"rule"`
	}
	p.decode(&calls, "audit", "query", "--tool", "agent__Bash")
	if len(calls) != 2 || calls[0].DecidedBy != "policy" || calls[0].Rule != "approved-"+id[1] || calls[1].DecidedBy != "person" {
		t.Errorf("%+v", calls)
	}
}

// requestsOf is what a scripted model was sent.
func requestsOf(s *fake.Server) string {
	var b strings.Builder
	for _, r := range s.Requests() {
		b.Write(r.Raw)
	}
	return b.String()
}
