package main

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mycelium/internal/audit"
	"mycelium/internal/gate/session"
	"mycelium/internal/model/fake"
)

// familyWorld is a project in which a developer may start subagents, and a guest may only look.
func familyWorld() map[string]string {
	return world(map[string]string{
		"mycelium.yaml": "session: {defaultRole: developer, roles: [guest, developer]}\nmcpServers: {files: {builtin: files}}\n",
		"skills/hands/SKILL.yaml": "name: hands\ndescription: Own tools.\nallowedRoles: [developer]\nallowedTools: [agent__Bash, " +
			"agent__Task]\ntriggers: [script]\n",
		"skills/hands/SKILL.md": "Use your hands with care.\n",
		"rules.yaml": "version: 1\nrules:\n" +
			"  - {name: tasks, action: allow, tool: Task}\n" +
			"  - {name: echoes, action: allow, tool: Bash, match: {program: [echo, 'false']}}\n" +
			"  - {name: no-curl, action: deny, tool: Bash, match: {program: [curl]}}\n",
	})
}

// logged are the records of calls in the project's log, oldest first.
func (p *project) logged() []audit.Record {
	p.t.Helper()
	var out []audit.Record
	for line, err := range audit.Read(p.ctx, audit.Options{Dir: filepath.Join(p.state().Folder(), "audit")}, audit.Position{}, false) {
		if err != nil {
			p.t.Fatal(err)
		}
		if line.Kind == audit.Decided || line.Kind == audit.Outcome {
			out = append(out, line.Record)
		}
	}
	return out
}

// TestRealSubagents runs the real Claude Code with our hook and our gateway, no token, and a model that starts two subagents: each
// call is decided and recorded as the child that makes it, also in the gateway, and the one whose prompt names a role is bound by it.
func TestRealSubagents(t *testing.T) {
	claude(t)
	if !withoutNetwork(t) {
		return
	}
	p := newProject(t, familyWorld())
	p.must("hook", "install", "claude", "--unsafe-program")
	task := func(prompt string) fake.ToolUse {
		return fake.ToolUse{ID: "toolu_" + strings.Fields(prompt)[0], Name: "Task",
			Input: map[string]any{"description": "look", "prompt": prompt, "subagent_type": "general-purpose"}}
	}
	child := func(r fake.Request, name string) fake.Step {
		use := func(id, tool string, input map[string]any) fake.Step {
			return fake.Step{ToolUses: []fake.ToolUse{{ID: "toolu_" + name + id, Name: tool, Input: input}}}
		}
		switch r.Step {
		case 0:
			return use("1", prefix+"files__read_file", map[string]any{"path": "notes.md"})
		case 1:
			return use("2", prefix+"files__write_file", map[string]any{"path": name + ".txt", "content": name})
		case 2:
			return use("3", "Bash", map[string]any{"command": "echo " + name, "description": "x"})
		}
		return fake.Step{Text: name + " is done"}
	}
	var during []session.Summary
	said := map[string]string{} // what the children read, by name and step
	answer := func(r fake.Request) fake.Step {
		for _, name := range []string{"bound", "free"} {
			if strings.Contains(r.Text("user"), "I am "+name) {
				return child(r, name)
			}
		}
		switch r.Step {
		case 0:
			return fake.Step{ToolUses: []fake.ToolUse{task("bound I am bound. Work as the guest role."), task("free I am free.")}}
		case 1:
			p.decode(&during, "session", "list")
			return fake.Step{Thinking: "I want to see it fail.", Text: "Now I fail.",
				ToolUses: []fake.ToolUse{{ID: "toolu_main", Name: "Bash", Input: map[string]any{"command": "echo main; false", "description": "x"}}}}
		case 2:
			return fake.Step{Text: "It failed with an error."}
		case 3:
			return fake.Step{Text: "It still failed."}
		}
		return fake.Step{Text: "done"}
	}
	s := fake.New(slices.Repeat([]fake.Step{{Func: answer}}, 8)...)
	defer s.Close()
	got := p.agent(s, p.gateway(), "Task,Bash")
	if got.IsError || got.Result != "done" {
		t.Fatalf("Claude Code says %+v", got)
	}
	var main []fake.Request
	for _, r := range s.Turns() {
		name := ""
		for _, n := range []string{"bound", "free"} {
			if strings.Contains(r.Text("user"), "I am "+n) {
				name = n
			}
		}
		if name == "" {
			main = append(main, r)
			continue
		}
		said[fmt.Sprint(name, r.Step)] = read(r)
	}
	// What the children could do.
	for key, want := range map[string]string{
		"bound1": "mushrooms", "free1": "mushrooms", "bound2": "Unknown tool: files__write_file", "bound3": "Unknown tool: agent__Bash",
		"free3": "free",
	} {
		if !strings.Contains(said[key], want) {
			t.Errorf("%s: the model reads %q, want %q", key, said[key], want)
		}
	}
	if p.read("free.txt") != "free" || p.read("bound.txt") != "" {
		t.Errorf("files: %q and %q", p.read("free.txt"), p.read("bound.txt"))
	}
	// What is on record: who, below whom, through which surface.
	principals := map[string]string{}
	for _, r := range p.logged() {
		if r.Kind != audit.Decided {
			continue
		}
		principals[r.Principal] = r.Parent
		child := strings.HasPrefix(r.Principal, "local/")
		if child != (r.Parent == "local") || child == (strings.Contains(string(r.Args), "main") || r.Tool == "agent__Task") {
			t.Errorf("%s by %s below %q", r.Tool, r.Principal, r.Parent)
		}
		if r.Role == "guest" && (r.Tool != "files__read_file" && r.Effect != "deny" || r.Tool == "files__read_file" && r.Surface != "mcp-stdio") {
			t.Errorf("the bound child: %s, %s by %s", r.Tool, r.Effect, r.Surface)
		}
	}
	if len(principals) != 3 {
		t.Errorf("principals: %v", principals)
	}
	if len(during) != 1 {
		t.Errorf("hook and gateway are not one session: %+v", during)
	}
	p.mainTold(main)
}

