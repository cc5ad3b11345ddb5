package main

import (
	"os/exec"
	"slices"
	"strings"
	"testing"

	"mycelium/internal/harness"
	"mycelium/internal/model/fake"
)

// TestSwarmRunners has a worker that is the real Codex, and one that is the real Gemini CLI, do a feature: each in the sandbox, under the
// hook, with the gateway, in a session of its own.
func TestSwarmRunners(t *testing.T) {
	for _, name := range []string{"codex", "gemini"} {
		realAgent(t, name)
	}
	_, err := exec.LookPath("tmux")
	needed(t, err, "tmux")
	if !withoutNetwork(t) {
		return
	}
	for _, name := range []string{"codex", "gemini"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := swarmWorld(t)
			p.write("plan.yaml", "features:\n  - {id: alpha, description: Add alpha}\n")
			s := fake.New()
			defer s.Close()
			environ := p.agentEnv(name, s)
			agent, _ := harness.Named(name)
			var steps []fake.Step
			for _, command := range []string{"touch denied.txt", "cat " + p.dir + "/mycelium.yaml; pwd > where.txt",
				"git add -A && git commit -m 'feat: alpha'"} {
				tool, input := agent.Shell(command)
				steps = append(steps, fake.Step{ToolUses: []fake.ToolUse{{Name: tool, Input: input}}})
			}
			s.Play(append(steps, fake.Step{Text: "done"})...)
			model := map[string]string{"gemini": "gemini-2.5-flash"}[name] // else it asks a model which one to take
			for _, args := range [][]string{{"init", "plan.yaml", "--runner", name, "--model", model, "--retries", "0", "--no-reviews"},
				{"auto", "--unsafe-program"}} {
				if stdout, stderr, code := p.as(environ, append([]string{"swarm"}, args...)...); code != 0 {
					logs, _, _ := p.as(environ, "swarm", "logs", "alpha", "--json")
					t.Fatalf("myc swarm %q: exit %d\n%s%s\nalpha:\n%s", args, code, stdout, stderr, logs)
				}
			}
			p.boxed(s, environ)
		})
	}
}

// boxed looks at what the agent in the sandbox was shown, and at the log of its session.
func (p *project) boxed(s *fake.Server, environ []string) {
	t := p.t
	t.Helper()
	turns := s.Turns()
	if len(turns) < 4 {
		t.Fatalf("%d turns", len(turns))
	}
	if got := results(turns[1]); !strings.Contains(got, "nothing is touched here") {
		t.Errorf("what is denied answers %q", got)
	}
	if got := results(turns[2]); !strings.Contains(got, "No such file") {
		t.Errorf("the person's checkout is seen: %q", got)
	}
	if !slices.ContainsFunc(turns[0].ToolNames(), func(n string) bool { return strings.Contains(n, "mycelium") }) ||
		slices.ContainsFunc(turns[0].ToolNames(), func(n string) bool { return strings.Contains(n, "set_role") }) {
		t.Errorf("it is offered %q", turns[0].ToolNames())
	}
	if stdout, stderr, code := p.as(environ, "swarm", "merge", "--sure"); code != 0 {
		t.Fatalf("myc swarm merge: exit %d\n%s%s", code, stdout, stderr)
	}
	if got := p.read("where.txt"); !strings.Contains(got, "-trees/") || exists(p, "denied.txt") {
		t.Errorf("it works in %q", got)
	}
	log := p.must("audit", "query", "--json")
	for _, want := range []string{"feat: alpha", "touch denied.txt", "no-touch", `"role": "developer"`} {
		if !strings.Contains(log, want) {
			t.Errorf("the log lacks %q:\n%s", want, log)
		}
	}
}

// TestSwarmTerminal has a worker that is the real Claude Code at its own terminal: it is told what to do there when its prompt is seen, and
// what it does is read from its transcript.
func TestSwarmTerminal(t *testing.T) {
	realAgent(t, "claude")
	_, err := exec.LookPath("tmux")
	needed(t, err, "tmux")
	if !withoutNetwork(t) {
		return
	}
	p := swarmWorld(t)
	p.write("plan.yaml", "features:\n  - {id: alpha, description: Add alpha}\n")
	s := fake.New()
	defer s.Close()
	environ := p.agentEnv("claude", s)
	const told = "Say hello too."
	s.Play(bashStep("touch denied.txt"), bashStep("pwd > where.txt; git add -A && git commit -m 'feat: alpha'"),
		fake.Step{Func: func(fake.Request) fake.Step {
			_, stderr, _ := p.as(environ, "swarm", "message", "alpha", told)
			return fake.Step{Text: "done" + stderr}
		}}, bashStep("echo hello > hello.txt && git add -A && git commit -m 'feat: hello'"), fake.Step{Text: "done"})
	for _, args := range [][]string{{"init", "plan.yaml", "--runner", "claude-tmux", "--retries", "0", "--no-reviews"},
		{"auto", "--unsafe-program"},
		{"merge", "--sure"}} {
		if stdout, stderr, code := p.as(environ, append([]string{"swarm"}, args...)...); code != 0 {
			logs, _, _ := p.as(environ, "swarm", "logs", "alpha", "--json")
			t.Fatalf("myc swarm %q: exit %d\n%s%s\nalpha:\n%s", args, code, stdout, stderr, logs)
		}
	}
	turns := s.Turns()
	for _, r := range turns {
		if r.Step == 1 && !strings.Contains(results(r), "nothing is touched here") || r.Step == 3 && !strings.Contains(r.Text("user"), told) {
			t.Errorf("step %d: %q, it was told %q", r.Step, results(r), r.Text("user"))
		}
	}
	if slices.Contains(turns[0].ToolNames(), prefix+"mycelium-router__set_role") {
		t.Error("it is offered another role")
	}
	if !strings.Contains(p.read("where.txt"), "-trees/") || p.read("hello.txt") != "hello\n" || exists(p, "denied.txt") {
		t.Errorf("it works in %q", p.read("where.txt"))
	}
	logs, _, _ := p.as(environ, "swarm", "logs", "alpha", "--json")
	for _, want := range []string{"agent__Bash", "nothing is touched here", told} {
		if !strings.Contains(logs, want) {
			t.Errorf("what the worker did lacks %q:\n%s", want, logs)
		}
	}
}
