package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"mycelium/internal/atomicfile"
)

// leadPlan is a plan for workers that are a shell: they do what the lines "stub: …" say.
const leadPlan = `features:
  - {id: one, description: Add a, details: "stub: echo a > a.txt; git add -A; git commit -qm 'feat: one'"}
  - {id: two, description: Add b, dependsOn: [one], details: "stub: echo b > b.txt; git add -A; git commit -qm 'feat: two'"}
  - {id: long, description: Wait, details: "stub: echo c > c.txt; exec sleep 3600"}
  - {id: done, description: Commit and wait, details: "stub: echo d > d.txt; git add -A; git commit -qm 'feat: done'; exec sleep 3600"}
`

// leadWorld is a project in git in which the role lead may have the tools of the swarm.
func leadWorld(t *testing.T, over map[string]string) *project {
	t.Helper()
	_, err := exec.LookPath("tmux")
	needed(t, err, "tmux")
	files := map[string]string{
		"mycelium.yaml":              "session: {defaultRole: lead, roles: [lead, dev, guest], agentRole: dev}\n",
		"skills/coding/SKILL.yaml":   "name: coding\ndescription: Codes.\nallowedRoles: [dev, lead, guest]\nallowedTools: [agent__Bash]\n",
		"skills/swarming/SKILL.yaml": "name: swarming\ndescription: Leads.\nallowedRoles: [lead]\nallowedTools: [\"mycelium-swarm__*\"]\n",
		"roles/lead.yaml":            "description: Leads a swarm.\nallowedSkills: [coding, swarming]\nmayStart: [dev]\n",
		"plan.yaml":                  leadPlan, ".gitignore": "plan.yaml\n.mycelium/\n", "stub.sh": "sed -n 's/^ *stub: //p' | sh -e\n",
	}
	for name, text := range over {
		files[name] = text
	}
	p := newProject(t, files)
	if err := os.WriteFile(filepath.Join(p.home, ".gitconfig"), []byte("[user]\n\tname = T\n\temail = t@localhost\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	p.git("init", "-q", "-b", "main")
	p.git("add", "-A")
	p.git("commit", "-q", "-m", "first")
	t.Cleanup(func() { endWorkers(t, p.home) })
	t.Cleanup(func() {
		if t.Failed() {
			logs, _, _ := p.as(p.env, "swarm", "logs", "-n", "100")
			t.Logf("what happened:\n%s", logs)
		}
	})
	return p
}

// leads starts a session that waits for somebody to drive it.
func (p *project) leads() {
	p.t.Helper()
	p.must("swarm", "init", "plan.yaml", "--runner", "command", "--command", "sh stub.sh", "--verify", "test -f stub.sh",
		"--allow-program", "test", "--role", "dev")
}

// lead connects an agent to the tools of the swarm.
func (p *project) lead(args ...string) *leader {
	p.t.Helper()
	cmd := p.command(append([]string{"--state", string(p.state().Root), "swarm", "mcp"}, args...)...)
	cmd.Env = append(cmd.Env, "CLAUDECODE=1")
	return &leader{p, p.dial(&mcp.CommandTransport{Command: cmd, TerminateDuration: 20 * time.Second}, "2025-11-25")}
}

// leader is an agent with the tools of the swarm.
type leader struct {
	*project
	client *foreign
}

// say calls a tool, with its arguments as pairs, and returns what it says.
func (l *leader) say(tool string, args ...any) (said string, failed bool) {
	l.t.Helper()
	all := map[string]any{"projectDir": l.dir}
	for i := 0; i < len(args); i += 2 {
		all[args[i].(string)] = args[i+1]
	}
	r, err := l.client.CallTool(l.ctx, &mcp.CallToolParams{Name: tool, Arguments: all})
	if err != nil {
		return err.Error(), true
	}
	for _, c := range r.Content {
		if text, ok := c.(*mcp.TextContent); ok {
			said += text.Text
		}
	}
	return said, r.IsError
}

// does wants that a tool does its work and says something.
func (l *leader) does(want, tool string, args ...any) {
	l.t.Helper()
	if said, failed := l.say(tool, args...); failed || !strings.Contains(said, want) {
		l.t.Errorf("%s %v (failed: %t), want %q:\n%s", tool, args, failed, want, said)
	}
}

// refuses wants that a tool does not, and says why.
func (l *leader) refuses(want, tool string, args ...any) {
	l.t.Helper()
	if said, failed := l.say(tool, args...); !failed || !strings.Contains(said, want) {
		l.t.Errorf("%s %v (failed: %t), want a refusal with %q:\n%s", tool, args, failed, want, said)
	}
}

// waits waits until the status says something.
func (l *leader) waits(want string) {
	l.t.Helper()
	l.eventually("the status says "+want, func() bool {
		said, _ := l.say("orchestrator_status")
		return strings.Contains(said, want)
	})
}

// TestSwarmTools is an agent that leads a swarm over `myc swarm mcp` with a client that is not ours: every tool does its work against the
// driver that it has started, and the workers are a shell in the sandbox.
func TestSwarmTools(t *testing.T) {
	if !withoutNetwork(t) {
		return
	}
	t.Parallel()
	p := leadWorld(t, nil)
	l := p.lead("--role", "lead")
	tools, err := l.client.ListTools(p.ctx, nil)
	if err != nil || len(tools.Tools) != 37 {
		t.Fatalf("%d tools, %v", len(tools.Tools), err)
	}
	for _, tool := range tools.Tools {
		if strings.Contains(tool.Name, "__") || tool.Annotations == nil {
			t.Errorf("a tool is shown as %q, %+v", tool.Name, tool.Annotations)
		}
	}
	l.refuses("orchestrator_init begins one", "orchestrator_status")
	l.does("Session s", "orchestrator_init", "taskDescription", "- Add a parser\n- Add a printer")
	l.refuses("is open, and a project has one at a time", "orchestrator_init", "taskDescription", "x")
	l.does("feature-3 was added", "add_feature", "description", "Add a test", "insertAfter", "feature-1")
	l.does("waits for: feature-1", "set_dependencies", "featureId", "feature-3", "dependsOn", []string{"feature-1"})
	l.refuses("its dependencies go in a circle", "set_dependencies", "featureId", "feature-1", "dependsOn", []string{"feature-3"})
	l.does("of 100", "get_feature_complexity", "featureId", "feature-1")
	l.does(`"dependsOn":["feature-1"]`, "get_feature_graph", "format", "json")
	l.refuses("protocols do not exist yet", "get_feature_graph", "includeProtocols", true)
	l.does("driven by nobody", "orchestrator_status")
	l.refuses("confirm must be true", "orchestrator_reset", "confirm", false)
	l.does("was given up", "orchestrator_reset", "confirm", true)
	p.leads()
	l.refuses("projectDir is not the project", "orchestrator_status", "projectDir", p.home)
	l.does("not ready: feature two waits for what it depends on: one", "validate_workers", "featureIds", []string{"one", "two"})
	l.refuses("feature two waits for what it depends on: one", "start_worker", "featureId", "two")
	l.does("two: feature two waits", "start_parallel_workers", "featureIds", []string{"long", "two", "done"})
	l.does("by 4 workers at once", "auto_orchestrate", "maxConcurrent", 4, "strategy", "depth-first")
	l.waits("2 of 4 landed")
	l.works()
	l.ends()
}

// works looks at workers, and says what they have done.
func (l *leader) works() {
	l.t.Helper()
	l.does("long#1: running", "check_all_workers")
	l.does("1 began sh stub.sh", "check_worker", "featureId", "long", "lines", 5)
	l.does("the threshold is 35", "get_worker_confidence", "featureId", "long")
	l.does("the folders look like", "enrich_feature", "featureId", "long")
	l.does("A worker below 80 is reported", "set_confidence_threshold", "threshold", 80)
	l.does("the threshold is 80", "get_worker_confidence", "featureId", "long")
	l.refuses("workers of the runner command hear no messages", "send_worker_message", "featureId", "long", "message", "x")
	l.written()
	l.refuses("these files are not committed: c.txt", "mark_complete", "featureId", "long", "success", true)
	l.refuses("a worker works on long now", "rollback_feature", "featureId", "long")
	l.eventually("what is said to be done is committed", func() bool {
		_, failed := l.say("mark_complete", "featureId", "done", "success", true, "notes", "it is")
		return !failed
	})
	l.waits("3 of 4 landed")
	l.does("is completed already", "mark_complete", "featureId", "done", "success", true)
	l.does("the attempt given up", "mark_complete", "featureId", "long", "success", false, "notes", "it is wrong", "maxRetries", 0)
	l.waits("long (failed, 1 attempt): it is wrong")
	l.does("long is tried again", "retry_feature", "featureId", "long", "resetAttempts", true)
	l.waits("long (in progress, 2 attempts)")
	l.written()
	l.does("no worker runs", "pause_session")
}

// written waits until the worker of long has written its file.
func (l *leader) written() {
	l.t.Helper()
	l.eventually("the worker has written its file", func() bool {
		said, _ := l.say("check_rollback_conflicts", "featureId", "long")
		return strings.Contains(said, "long has changed: c.txt")
	})
}

// ends does what is done while no worker runs, and gives the session up.
func (l *leader) ends() {
	l.t.Helper()
	l.does("long: committed as", "commit_progress", "message", "feat: what there is")
	l.does("nothing to commit", "commit_progress", "message", "feat: again")
	l.does("Rolled back", "rollback_feature", "featureId", "long")
	l.refuses("is not a command of this session's verification", "run_verification", "command", "ls")
	l.does("It passes", "run_verification", "command", "test -f stub.sh")
	l.does("It passes", "run_verification", "command", "test -f stub.sh", "featureId", "long")
	l.does("an agent (role lead)", "get_progress_log", "limit", 100)
	l.does("landed: 3 of 4", "get_session_stats")
	l.does("The session goes on. Pending: long", "resume_session")
	l.waits("long (in progress, 2 attempts)")
	l.does("was given up", "orchestrator_reset", "confirm", true)
	if _, err := os.Stat(filepath.Join(l.dir, "a.txt")); err == nil {
		l.t.Error("the person's checkout has changed")
	}
	if said := l.must("audit", "query", "--tool", "mycelium-swarm__start_worker", "--json"); !strings.Contains(said, "start_worker") {
		l.t.Errorf("the calls are not on record: %s", said)
	}
}

// TestFailClosedSpawn is the column for starting workers of the fail-closed matrix: with each thing missing, none of the tools that have
// workers started does anything.
func TestFailClosedSpawn(t *testing.T) {
	const swarming = "name: swarming\ndescription: Leads.\nallowedRoles: [lead]\nallowedTools: [\"mycelium-swarm__*\"]\n"
	asLead := []string{"--role", "lead"}
	for name, c := range map[string]struct {
		over map[string]string
		args []string
		why  string
	}{
		"no role":              {map[string]string{"mycelium.yaml": "session: {roles: [dev]}\n"}, nil, "Unknown tool"},
		"a role without grant": {nil, []string{"--role", "guest"}, "Unknown tool"},
		"no grant of the tools": {map[string]string{"skills/swarming/SKILL.yaml": strings.ReplaceAll(swarming, "swarm__*",
			"swarm__orchestrator_status")}, asLead, "Unknown tool"},
		"a rule that denies": {map[string]string{"rules.yaml": "version: 1\nrules:\n" +
			"  - {name: no, action: deny, tool: \"mycelium-swarm__*\"}\n"},
			asLead, "Unknown tool"},
		"a rule that asks, and nobody there": {map[string]string{"rules.yaml": "version: 1\nrules:\n  - {name: asks, action: ask, tool: " +
			"\"mycelium-swarm__*\", reason: a person decides}\n", "mycelium.yaml": "session: {defaultRole: lead, roles: [lead], agentRole: dev}\n" +
			"approval: {deadline: 100ms}\n"}, asLead, "a person decides"},
		"a role that may not be started": {map[string]string{"roles/lead.yaml": "description: Leads.\nallowedSkills: [coding, swarming]\n"},
			asLead,
			`the role "dev", which this session may not start`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := leadWorld(t, c.over)
			p.leads()
			l := p.lead(c.args...)
			l.refuses(c.why, "auto_orchestrate")
			l.refuses(c.why, "start_worker", "featureId", "one")
			l.refuses(c.why, "start_parallel_workers", "featureIds", []string{"one"})
			l.nobody()
		})
	}
}

// nobody wants that nothing was started.
func (p *project) nobody() {
	p.t.Helper()
	folder := filepath.Join(p.state().Folder(), "swarm")
	if locked, err := atomicfile.Locked(filepath.Join(folder, "driver.lock")); locked || err != nil {
		p.t.Errorf("somebody drives it: %v", err)
	}
	if sockets, _ := filepath.Glob(filepath.Join(p.home, "run", "mycelium", "*.tmux")); len(sockets) > 0 {
		p.t.Errorf("a terminal was started: %v", sockets)
	}
	var s struct {
		Features []struct {
			Attempts []any `json:"attempts"`
		} `json:"features"`
	}
	p.decode(&s, "swarm", "status")
	for _, f := range s.Features {
		if len(f.Attempts) > 0 {
			p.t.Errorf("a worker was started: %+v", s)
		}
	}
}
