package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"mycelium/internal/gate/session"
	"mycelium/internal/harness"
	"mycelium/internal/model/fake"
	"mycelium/internal/model/fake/faketest"
)

// insideVar marks the copy of a test that runs without a network.
const insideVar = "MYC_E2E_INSIDE"

// withoutNetwork runs a test again in a network namespace that holds nothing but loopback; true in that copy. It is what makes sure
// that Claude Code talks to the scripted API and to nobody else. Further namespaces are added by functions of faketest.
func withoutNetwork(t *testing.T, more ...func(*exec.Cmd)) bool {
	t.Helper()
	if os.Getenv(insideVar) != "" {
		if err := faketest.LoopbackUp(); err != nil {
			t.Fatal(err)
		}
		return true
	}
	t.Parallel()
	program(t) // so that the copy finds it
	// Its parts mostly wait, so as many run at a time as the Makefile has it for the rest.
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.timeout="+copyTimeout(t).String(),
		"-test.run=^"+t.Name()+"$", "-test.v", "-test.count=1", "-test.parallel=4")
	cmd.Env = append(os.Environ(), insideVar+"=1")
	for _, add := range append(more, faketest.NoNetwork) {
		add(cmd)
	}
	out, err := cmd.CombinedOutput()
	if err != nil || !bytes.Contains(out, []byte("--- PASS: "+t.Name())) {
		t.Errorf("the copy without a network: %v\n%s", err, failedParts(string(out)))
	}
	return false
}

// copyTimeout is how long the copy of a test may take: a little less than this process, so that its report is read.
func copyTimeout(t *testing.T) time.Duration {
	end, ok := t.Deadline()
	if !ok {
		return 0 // as long as it likes
	}
	return max(time.Until(end)*9/10, time.Second)
}

