package main

import (
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"mycelium/internal/model/fake"
	"mycelium/internal/swarm/book"
)

// TestSwarmAPI has a worker that is our own agent do a feature with the tools of the gateway: it writes a file, runs commands, hears a
// message and commits, all in its worktree. It reaches nothing of the project's own checkout; neither does a reviewer, who changes nothing
// but their findings.
func TestSwarmAPI(t *testing.T) {
	t.Parallel()
	_, err := exec.LookPath("tmux")
	needed(t, err, "tmux")
	s := fake.New()
	defer s.Close()
	p := swarmWorldWith(t, `"files__*", "mycelium-sandbox__*", mycelium-skills__run_script`)
	p.write("plan.yaml", "features:\n  - {id: alpha, description: Add alpha}\n")
	p.write("secret.txt", "of the person\n")
	p.git("config", "status.showUntrackedFiles", "all")
	p.env = append(p.env, "ANTHROPIC_API_KEY="+fake.Key, "ANTHROPIC_BASE_URL="+s.URL())
	before := p.git("status", "--short")
	const told = "Say hello too."
	tool := func(name string, input map[string]any) fake.Step {
		return fake.Step{ToolUses: []fake.ToolUse{{Name: name, Input: input}}}
	}
	shell := func(command string) fake.Step {
		return tool("mycelium-sandbox__bash", map[string]any{"command": command, "profile": "project"})
	}
	play := func(r fake.Request) fake.Step {
		findings := findingsOf(r)
		steps := []fake.Step{
			tool("files__write_file", map[string]any{"path": "alpha.txt", "content": "alpha\n"}),
			tool("files__read_file", map[string]any{"path": filepath.Join(p.dir, "secret.txt")}),
			tool("files__write_file", map[string]any{"path": filepath.Join(p.dir, "evil.txt"), "content": "x"}),
			shell("pwd > where.txt; cat " + p.dir + "/secret.txt; git log --oneline"),
			tool("files__write_file", map[string]any{"path": "mycelium.yaml", "content": "x"}),
			shell("git add -A && git commit -m 'feat: alpha'"),
			shell("echo hello > hello.txt && git add -A && git commit -m 'feat: hello'"),
		}
		if findings != "" {
			steps = []fake.Step{
				tool("files__write_file", map[string]any{"path": "alpha.txt", "content": "changed\n"}),
				shell("echo changed > alpha.txt"),
				tool("mycelium-sandbox__bash", map[string]any{"command": "echo changed > alpha.txt; cat alpha.txt"}),
				tool("files__write_file", map[string]any{"path": findings, "content": `{"summary": "Fine.", "severity": "clean", "issues": []}`}),
			}
		}
		switch {
		case findings == "" && r.Step == 5:
			if _, stderr, code := p.as(p.env, "swarm", "message", "alpha", told); code != 0 {
				return fake.Step{Text: "it was not told: " + stderr}
			}
		case findings == "" && r.Step == 6 && !strings.Contains(r.Text("user"), told):
			return fake.Step{Text: "it has not heard"}
		case r.Step >= len(steps):
			return fake.Step{Text: "done"}
		}
		return steps[r.Step]
	}
	s.Play(slices.Repeat([]fake.Step{{Func: play}}, 9)...)
	for _, args := range [][]string{{"init", "plan.yaml", "--runner", "api", "--retries", "0", "--budget", "5"}, {"auto"}} {
		if stdout, stderr, code := p.as(p.env, append([]string{"swarm"}, args...)...); code != 0 {
			logs, _, _ := p.as(p.env, "swarm", "logs", "alpha", "--json")
			t.Fatalf("myc swarm %q: exit %d\n%s%s\nalpha:\n%s", args, code, stdout, stderr, logs)
		}
	}
	if got := p.git("status", "--short"); got != before {
		t.Errorf("the person's checkout has changed:\n%s", got)
	}
	for _, r := range s.Turns() {
		got := results(r)
		want := map[int]string{2: "outside of the folder", 3: "lies outside of it", 4: "first", 5: "base constraint", 6: "feat: alpha"}[r.Step]
		if findingsOf(r) != "" {
			want = map[int]string{1: "This session only reads", 2: "This session only reads", 3: "Read-only file system"}[r.Step]
		}
		if !strings.Contains(got, want) || strings.Contains(got, "of the person") {
			t.Errorf("step %d: %q, want %q", r.Step, got, want)
		}
		if names := r.ToolNames(); slices.ContainsFunc(names, func(n string) bool { return strings.Contains(n, "set_role") }) ||
			strings.Contains(string(r.Raw), "start_worker") { // its role would have it
			t.Errorf("it is offered %q", names)
		}
	}
	var status struct {
		Features []book.Feature `json:"features"`
	}
	out := p.must("swarm", "status", "--json")
	if err := json.Unmarshal([]byte(out), &status); err != nil || len(status.Features) != 1 || status.Features[0].Last() == nil {
		t.Fatalf("%v: %s", err, out)
	}
	a := status.Features[0].Last()
	if a.Cost <= 0 || a.Result != "done" {
		t.Errorf("%+v", a)
	}
	if log := p.must("audit", "query", "--session", a.Session, "--json"); !strings.Contains(log, `"role": "developer"`) ||
		!strings.Contains(log, "feat: hello") {
		t.Errorf("the log of its session: %s", log)
	}
	p.must("swarm", "merge", "--sure")
	if p.read("alpha.txt") != "alpha\n" || p.read("hello.txt") != "hello\n" || !strings.Contains(p.read("where.txt"), "-trees/") {
		t.Errorf("it works in %q, and what landed is %q", p.read("where.txt"), p.read("alpha.txt"))
	}
}
