package main

import (
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"mycelium/internal/model/fake"
)

// divided is what a model makes of the task of TestSwarmPlans.
const divided = `{"features": [{"id": "alpha", "description": "Rewrite alpha", "details": "It is in README.md.", "estimate": 20}]}`

// planText is the plan file of a planner.
const planText = `{"summary": "Write alpha.txt, as the README says.", "steps": [{"order": 1, "description": "Write the file alpha.txt",
 "files": ["alpha.txt"], "validation": "test -f alpha.txt"}], "filesToCreate": ["alpha.txt"], "filesToModify": [],
 "testStrategy": "The command test -f alpha.txt passes.", "risks": ["RISK"], "estimatedComplexity": "low"}`

// planWorld is the model of a session that is planned: it divides the task, plans, judges and works.
type planWorld struct {
	good   atomic.Bool // it divides the task into features that can be worked off
	denied atomic.Int32
}

func (w *planWorld) step(r fake.Request) fake.Step {
	said := r.Text("user")
	switch {
	case strings.Contains(said, "Divide a task"):
		if w.good.Load() {
			return fake.Step{Text: divided}
		}
		return fake.Step{Text: strings.Replace(divided, `"details"`, `"dependsOn": ["alpha"], "details"`, 1)}
	case strings.Contains(said, "Two planners planned"):
		return fake.Step{Text: `{"winner": "B", "reasoning": "it knows what may go wrong"}`}
	case strings.Contains(said, "You plan one feature"):
		return w.plan(r, said)
	}
	switch r.Step {
	case 0:
		return bashStep("pwd")
	case 1:
		return writeStep(filepath.Join(strings.TrimSpace(r.ToolResults()[0].Text), "alpha.txt"), "alpha\n")
	case 2:
		return bashStep("git add -A && git commit -m 'feat: alpha'")
	}
	return fake.Step{Text: "done"}
}

func writeStep(file, content string) fake.Step {
	return fake.Step{ToolUses: []fake.ToolUse{{Name: "Write", Input: map[string]any{"file_path": file, "content": content}}}}
}

// plan is a planner, who tries to do more than plan.
func (w *planWorld) plan(r fake.Request, said string) fake.Step {
	name := "a"
	if strings.Contains(said, "alpha.plan-b.json") {
		name = "b"
	}
	before := ""
	if last := r.ToolResults(); len(last) > 0 {
		before = last[0].Text
	}
	switch r.Step {
	case 0:
		return bashStep("pwd")
	case 1:
		return writeStep(filepath.Join(strings.TrimSpace(before), "other.txt"), "x\n")
	case 2:
		if strings.Contains(before, "This session only reads") {
			w.denied.Add(1)
		}
		return bashStep("echo x > other.txt; pwd")
	case 3:
		lines := strings.Split(strings.TrimSpace(before), "\n")
		return fake.Step{ToolUses: []fake.ToolUse{{Name: "Read", Input: map[string]any{
			"file_path": filepath.Join(lines[len(lines)-1], "alpha.plan-"+name+".json")}},
			{Name: "Write", Input: map[string]any{"file_path": filepath.Join(lines[len(lines)-1], "alpha.plan-"+name+".json"),
				"content": strings.Replace(planText, "RISK", "planner "+name, 1)}}}}
	}
	return fake.Step{Text: "planned"}
}

// TestSwarmPlans has a model divide a task, two planners that are the real Claude Code compete for a feature in sessions that may change
// one file, a model judge their plans, and the worker follow the better one.
func TestSwarmPlans(t *testing.T) {
	realAgent(t, "claude")
	_, err := exec.LookPath("tmux")
	needed(t, err, "tmux")
	if !withoutNetwork(t) {
		return
	}
	p := swarmWorld(t)
	s, w := fake.New(), &planWorld{}
	defer s.Close()
	s.Main = func(r fake.Request) bool {
		return len(r.Tools) > 0 || strings.Contains(r.Text("user"), "planne") || strings.Contains(r.Text("user"), "Divide a task")
	}
	var steps []fake.Step
	for range 8 {
		steps = append(steps, fake.Step{Func: w.step})
	}
	s.Play(steps...)
	environ := p.agentEnv("claude", s) // with a key: the engine api divides and judges
	init := []string{"swarm", "init", "--task", "Please see that alpha is as the README says.", "--plan-threshold", "6", "--judge", "model"}
	stdout, stderr, code := p.as(environ, append(init, "--yes")...)
	if code == 0 || !strings.Contains(stderr, "cannot be worked off: - feature alpha: it depends on itself") {
		t.Fatalf("a circle: exit %d\n%s%s", code, stdout, stderr)
	}
	asked := s.Requests()
	if last := asked[len(asked)-1]; len(asked) != 2 || len(last.Tools) != 0 || !strings.Contains(last.Text("user"), "it depends on itself") {
		t.Errorf("%d requests; the last has the tools %q and says\n%s", len(asked), last.ToolNames(), last.Text("user"))
	}
	w.good.Store(true)
	if _, stderr, code := p.as(environ, init...); code == 0 || !strings.Contains(stderr, "no session was begun") {
		t.Errorf("without a terminal and --yes: exit %d\n%s", code, stderr)
	}
	if _, stderr, code := p.as(environ, "swarm", "status"); code == 0 || !strings.Contains(stderr, "no swarm session is open") {
		t.Fatalf("a session was begun:\n%s", stderr)
	}
	var keyless []string // Claude Code divides
	for _, kv := range environ {
		keyless = append(keyless, strings.Replace(kv, "ANTHROPIC_API_KEY=", "ANTHROPIC_AUTH_TOKEN=", 1))
	}
	before := len(s.Requests())
	if stdout, stderr, code := p.as(keyless, append(init, "--yes", "--unsafe-program")...); code != 0 {
		t.Fatalf("divided by Claude Code: exit %d\n%s%s", code, stdout, stderr)
	}
	for _, r := range s.Requests()[before:] {
		if len(r.Tools) > 0 {
			t.Errorf("who divides has the tools %q", r.ToolNames())
		}
	}
	if stdout, stderr, code := p.as(environ, "swarm", "auto", "--unsafe-program"); code != 0 {
		logs, _, _ := p.as(environ, "swarm", "logs")
		t.Fatalf("auto: exit %d\n%s%s\n%s", code, stdout, stderr, logs)
	}
	if n := w.denied.Load(); n != 2 {
		t.Errorf("%d of 2 planners were kept from writing another file", n)
	}
	shown, _, _ := p.as(environ, "swarm", "plan", "show", "alpha")
	for _, want := range []string{"chosen      B, by the model", "it knows what may go wrong", "- planner a", "testing coverage 100 %"} {
		if !strings.Contains(shown, want) {
			t.Errorf("plan show lacks %q:\n%s", want, shown)
		}
	}
	workers := 0
	for _, r := range s.Turns() {
		said := r.Text("user")
		if !strings.Contains(said, "You work on one feature") || r.Step > 0 {
			continue
		}
		workers++
		for text, want := range map[string]bool{"- planner b": true, "- planner a": false, "It is about alpha.": true, "ghp_": false} {
			if strings.Contains(said, text) != want {
				t.Errorf("the worker is told %q: %t\n%s", text, !want, said)
			}
		}
	}
	if workers != 1 {
		t.Errorf("%d workers were told the plan", workers)
	}
	if stdout, stderr, code := p.as(environ, "swarm", "merge", "--sure"); code != 0 || p.read("alpha.txt") != "alpha\n" || exists(p, "other.txt") {
		t.Errorf("merge: exit %d\n%s%s", code, stdout, stderr)
	}
	p.must("audit", "verify")
}
