package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/go-json-experiment/json"

	"mycelium/internal/model/fake"
	"mycelium/internal/swarm/book"
)

// swarmPlan is a plan of three features, one of which waits for the others.
const swarmPlan = "features:\n  - {id: alpha, description: Add alpha}\n  - {id: beta, description: Add beta}\n" +
	"  - {id: gamma, description: Add gamma, dependsOn: [alpha, beta]}\n"

// swarmWorld is a project in git whose developer has a shell and an editor, with one command that is denied.
func swarmWorld(t *testing.T) *project {
	return swarmWorldWith(t, "agent__Bash, agent__Read, agent__Edit, agent__Write")
}

// swarmWorldWith is swarmWorld with other tools for the developer.
func swarmWorldWith(t *testing.T, tools string) *project {
	t.Helper()
	p := newProject(t, world(map[string]string{
		"mycelium.yaml": "session: {defaultRole: guest, roles: [guest, developer], agentRole: developer}\n",
		"skills/coding/SKILL.yaml": "name: coding\ndescription: Writes code.\nallowedRoles: [developer]\n" +
			"allowedTools: [" + tools + ", \"mycelium-swarm__*\"]\n",
		"README.md":      "# Things\n\nIt is about alpha.\n",
		"docs/tokens.md": "# Alpha\n\ntoken: ghp_" + strings.Repeat("a1B2", 9) + "\n",
		"rules.yaml": "version: 1\nrules:\n" +
			"  - {name: no-touch, action: deny, tool: Bash, args: {command: ['touch denied.txt']}, reason: nothing is touched here}\n" +
			"  - {name: work, action: allow, tool: 'agent__*'}\n",
		"plan.yaml": swarmPlan, ".gitignore": "plan.yaml\n.mycelium/\n",
	}))
	if err := os.WriteFile(filepath.Join(p.home, ".gitconfig"), []byte("[user]\n\tname = T\n\temail = t@localhost\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	p.git("init", "-q", "-b", "main")
	p.git("add", "-A")
	p.git("commit", "-q", "-m", "first")
	return p
}

// featureOf is the feature that the worker of a request has.
func featureOf(r fake.Request) string {
	m := regexp.MustCompile(`# Feature (\w+)`).FindStringSubmatch(r.Text("user"))
	if m == nil {
		return ""
	}
	return m[1]
}

// swarmWorker is the model of every worker: it looks where it is, writes a file there, tries another role and a command that is denied,
// and commits. The one of beta is told something while it works, and does that too; the one of gamma meets a limit of its provider.
func swarmWorker(tell func() error) (steps []fake.Step) {
	const told = "Say hello too."
	var limited atomic.Bool
	play := func(r fake.Request) fake.Step {
		if file := findingsOf(r); file != "" {
			return swarmReviewer(r, file)
		}
		id := featureOf(r)
		switch r.Step {
		case 0:
			if id == "gamma" && limited.CompareAndSwap(false, true) {
				return fake.Step{Status: 429, Text: "slow down", Header: map[string]string{"retry-after": "1"}}
			}
			return bashStep("pwd")
		case 1:
			file := filepath.Join(strings.TrimSpace(r.ToolResults()[0].Text), id+".txt")
			return fake.Step{ToolUses: []fake.ToolUse{{Name: "Write", Input: map[string]any{"file_path": file, "content": id + "\n"}}}}
		case 2:
			role, sure := use("mycelium-router__set_role", map[string]any{"role_id": "guest"}), use("mycelium-router__report_confidence",
				map[string]any{"score": 73, "reason": "it is small"})
			role.ToolUses = append(role.ToolUses, sure.ToolUses...)
			return role
		case 3:
			return bashStep("touch denied.txt")
		case 4:
			if id == "beta" {
				if err := tell(); err != nil {
					return fake.Step{Text: "it was not told: " + err.Error()}
				}
				return bashStep("sleep 2; git add -A && git commit -m 'feat: " + id + "'") // it hears it while this is under way
			}
			return bashStep("git add -A && git commit -m 'feat: " + id + "'")
		case 5:
			if id == "beta" && strings.Contains(r.Text("system"), told) {
				return bashStep("echo hello > hello.txt && git add -A && git commit -m 'feat: hello'")
			}
		}
		return fake.Step{Text: "done"}
	}
	for range 10 {
		steps = append(steps, fake.Step{Func: play})
	}
	return steps
}

// findingsOf is the file into which the reviewer of a request writes what it finds; "": it is no reviewer.
func findingsOf(r fake.Request) string {
	m := regexp.MustCompile(`(?m)^    (/\S+\.json)$`).FindStringSubmatch(r.Text("user"))
	if m == nil {
		return ""
	}
	return m[1]
}

// swarmReviewer is the model of a reviewer: it tries to change what it reviews, and writes its findings.
func swarmReviewer(r fake.Request, file string) fake.Step {
	at := filepath.Dir(file)
	tool := func(name string, input map[string]any) fake.Step {
		return fake.Step{ToolUses: []fake.ToolUse{{Name: name, Input: input}}}
	}
	switch r.Step {
	case 0:
		return tool("Read", map[string]any{"file_path": filepath.Join(at, "alpha.txt")})
	case 1:
		return tool("Edit", map[string]any{"file_path": filepath.Join(at, "alpha.txt"), "old_string": "alpha", "new_string": "changed"})
	case 2:
		return tool("Write", map[string]any{"file_path": filepath.Join(at, "new.txt"), "content": "new\n"})
	case 3:
		return bashStep("echo changed > beta.txt; echo new > new.txt; git commit --allow-empty -m x; git log --format=%s -1; true")
	case 4:
		return tool("Write", map[string]any{"file_path": file, "content": `{"summary": "Fine.", "severity": "minor", "issues": [
			{"category": "bug", "severity": "error", "file": "` + at + `/alpha.txt", "line": 1, "message": "It is wrong."}]}`})
	}
	return fake.Step{Text: "reviewed"}
}

// TestSwarm has three workers that are the real Claude Code work off a plan, each in a worktree of its own, under the hook and the
// gateway in a session of its own, and hands their work over.
func TestSwarm(t *testing.T) {
	realAgent(t, "claude")
	_, err := exec.LookPath("tmux")
	needed(t, err, "tmux")
	if !withoutNetwork(t) {
		return
	}
	p := swarmWorld(t)
	s := fake.New()
	defer s.Close()
	environ := p.agentEnv("claude", s)
	s.Play(swarmWorker(func() error {
		_, stderr, code := p.as(environ, "swarm", "message", "beta", "Say hello too.")
		if code != 0 {
			return errors.New(stderr)
		}
		return nil
	})...)
	for _, args := range [][]string{{"init", "plan.yaml", "--verify", "test -f mycelium.yaml", "--allow-program", "test",
		"--retries", "0"},
		{"auto", "--unsafe-program"}} {
		if stdout, stderr, code := p.as(environ, append([]string{"swarm"}, args...)...); code != 0 {
			logs, _, _ := p.as(environ, "swarm", "logs", "alpha")
			t.Fatalf("myc swarm %q: exit %d\n%s%s\nalpha:\n%s", args, code, stdout, stderr, logs)
		}
	}
	if exists(p, "alpha.txt") {
		t.Error("the person's checkout has changed")
	}
	p.worked(s, environ)
	p.heard(environ)
	p.reviewed(s, environ)
	if stdout, stderr, code := p.as(environ, "swarm", "merge", "--sure"); code != 0 {
		t.Fatalf("myc swarm merge: exit %d\n%s%s", code, stdout, stderr)
	}
	for name, want := range map[string]string{"alpha.txt": "alpha\n", "beta.txt": "beta\n", "gamma.txt": "gamma\n", "hello.txt": "hello\n",
		"denied.txt": ""} {
		if got := p.read(name); got != want {
			t.Errorf("%s holds %q, want %q", name, got, want)
		}
	}
	if got := p.git("worktree", "list"); strings.Count(got, "\n") != 1 {
		t.Errorf("worktrees are left:\n%s", got)
	}
	p.must("audit", "verify")
}

// worked looks at what the workers were shown and answered, and at the log of their sessions.
func (p *project) worked(s *fake.Server, environ []string) {
	t := p.t
	folders := map[string]string{}
	for _, r := range s.Turns() {
		if findingsOf(r) != "" {
			continue
		}
		id := featureOf(r)
		if slices.Contains(r.ToolNames(), prefix+"mycelium-router__set_role") {
			t.Errorf("the worker of %s is offered another role", id)
		}
		if strings.Contains(string(r.Raw), "start_worker") { // its role would have it
			t.Errorf("the worker of %s hears of the tools of the swarm", id)
		}
		got := results(r)
		switch r.Step {
		case 1:
			folders[id] = got
		case 3:
			if !strings.HasPrefix(got, "[error=true]") {
				t.Errorf("%s: set_role answers %q", id, got)
			}
			if !strings.Contains(got, `{"score":73}`) {
				t.Errorf("%s: report_confidence answers %q", id, got)
			}
		case 4:
			if !strings.Contains(got, "nothing is touched here") {
				t.Errorf("%s: what is denied answers %q", id, got)
			}
		}
	}
	trees := string(p.state().Root) + "-trees"
	for id, folder := range folders {
		if !strings.Contains(folder, trees) || !strings.Contains(folder, id+"-1") {
			t.Errorf("%s works in %s", id, folder)
		}
	}
	var status struct {
		Features []book.Feature `json:"features"`
	}
	out, stderr, _ := p.as(environ, "swarm", "status", "--json")
	if err := json.Unmarshal([]byte(out), &status); err != nil || len(status.Features) != 3 || len(folders) != 3 {
		t.Fatalf("%v: %s%s; workers in %v", err, out, stderr, folders)
	}
	for _, f := range status.Features {
		a := f.Last()
		if a == nil || len(f.Attempts) != 1 || a.Session == "" || a.Sent != 0 || a.Turns == 0 || a.Result != "done" {
			t.Errorf("%s: %+v", f.ID, a)
			continue
		}
		if said := p.must("swarm", "logs", f.ID); !strings.Contains(said, "mycelium-router__report_confidence") ||
			!strings.Contains(said, `{"score":73}`) { // which is what a report is taken from
			t.Errorf("the events of %s lack its report:\n%s", f.ID, said)
		}
		log := p.must("audit", "query", "--session", a.Session, "--json")
		for _, want := range []string{"feat: " + f.ID, f.ID + ".txt", "touch denied.txt", "no-touch", `"role": "developer"`,
			`"sandbox": "project"`} {
			if !strings.Contains(log, want) {
				t.Errorf("the log of %s lacks %q:\n%s", f.ID, want, log)
			}
		}
		for _, other := range status.Features {
			if other.ID != f.ID && strings.Contains(log, "feat: "+other.ID) {
				t.Errorf("the session of %s has calls of %s", f.ID, other.ID)
			}
		}
	}
}

// reviewed looks at what the reviewers could do, and at what they found.
func (p *project) reviewed(s *fake.Server, environ []string) {
	t := p.t
	t.Helper()
	for _, r := range s.Turns() {
		if findingsOf(r) == "" {
			continue
		}
		got := results(r)
		switch r.Step {
		case 2, 3:
			if !strings.Contains(got, "This session only reads") {
				t.Errorf("a reviewer's change is answered with %q", got)
			}
		case 4:
			if strings.Count(got, "Read-only file system") < 2 || !strings.Contains(got, "feat: gamma") {
				t.Errorf("a reviewer's shell says %q", got)
			}
		case 5:
			if strings.HasPrefix(got, "[error=true]") {
				t.Errorf("a reviewer's findings are answered with %q", got)
			}
		}
	}
	var status struct {
		State   book.State     `json:"state"`
		Reviews []*book.Review `json:"reviews"`
	}
	out, stderr, _ := p.as(environ, "swarm", "status", "--json")
	if err := json.Unmarshal([]byte(out), &status); err != nil || status.State != book.Completed || len(status.Reviews) != 2 {
		t.Fatalf("%v: %s%s", err, out, stderr)
	}
	for _, r := range status.Reviews {
		f := r.Findings
		if r.State != book.Completed || f == nil || f.Severity != book.Minor || len(f.Issues) != 1 || f.Issues[0].File != "alpha.txt" ||
			r.Session == "" || r.Tried != 0 || r.Sent != 0 {
			t.Errorf("the review of the %s is %s, because %q: %+v", r.Type, r.State, r.Reason, f)
			continue
		}
		log := p.must("audit", "query", "--session", r.Session, "--json")
		if !strings.Contains(log, "new.txt") || !strings.Contains(log, `"rule": "session"`) {
			t.Errorf("the log of the reviewer lacks what was refused:\n%s", log)
		}
	}
}

// heard looks for the message in what the worker of beta did, and in what happened.
func (p *project) heard(environ []string) {
	p.t.Helper()
	if out, stderr, _ := p.as(environ, "swarm", "logs", "beta", "--json"); !regexp.MustCompile(`"kind": ?"heard","text": ?"Say hello too."`).
		MatchString(out) {
		p.t.Errorf("beta has not heard it:\n%s%s", out, stderr)
	}
	out, _, _ := p.as(environ, "swarm", "logs")
	for _, want := range []string{"Say hello too.", "workers wait for a limit of the provider until "} {
		if !strings.Contains(out, want) {
			p.t.Errorf("%q is not on record:\n%s", want, out)
		}
	}
}

// TestSwarmUnproved has a Claude Code that reads no settings, so that no hook runs before its tools: nothing is asked of it, and its
// feature fails with what to do.
func TestSwarmUnproved(t *testing.T) {
	path := realAgent(t, "claude")
	_, err := exec.LookPath("tmux")
	needed(t, err, "tmux")
	if !withoutNetwork(t) {
		return
	}
	p := swarmWorld(t)
	s := fake.New(fake.Step{Text: "done"})
	defer s.Close()
	deaf := filepath.Join(p.home, "deaf")
	script := "#!/bin/sh\nn=$#\nwhile [ $n -gt 0 ]; do\n\ta=$1; shift; n=$((n-1))\n" +
		"\tif [ \"$a\" = --settings ]; then shift; n=$((n-1)); else set -- \"$@\" \"$a\"; fi\ndone\nexec '" + path + "' \"$@\"\n"
	if err := errors.Join(os.Mkdir(deaf, 0o700), os.WriteFile(filepath.Join(deaf, "claude"), []byte(script), 0o700)); err != nil {
		t.Fatal(err)
	}
	environ := append(p.agentEnv("claude", s), "PATH="+deaf+":"+os.Getenv("PATH"))
	p.as(environ, "swarm", "init", "--task", "- Add alpha")
	out, stderr, code := p.as(environ, "swarm", "auto", "--unsafe-program")
	if code == 0 || !strings.Contains(out, "not proved that the policy governs it: it ran a command that was denied; myc hook check claude") {
		t.Errorf("exit %d\n%s%s", code, out, stderr)
	}
	if n := len(s.Requests()); n != 0 {
		t.Errorf("the model was asked %d times", n)
	}
}
