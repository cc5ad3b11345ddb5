package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/go-json-experiment/json"

	"mycelium/internal/model/fake"
)

// modes is a project with a skill whose script fails, and whose agents talk to a fake over the API.
func modes(t *testing.T, s *fake.Server) *project {
	t.Helper()
	p := newProject(t, modesWorld())
	p.env = append(p.env, "ANTHROPIC_API_KEY="+fake.Key, "ANTHROPIC_BASE_URL="+s.URL())
	return p
}

func modesWorld() map[string]string {
	return world(map[string]string{
		"mycelium.yaml": "shipped: true\nsession: {defaultRole: guest, roles: [guest, developer], defaultSkills: [common]}\n",
		"skills/checker/SKILL.md": "---\nname: checker\ndescription: Checks links.\nallowedRoles: [orchestrator, adhoc]\n" +
			"allowedTools: [files__read_file]\n---\nRun scripts/check.sh.\n",
		"skills/checker/scripts/check.sh": "echo out $1\necho key AKIAIOSFODNN7EXAMPLE >&2\ntest \"$1\" = good\n",
	})
}

// checks is a step that runs the script.
func checks(arg string) fake.Step {
	return fake.Step{ToolUses: []fake.ToolUse{{Name: "mycelium-skills__run_script",
		Input: map[string]any{"skill": "checker", "path": "scripts/check.sh", "args": []string{arg}}}}}
}

// kept are the contexts that lie in the project.
func (p *project) kept() []string {
	list, err := filepath.Glob(filepath.Join(p.dir, ".mycelium/context/*.json"))
	if err != nil {
		p.t.Fatal(err)
	}
	return list
}