// failedParts is what tests said that failed, of the verbose output of a copy: many parts run at the same time, and who reads a failure
// looks for one of them. The whole is returned where no part failed by name: the copy ended otherwise.
func failedParts(out string) string {
	failed := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?m)^\s*--- FAIL: (\S+)`).FindAllStringSubmatch(out, -1) {
		failed[m[1]] = true
	}
	if len(failed) == 0 {
		return out
	}
	var said strings.Builder
	speaks := true // what is printed before any test speaks
	for line := range strings.Lines(out) {
		if fields := strings.Fields(line); len(fields) > 2 && (fields[0] == "===" || fields[0] == "---") {
			name := fields[2]
			speaks = failed[name]
			if fields[1] != "NAME" && fields[1] != "FAIL:" {
				continue
			}
		}
		if speaks {
			_, _ = said.WriteString(line)
		}
	}
	return said.String()
}

func TestFailedParts(t *testing.T) {
	const out = "=== RUN   TestX\n=== RUN   TestX/a\n    x.go:1: a speaks\n=== NAME  TestX/b\n    x.go:2: b is wrong\n" +
		"=== CONT  TestX/a\n    x.go:3: a again\n--- FAIL: TestX (1.00s)\n    --- PASS: TestX/a (1.00s)\n    --- FAIL: TestX/b (1.00s)\n"
	got := failedParts(out)
	if strings.Contains(got, "a speaks") || strings.Contains(got, "a again") || !strings.Contains(got, "b is wrong") {
		t.Errorf("%s", got)
	}
	if died := "=== RUN   TestX\npanic: why\n"; failedParts(died) != died {
		t.Error("a copy that died says nothing")
	}
}

// claude finds Claude Code, or skips.
func claude(t *testing.T) string {
	t.Helper()
	path, err := faketest.Find("../..", "claude")
	needed(t, err, "Claude Code")
	return path
}

// scripted is Claude Code, and the environment in which it talks to a fake.
func (p *project) scripted(s *fake.Server) (path string, environ []string, err error) {
	p.t.Helper()
	agent, _ := harness.Named("claude")
	environ, err = agent.Scripted(p.home, s.URL(), fake.Key)
	return claude(p.t), environ, err
}

// agentRun is what Claude Code says of one headless run.
type agentRun struct {
	Subtype string `json:"subtype"`
	IsError bool   `json:"is_error"`
	Result  string `json:"result"`
	Turns   int    `json:"num_turns"`
}

// server is an entry of an MCP configuration.
type server map[string]any

// through is `myc mcp` with a pipe before and after it, which are what an MCP client sees of it.
func (p *project) through(before, after string, mcpArgs ...string) server {
	args := append([]string{"-C", p.dir, "--state", string(p.state().Root), "mcp"}, mcpArgs...)
	return server{"command": "sh", "args": append([]string{"-c", before + ` "$0" "$@" ` + after, p.myc}, args...)}
}

// agent runs Claude Code once in the project with one MCP server, named mycelium. builtin are the tools of its own that it has.
func (p *project) agent(s *fake.Server, mycelium server, builtin string) agentRun {
	p.t.Helper()
	path, environ, err := p.scripted(s)
	if err != nil {
		p.t.Fatal(err)
	}
	config, err := json.Marshal(map[string]any{"mcpServers": map[string]any{"mycelium": mycelium}}, json.Deterministic(true))
	if err != nil {
		p.t.Fatal(err)
	}
	cmd := exec.CommandContext(p.ctx, path, "-p", "--output-format", "json", "--tools", builtin, "--strict-mcp-config", "--mcp-config",
		string(config),
		"--allowedTools", "mcp__mycelium,Bash", "--", "Do what the script says.")
	cmd.Dir = p.dir
	cmd.Env = slices.Concat(environ, []string{"XDG_RUNTIME_DIR=" + filepath.Join(p.home, "run"), noPages, "GORACE=" + os.Getenv("GORACE")})
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		p.t.Fatalf("claude: %v\n%s\n%s", err, out, stderr.Bytes())
	}
	var r agentRun
	if err := json.Unmarshal(out, &r); err != nil {
		p.t.Fatalf("claude wrote no JSON: %v\n%s", err, out)
	}
	return r
}

// prefix is what Claude Code puts before the names of the tools of a server named mycelium.
const prefix = "mcp__mycelium__"

// use is a step in which the model calls one tool of the gateway.
func use(tool string, input map[string]any) fake.Step {
	return fake.Step{ToolUses: []fake.ToolUse{{Name: prefix + tool, Input: input}}}
}

// offered are the tools that Claude Code offers to the model, the control tools and the prefix left out.
func offered(r fake.Request) []string {
	out := []string{}
	for _, name := range r.ToolNames() {
		if name = strings.TrimPrefix(name, prefix); !strings.HasPrefix(name, "mycelium-") {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}

// results are the results of tools in the last message of a request, as the model reads them.
func results(r fake.Request) string {
	var out []string
	for _, b := range r.ToolResults() {
		out = append(out, fmt.Sprintf("[error=%t] %s", b.IsError, b.Text))
	}
	return strings.Join(out, "\n")
}

// agentFile is what the scripted model writes.
var agentFile = map[string]any{"path": "by-claude.txt", "content": "written by the agent\n"}

// TestClaudeCode runs the real Claude Code, headless, with a scripted model and with the gateway as its only MCP server.
func TestClaudeCode(t *testing.T) {
	claude(t)
	if !withoutNetwork(t) {
		return
	}
	t.Run("stdio", func(t *testing.T) {
		p := newProject(t, world(nil))
		in, out := filepath.Join(p.home, "in.jsonl"), filepath.Join(p.home, "out.jsonl")
		switchesRole(p, p.through("tee "+in+" |", "| tee "+out, "--role", "guest", "--may", "developer"))
		lists := strings.Count(readAll(t, in), `"method":"tools/list"`)
		if told := strings.Count(readAll(t, out), "notifications/tools/list_changed"); told != 1 || lists != 2 {
			t.Errorf("%d list_changed were sent and %d lists asked for, want 1 and 2", told, lists)
		}
	})
	t.Run("http", func(t *testing.T) {
		p := newProject(t, world(nil))
		endpoint := p.serve()
		token := p.mint("--role", "guest", "--may", "developer").Token
		switchesRole(p, server{"type": "http", "url": endpoint, "headers": map[string]string{"Authorization": "Bearer " + token}})
	})
	t.Run("hidden", hiddenFromClaude)
	t.Run("fence", fencedClaude)
}

func readAll(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// switchesRole is a run in which the model reads, fails to use two tools that it is not shown, becomes developer, and writes.
func switchesRole(p *project, mycelium server) {
	t := p.t
	steps := []fake.Step{
		use("files__read_file", map[string]any{"path": "notes.md"}),
		use("files__write_file", agentFile),
		use("files__delete_file", map[string]any{"path": "notes.md"}),
		use("mycelium-router__set_role", map[string]any{"role_id": "developer"}),
	}
	// Claude Code lists again when it is told to, beside the conversation: the model does something else until it sees the tool.
	const patience = 60
	for range patience {
		steps = append(steps, fake.Step{Func: func(r fake.Request) fake.Step {
			switch {
			case strings.Contains(results(r), "by-claude.txt"):
				return fake.Step{Text: "done"}
			case slices.Contains(offered(r), "files__write_file"):
				return use("files__write_file", agentFile)
			}
			return use("mycelium-router__get_context", map[string]any{})
		}})
	}
	s := fake.New(steps...)
	defer s.Close()
	if got := p.agent(s, mycelium, ""); got.IsError || got.Result != "done" {
		t.Errorf("Claude Code says %+v", got)
	}
	turns := s.Turns()
	if len(turns) < 6 {
		t.Fatalf("%d turns", len(turns))
	}
	for i, r := range turns[:4] {
		if got := offered(r); !slices.Equal(got, guestToolNames) {
			t.Errorf("turn %d: as guest it is offered %v", i, got)
		}
	}
	last := turns[len(turns)-1]
	if got := offered(last); !slices.Equal(got, developerToolNames) {
		t.Errorf("as developer it is offered %v", got)
	}
	const noSuch = "[error=true] <tool_use_error>Error: No such tool available: " + prefix
	for i, want := range map[int]string{1: "[error=false] The shop sells mushrooms.", 2: noSuch + "files__write_file",
		3: noSuch + "files__delete_file", 4: `[error=false] {"role":"developer"`} {
		if got := results(turns[i]); !strings.HasPrefix(got, want) {
			t.Errorf("turn %d: the model reads %q, want %q", i, got, want)
		}
	}
	if p.read("by-claude.txt") != "written by the agent\n" || p.read("notes.md") == "" {
		t.Errorf("the file holds %q", p.read("by-claude.txt"))
	}
	p.must("audit", "verify")
}

// hiddenFromClaude makes Claude Code send a call of a hidden tool. It sends none that it was not shown, so the tool is shown
// first; then an operator takes the role away, and the announcement is lost on its way (grep -v). The gateway answers the call
// as one of a tool that does not exist.
func hiddenFromClaude(t *testing.T) {
	p := newProject(t, world(nil))
	in, out := filepath.Join(p.home, "in.jsonl"), filepath.Join(p.home, "out.jsonl")
	s := fake.New(
		use("files__write_file", agentFile),
		fake.Step{Func: func(fake.Request) fake.Step {
			var sessions []session.Summary
			p.decode(&sessions, "session", "list")
			if len(sessions) != 1 || sessions[0].Role != "developer" {
				t.Errorf("sessions: %+v", sessions)
				return fake.Step{Text: "no session"}
			}
			p.must("session", "set-role", sessions[0].ID, "guest")
			return use("files__write_file", map[string]any{"path": "late.txt", "content": "late"})
		}},
		use("files__read_file", map[string]any{"path": "notes.md"}),
		fake.Step{Text: "done"},
	)
	defer s.Close()
	lost := "| tee " + out + " | grep --line-buffered -v list_changed"
	if got := p.agent(s, p.through("tee "+in+" |", lost, "--role", "developer", "--may", "guest"), ""); got.IsError || got.Result != "done" {
		t.Errorf("Claude Code says %+v", got)
	}
	turns := s.Turns()
	if len(turns) != 4 {
		t.Fatalf("%d turns", len(turns))
	}
	if got := offered(turns[2]); !slices.Equal(got, developerToolNames) {
		t.Errorf("Claude Code knows of the change: %v", got)
	}
	if !strings.Contains(readAll(t, in), "late.txt") {
		t.Error("the call was not sent")
	}
	if got := readAll(t, out); !strings.Contains(got, `"error":{"code":-32602,"message":"Unknown tool: files__write_file"}`) {
		t.Errorf("the gateway has not said that the tool is unknown: %s", got)
	}
	if got := results(turns[2]); !strings.HasPrefix(got, "[error=true]") || !strings.Contains(got, "Unknown tool: files__write_file") {
		t.Errorf("the model reads %q", got)
	}
	if got := results(turns[3]); !strings.Contains(got, "mushrooms") {
		t.Errorf("a call of a guest's tool after that: %q", got)
	}
	if p.read("by-claude.txt") == "" || p.read("late.txt") != "" {
		t.Errorf("before: %q, after: %q", p.read("by-claude.txt"), p.read("late.txt"))
	}
	if got := p.must("audit", "denials"); !strings.Contains(got, "files__write_file") || !strings.Contains(got, "late.txt") {
		t.Errorf("the denial is not on record: %s", got)
	}
}

// fencedClaude: what an agent starts is not an operator. It gets no role outside session.roles, and mints none.
func fencedClaude(t *testing.T) {
	p := newProject(t, world(nil))
	command := fmt.Sprintf("%s -C %s session new --role admin; echo exit=$?; %[1]s -C %[2]s trust --revoke; echo exit=$?", p.myc, p.dir)
	s := fake.New(
		fake.Step{ToolUses: []fake.ToolUse{{Name: "Bash", Input: map[string]any{"command": command, "description": "mints itself a right"}}}},
		fake.Step{Text: "done"},
	)
	defer s.Close()
	if got := p.agent(s, p.gateway("--role", "admin"), "Bash"); got.IsError ||
		got.Result != "done" {
		t.Errorf("Claude Code says %+v", got)
	}
	turns := s.Turns()
	if len(turns) != 2 || !slices.Equal(offered(turns[0]), []string{"Bash"}) {
		t.Fatalf("%d turns, the first with %v", len(turns), offered(turns[0]))
	}
	got := results(turns[1])
	if strings.Count(got, "exit=3") != 2 || !strings.Contains(got, "mint a session: only a person may do this") ||
		strings.Contains(got, "token ") {
		t.Errorf("the model reads %q", got)
	}
	if !strings.Contains(p.must("tools", "--role", "admin"), "files__delete_file") {
		t.Error("the folder is not trusted any more, or a person is not either")
	}
}

// gateway is the entry of our gateway among the servers of an agent.
func (p *project) gateway(args ...string) server {
	return server{"command": p.myc, "args": append([]string{"-C", p.dir, "--state", string(p.state().Root), "mcp"}, args...)}
}
