package main

import (
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/go-json-experiment/json"

	"mycelium/internal/audit"
	"mycelium/internal/model/fake"
	"mycelium/internal/transcript"
)

const spawnTool = "mycelium-router__spawn_sub_agent"

// spawns is a project whose role lead starts sub-agents as guest, and whose developers may start none.
func spawns(t *testing.T, s *fake.Server) *project {
	t.Helper()
	p := newProject(t, world(map[string]string{
		"roles/lead.yaml": "id: lead\nmayStart: [guest]\n",
		"skills/leading/SKILL.md": "---\nname: leading\ndescription: Hands work out.\nallowedRoles: [lead]\n" +
			"allowedTools: [mycelium-router__spawn_sub_agent, files__write_file, files__delete_file]\n---\nHand the parts out.\n",
		"skills/looking/SKILL.yaml": "name: looking\ndescription: Looks at files.\nallowedRoles: [guest, developer, lead]\n" +
			"allowedTools: [files__read_file, files__list_directory]\n",
		"rules.yaml": "version: 1\nrules:\n  - {name: careful, action: ask, tool: files__read_file, match: {path: [{glob: \"**/asks.txt\"}]}}\n",
	}))
	p.env = append(p.env, "ANTHROPIC_API_KEY="+fake.Key, "ANTHROPIC_BASE_URL="+s.URL())
	return p
}

// records are all records of the project's log, oldest first.
func (p *project) records() (out []audit.Record) {
	p.t.Helper()
	for line, err := range audit.Read(p.ctx, audit.Options{Dir: filepath.Join(p.state().Folder(), "audit")}, audit.Position{}, false) {
		if err != nil {
			p.t.Fatal(err)
		}
		out = append(out, line.Record)
	}
	return out
}

// plays has each agent play the script whose word its task has.
func plays(s *fake.Server, scripts map[string][]fake.Step) {
	longest := 0
	for _, steps := range scripts {
		longest = max(longest, len(steps))
	}
	all := make([]fake.Step, longest)
	for i := range all {
		all[i] = fake.Step{Func: func(r fake.Request) fake.Step {
			for word, steps := range scripts {
				if !strings.Contains(r.Text("user"), word) || i >= len(steps) {
					continue
				}
				if f := steps[i].Func; f != nil {
					return f(r)
				}
				return steps[i]
			}
			return fake.Step{Text: "no script for " + r.Text("user")}
		}}
	}
	s.Play(all...)
}

// start is a step that starts a sub-agent.
func start(role, task string) fake.Step {
	return fake.Step{ToolUses: []fake.ToolUse{{Name: spawnTool, Input: map[string]any{"role": role, "task": task}}}}
}

// say is a step that says the results of the calls before it.
func say() fake.Step {
	return fake.Step{Func: func(r fake.Request) fake.Step { return fake.Step{Text: results(r)} }}
}

func reads(path string) fake.Step {
	return fake.Step{ToolUses: []fake.ToolUse{{Name: "files__read_file", Input: map[string]any{"path": path}}}}
}

// TestSubAgents has agents start others: what these may do, what comes back, what it costs, and what the log has of it.
func TestSubAgents(t *testing.T) {
	t.Parallel()
	s := fake.New()
	defer s.Close()
	p := spawns(t, s)
	plays(s, map[string][]fake.Step{"LEAD": {start("guest", "PART: read the notes"), say()}, "PART": {reads("notes.md"), say()}})
	a, stderr, code := p.ask("", "--role", "lead", "LEAD the work")
	said, _ := a.Result.(string)
	var got struct {
		Success bool     `json:"success"`
		Role    string   `json:"role"`
		Result  string   `json:"result"`
		Tools   []string `json:"toolsUsed"`
		Session string   `json:"session"`
		Usage   struct {
			Cost float64 `json:"costUSD"`
		} `json:"usage"`
	}
	if err := json.Unmarshal([]byte(strings.TrimPrefix(said, "[error=false] ")), &got); err != nil || code != 0 {
		t.Fatalf("exit %d, %v: %+v\n%s", code, err, a, stderr)
	}
	if !got.Success || got.Role != "guest" || !strings.Contains(got.Result, "The shop sells mushrooms") ||
		!slices.Equal(got.Tools, []string{"files__read_file"}) || got.Usage.Cost <= 0 || a.Usage.Cost < 2*got.Usage.Cost-1e-9 {
		t.Errorf("the result is %+v, and all of it cost $%f\n%s", got, a.Usage.Cost, stderr)
	}
	var spawned, read audit.Record
	for _, r := range p.records() {
		switch {
		case r.Kind == audit.Session && r.Session == got.Session && strings.Contains(string(r.Args), `"spawned"`):
			spawned = r
		case r.Kind == audit.Decided && r.Session == got.Session:
			read = r
		}
	}
	if spawned.Parent == "" || spawned.Principal != spawned.Parent+"/"+got.Session || !strings.Contains(string(spawned.Args), `"call":"`) ||
		read.Principal != spawned.Principal || read.Parent != spawned.Parent || read.Role != "guest" || read.Tool != "files__read_file" {
		t.Errorf("the log has\n%+v\n%+v", spawned, read)
	}
	for _, r := range s.Turns() {
		if strings.Contains(r.Text("user"), "PART") && slices.ContainsFunc(r.ToolNames(), func(n string) bool {
			return n == spawnTool || n == "files__write_file"
		}) {
			t.Errorf("the sub-agent sees %q", r.ToolNames())
		}
	}
	if all := p.must("session", "list", "--json"); strings.Contains(all, got.Session) {
		t.Errorf("the session of the sub-agent is still there:\n%s", all)
	}
}