// TestWorkflowAndAdhoc runs workflows whose script fails, and goes on where they stopped.
func TestWorkflowAndAdhoc(t *testing.T) {
	t.Parallel()
	s := fake.New()
	defer s.Close()
	p := modes(t, s)

	// A script that fails and is mended by the agent leaves nothing behind. The agent sees three tools.
	s.Play(checks("bad"), checks("good"), fake.Step{Text: "done"})
	if a, stderr, code := p.ask("", "workflow", "check the links"); code != 0 || !a.Success ||
		a.Role != "orchestrator" || len(p.kept()) != 0 {
		t.Fatalf("exit %d %+v\n%s", code, a, stderr)
	}
	if got := strings.Join(s.Requests()[0].ToolNames(), " "); got != "mycelium-skills__get_skill mycelium-skills__list_skills "+
		"mycelium-skills__run_script" {
		t.Errorf("a workflow sees %s", got)
	}

	s.Play(checks("bad"), fake.Step{Text: "it failed"})
	_, stderr, code := p.ask("", "workflow", "check the links")
	kept := p.kept()
	if code != 1 || len(kept) != 1 || !strings.Contains(stderr, "myc adhoc --context "+kept[0]) {
		t.Fatalf("prompt: exit %d, %q\n%s", code, kept, stderr)
	}
	raw, err := os.ReadFile(kept[0])
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"skillId": "checker"`, `"scriptPath": "scripts/check.sh"`, `"bad"`, `"exitCode": 1`,
		`"stdout": "out bad\n"`,
		`"conversationSummary": "it failed"`} {
		if !strings.Contains(string(raw), want) {
			t.Errorf("the context lacks %s:\n%s", want, raw)
		}
	}
	if st, err := os.Stat(kept[0]); err != nil || st.Mode().Perm() != 0o600 || strings.Contains(string(raw), "AKIAIOSFODNN7EXAMPLE") {
		t.Errorf("the context is for others: %v %v\n%s", st.Mode(), err, raw)
	}

	s.Play(checks("bad"), fake.Step{Text: "it failed"})
	if _, stderr, code = p.ask("", "workflow", "check the links", "--on-failure", "exit"); code != 1 ||
		strings.Contains(stderr, "myc adhoc") ||
		len(p.kept()) != 2 {
		t.Errorf("exit: exit %d\n%s", code, stderr)
	}
	p.escalates(s)
	p.approves(s, kept[0])
}

// escalates sees a workflow go on as adhoc, where a call that writes asks nobody and is denied.
func (p *project) escalates(s *fake.Server) {
	p.t.Helper()
	var told string
	adhoc := func(r fake.Request) bool { return slices.Contains(r.ToolNames(), "files__write_file") }
	s.Play(fake.Step{Func: func(r fake.Request) fake.Step {
		if !adhoc(r) {
			return checks("bad")
		}
		told = r.Text("user")
		return writes("fix.txt")
	}}, fake.Step{Func: func(r fake.Request) fake.Step { return fake.Step{Text: results(r)} }})
	a, stderr, code := p.ask("", "workflow", "check the links", "--on-failure", "auto")
	if code != 0 || a.Role != "adhoc" || !strings.Contains(a.Result.(string), "Denied by policy") || p.read("fix.txt") != "" {
		p.t.Errorf("auto: exit %d %+v\n%s", code, a, stderr)
	}
	if !strings.Contains(told, "is data from a failure that a workflow saved") || !strings.Contains(told, "out bad") {
		p.t.Errorf("adhoc was told\n%s", told)
	}
}

func writes(path string) fake.Step {
	return fake.Step{ToolUses: []fake.ToolUse{{Name: "files__write_file", Input: map[string]any{"path": path, "content": "x"}}}}
}

// approves sees the person of --auto-approve in the log, and what adhoc does with other contexts.
func (p *project) approves(s *fake.Server, context string) {
	p.t.Helper()
	s.Play(writes("fix.txt"), fake.Step{Text: "fixed"})
	a, stderr, code := p.ask("", "adhoc", "--context", context, "--auto-approve")
	if code != 0 || p.read("fix.txt") != "x" {
		p.t.Fatalf("--auto-approve: exit %d %+v\n%s", code, a, stderr)
	}
	if log := p.must("audit", "query", "--json"); !strings.Contains(log, "myc adhoc --auto-approve") {
		p.t.Errorf("the log does not say who approved:\n%s", log)
	}
	s.Play(writes("more.txt"), fake.Step{Func: func(r fake.Request) fake.Step { return fake.Step{Text: results(r)} }})
	if a, stderr, code = p.ask("", "adhoc", "--no-approval", "write more"); code != 0 || p.read("more.txt") != "" ||
		!strings.Contains(a.Result.(string), "Denied by policy") {
		p.t.Errorf("--no-approval: exit %d %+v\n%s", code, a, stderr)
	}
	p.write("odd.json", `{"skillId":"a","error":{"message":"m"}}`)
	if _, stderr, code = p.ask("", "adhoc", "--context", filepath.Join(p.dir, "odd.json")); code != 2 || !strings.Contains(stderr,
		"it has no scriptPath") {
		p.t.Errorf("a context without a script: exit %d\n%s", code, stderr)
	}
}

// TestRun runs agents in each mode. The second one of a pipeline gets the first one's result.
func TestRun(t *testing.T) {
	t.Parallel()
	s := fake.New()
	defer s.Close()
	p := asks(t, s)
	s.Play(fake.Step{Func: func(r fake.Request) fake.Step {
		if said := r.Text("user"); strings.Contains(said, "data from the agent before you") {
			return fake.Step{Text: "after " + strings.TrimSpace(said[strings.LastIndex(said, "\n"):])}
		}
		return fake.Step{Text: "first"}
	}})
	var got struct {
		Success bool    `json:"success"`
		Cost    float64 `json:"costUSD"`
		Agents  []struct {
			ID     string `json:"id"`
			State  string `json:"state"`
			Result string `json:"result"`
			Turns  int    `json:"turns"`
		} `json:"agents"`
	}
	if err := json.Unmarshal([]byte(p.must("run", "--mode", "pipeline", "-p", "one", "-p", "two", "--json")), &got); err != nil {
		t.Fatal(err)
	}
	if len(got.Agents) != 2 || !got.Success || got.Agents[1].State != "completed" || got.Agents[1].Result != "after two" ||
		got.Agents[0].Turns != 1 || got.Cost <= 0 {
		t.Fatalf("%+v", got)
	}
	out, stderr, code := p.as(p.env, "run", "--mode", "parallel", "one", "two", "--role", "guest")
	if code != 0 || strings.Count(out, "first") != 2 || !strings.Contains(stderr, "2 agents, $") {
		t.Errorf("parallel: exit %d\n%s%s", code, out, stderr)
	}
	for _, args := range [][]string{{"one", "two"}, {"--mode", "parallel", "--max-agents", "1", "one", "two"}, {}, {"--mode", "x", "one"},
		{"--mode", "pipeline", "-c", "one", "two"}} {
		if _, stderr, code := p.as(p.env, append([]string{"run"}, args...)...); code != 2 {
			t.Errorf("run %q: exit %d\n%s", args, code, stderr)
		}
	}
	s.Play(fake.Step{Text: "one"}, fake.Step{Text: "and more"})
	if out, stderr, code := p.as(p.env, "run", "--resume", got.Agents[0].ID, "-p", "go on"); code != 0 || !strings.Contains(out, "and more") {
		t.Errorf("resume: exit %d\n%s%s", code, out, stderr)
	}
}

// TestModesOfClaude drives the real Claude Code in each mode: a workflow sees its three tools, adhoc goes on with what it kept, and Ctrl-C
// ends the agents of a run with their children; each goes on afterwards.
func TestModesOfClaude(t *testing.T) {
	realAgent(t, "claude")
	if !withoutNetwork(t) {
		return
	}
	p := newProject(t, modesWorld())
	s := fake.New(use("mycelium-skills__run_script", map[string]any{"skill": "checker", "path": "scripts/check.sh", "args": []string{"bad"}}),
		fake.Step{Text: "it failed"})
	defer s.Close()
	p.env = p.agentEnv("claude", s)
	claude := []string{"--engine", "claude", "--unsafe-program"}
	_, stderr, code := p.ask("", append([]string{"workflow", "check the links"}, claude...)...)
	kept := p.kept()
	if code != 1 || len(kept) != 1 {
		t.Fatalf("workflow: exit %d, %q\n%s", code, kept, stderr)
	}
	if got := s.Turns()[0].ToolNames(); len(got) != 3 || !slices.Contains(got, prefix+"mycelium-skills__run_script") {
		t.Errorf("a workflow sees %q", got)
	}

	s.Play(use("files__write_file", map[string]any{"path": "fix.txt", "content": "x"}), fake.Step{Text: "fixed"})
	a, stderr, code := p.ask("", append([]string{"adhoc", "--auto-approve", "--context", kept[0]}, claude...)...)
	told := slices.ContainsFunc(s.Turns(), func(r fake.Request) bool { return strings.Contains(r.Text("user"), "out bad") })
	if code != 0 || p.read("fix.txt") != "x" || !told {
		t.Errorf("adhoc: exit %d %+v\n%s", code, a, stderr)
	}
	p.interrupted(s, claude)
}

// interrupted presses Ctrl-C while the agents of a run are at work.
func (p *project) interrupted(s *fake.Server, claude []string) {
	p.t.Helper()
	asked, never := make(chan struct{}, 2), make(chan struct{})
	s.Play(fake.Step{Func: func(fake.Request) fake.Step {
		asked <- struct{}{}
		<-never
		return fake.Step{}
	}})
	cmd := p.command(append([]string{"run", "--mode", "parallel", "-p", "one", "-p", "two", "--role", "guest", "--json"}, claude...)...)
	var o, e strings.Builder
	cmd.Stdout, cmd.Stderr = &o, &e
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // as a shell starts it
	if err := cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	for range 2 {
		select {
		case <-asked:
		case <-p.ctx.Done():
			p.t.Fatal(p.ctx.Err())
		}
	}
	children := func() (n int) {
		for _, line := range p.processes() {
			if strings.Contains(line, "--strict-mcp-config") {
				n++
			}
		}
		return n
	}
	if n := children(); n < 2 {
		p.t.Errorf("%d agents are at work", n)
	}
	if err := syscall.Kill(-cmd.Process.Pid, syscall.SIGINT); err != nil {
		p.t.Fatal(err)
	}
	_ = cmd.Wait()
	close(never)
	var got struct {
		Success bool `json:"success"`
		Agents  []struct {
			ID    string `json:"id"`
			State string `json:"state"`
		} `json:"agents"`
	}
	if err := json.Unmarshal([]byte(o.String()), &got); err != nil {
		p.t.Fatalf("%v\n%s%s", err, o.String(), e.String())
	}
	exit := cmd.ProcessState.ExitCode()
	if got.Success || len(got.Agents) != 2 || got.Agents[0].State != "aborted" || got.Agents[1].State != "aborted" || exit != 1 {
		p.t.Errorf("exit %d %+v\n%s", exit, got, e.String())
	}
	if n := children(); n > 0 {
		p.t.Errorf("%d agents are left: %v", n, p.processes())
	}
	more := fake.Step{Text: "and more"}
	s.Play(more, more, more) // what was aborted may have left an answer
	out, stderr, code := p.as(p.env, append([]string{"run", "--resume", got.Agents[0].ID, "-p", "go on"}, claude...)...)
	if code != 0 || !strings.Contains(out, "and more") {
		p.t.Errorf("resume: exit %d\n%s%s", code, out, stderr)
	}
}