// mainTold is what the main agent of TestRealSubagents read from us: its briefing, and at its stops to try another way; and how its own
// call is recorded.
func (p *project) mainTold(main []fake.Request) {
	t := p.t
	if len(main) != 5 {
		t.Fatalf("%d turns of the main agent", len(main))
	}
	if text := main[0].Text("system"); !strings.Contains(text, "Mycelium: role developer ● [") ||
		!strings.Contains(text, "denied: no-curl") ||
		!strings.Contains(text, "Use your hands with care.") {
		t.Errorf("its briefing: %s", text)
	}
	for i, n := range map[int]int{2: 0, 3: 1, 4: 2} {
		if got := strings.Count(main[i].Text("user"), "Try a different approach"); got != n {
			t.Errorf("turn %d: it is told %d times to try another way, want %d", i, got, n)
		}
	}
	var entries []struct {
		Tool     string          `json:"tool"`
		Outcome  string          `json:"outcome"`
		Thinking *audit.Thinking `json:"thinking"`
		Args     struct {
			Command string `json:"command"`
		} `json:"args"`
	}
	p.decode(&entries, "audit", "query")
	found := false
	for _, e := range entries {
		if e.Tool == "agent__Bash" && e.Args.Command == "echo main; false" {
			found = true
			if e.Outcome != "error" || e.Thinking == nil || e.Thinking.Thinking != "I want to see it fail." || e.Thinking.Summary != "Now I fail." ||
				!e.Thinking.Claimed {
				t.Errorf("its call is recorded as %+v, %+v", e, e.Thinking)
			}
		}
	}
	if !found {
		t.Errorf("its call is not on record: %+v", entries)
	}
}

// read are all results of tools in a request, as the model reads them: between the last one and the end there may be words of others.
func read(r fake.Request) string {
	var out []string
	for _, m := range r.Messages {
		for _, b := range m.Content {
			if b.Type == "tool_result" {
				out = append(out, b.Text)
			}
		}
	}
	return strings.Join(out, "\n")
}