// TestSubAgentsEnd kills what a sub-agent depends on while it works: the client of the call that started it, and the daemon.
func TestSubAgentsEnd(t *testing.T) {
	t.Parallel()
	s := fake.New()
	defer s.Close()
	p := spawns(t, s)
	at, hold := make(chan struct{}), make(chan struct{})
	defer close(hold)
	plays(s, map[string][]fake.Step{"LEAD": {start("guest", "PART: read the notes"), say()}, "PART": {{Func: func(fake.Request) fake.Step {
		at <- struct{}{}
		<-hold
		return fake.Step{Text: "too late"}
	}}}})
	for _, victim := range []string{"the client", "the daemon"} {
		cmd := p.command("--role", "lead", "LEAD the work")
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		<-at
		sub := 0
		p.eventually("there is a sub-agent", func() bool {
			for pid, line := range p.processes() {
				if strings.Contains(line, " sub-agent --json") {
					sub = pid
				}
			}
			return sub != 0
		})
		if victim == "the client" {
			p.kill(cmd.Process.Pid, syscall.SIGKILL)
		} else {
			daemon := p.status().Daemon.PID
			p.kill(cmd.Process.Pid, syscall.SIGSTOP) // else it starts the next daemon
			p.kill(daemon, syscall.SIGKILL)
		}
		p.eventually("the sub-agent ends with "+victim, func() bool { return syscall.Kill(sub, 0) != nil })
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}
}

// TestSubAgentAsks: a call of a sub-agent that needs an approval is denied at once where nobody can be reached, as that of its parent is.
// It may cost what is left of the parent's budget, and is not what --continue goes on with.
func TestSubAgentAsks(t *testing.T) {
	t.Parallel()
	s := fake.New()
	defer s.Close()
	p := spawns(t, s)
	p.write("asks.txt", "secret plans\n")
	plays(s, map[string][]fake.Step{"LEAD": {start("guest", "PART: read it"), say(), say()}, "PART": {reads("asks.txt"), say(), say()}})
	a, stderr, code := p.ask("", "--role", "lead", "--budget", "0.0001", "LEAD the work")
	if said, _ := a.Result.(string); !strings.Contains(said, "the budget is spent") { // each answer costs $0.00007
		t.Errorf("with a budget: exit %d %+v\n%s", code, a, stderr)
	}
	a, stderr, code = p.ask("", "--role", "lead", "LEAD the work")
	if said, _ := a.Result.(string); code != 0 || !strings.Contains(said, "Denied by policy") || strings.Contains(said, "secret plans") {
		t.Errorf("exit %d %+v\n%s", code, a, stderr)
	}
	var all []transcript.Conversation
	p.decode(&all, "chat", "list")
	if a, stderr, code = p.ask("", "--continue", "LEAD on"); len(all) != 4 || code != 0 || a.Role != "lead" {
		t.Errorf("of %d conversations --continue took: exit %d %+v\n%s", len(all), code, a, stderr)
	}
}

// TestRunOfDenials: an agent of a run whose calls are refused again and again is told to try another way, and is ended (E25).
func TestRunOfDenials(t *testing.T) {
	t.Parallel()
	s := fake.New()
	defer s.Close()
	p := asks(t, s)
	steps := make([]fake.Step, 30)
	for i := range steps {
		steps[i] = writes("asks.txt")
	}
	s.Play(steps...)
	out, stderr, code := p.as(p.env, "run", "--json", "--role", "developer", "--ask", "deny", "-p", "write it")
	if code != 1 || !strings.Contains(out, `"denials": 10`) || !strings.Contains(out, "10 calls in a row were refused") {
		t.Errorf("exit %d\n%s%s", code, out, stderr)
	}
	told := s.Turns()
	for n, r := range told {
		if advised := strings.Contains(results(r), "Try a different approach"); advised != (n >= 5) {
			t.Errorf("after denial %d: %s", n, results(r))
		}
	}
	if len(told) != 10 {
		t.Errorf("the model was asked %d times", len(told))
	}
}
