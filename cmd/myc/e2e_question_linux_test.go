package main

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"mycelium/internal/model/fake"
	"mycelium/internal/transcript"
)

// asks is a project whose agent talks to a fake over the API.
func asks(t *testing.T, s *fake.Server) *project {
	t.Helper()
	p := newProject(t, world(map[string]string{"rules.yaml": "version: 1\nrules:\n  - {name: careful, action: ask, tool: files__write_file, " +
		"match: {path: [{glob: \"**/asks.txt\"}]}}\n"}))
	p.env = append(p.env, "ANTHROPIC_API_KEY="+fake.Key, "ANTHROPIC_BASE_URL="+s.URL())
	return p
}

// answer is what `myc "question" --json` prints.
type answer struct {
	Success bool   `json:"success"`
	Role    string `json:"role"`
	Result  any    `json:"result"`
	Error   string `json:"error"`
	Usage   struct {
		Input  int     `json:"inputTokens"`
		Output int     `json:"outputTokens"`
		Cost   float64 `json:"costUSD"`
	} `json:"usage"`
	ToolsUsed []string `json:"toolsUsed"`
}

// ask asks in the given way, with --json.
func (p *project) ask(in string, args ...string) (a answer, stderr string, code int) {
	p.t.Helper()
	cmd := p.command(append(args, "--json")...)
	var o, e bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(in), &o, &e
	err := cmd.Run()
	if o.Len() > 0 {
		if err := json.Unmarshal(o.Bytes(), &a); err != nil {
			p.t.Fatalf("myc %q printed no JSON: %v\n%s", args, err, o.Bytes())
		}
	}
	if exit, ok := err.(*exec.ExitError); ok {
		code = exit.ExitCode()
	} else if err != nil {
		p.t.Fatal(err)
	}
	return a, e.String(), code
}

// TestQuestion asks the agent in each way that there is: with words, from the input, with a schema; and sees what a script sees of it.
func TestQuestion(t *testing.T) {
	t.Parallel()
	s := fake.New()
	defer s.Close()
	p := asks(t, s)
	p.write("note.txt", "hello\n")
	s.Play(fake.Step{ToolUses: []fake.ToolUse{{Name: "files__read_file", Input: map[string]any{"path": "note.txt"}}}},
		fake.Step{Func: func(r fake.Request) fake.Step { return fake.Step{Text: "it says " + r.ToolResults()[0].Text} }})
	a, stderr, code := p.ask("", "--role", "guest", "what does the note say?")
	if code != 0 || !a.Success || a.Role != "guest" || a.Result != "it says hello\n" || a.Usage.Input != 20 || a.Usage.Output != 10 ||
		a.Usage.Cost <= 0 || len(a.ToolsUsed) != 1 || a.ToolsUsed[0] != "files__read_file" {
		t.Errorf("exit %d %+v\n%s", code, a, stderr)
	}
	if cost := p.must("cost", "--json"); !strings.Contains(cost, `"agent": "myc"`) || !strings.Contains(cost, `"claude-sonnet-5-5": 0.00`) {
		t.Errorf("the cost of the agent: %s", cost)
	}
	s.Play(fake.Step{Func: func(r fake.Request) fake.Step { return fake.Step{Text: r.Text("user")} }})
	if a, _, _ = p.ask("from the input\n", "--role", "guest"); !strings.HasSuffix(fmt.Sprint(a.Result), "from the input") {
		t.Errorf("from the input: %+v", a)
	}
	if a, _, _ = p.ask("and this", "--role", "guest", "look at this", "-"); !strings.HasSuffix(fmt.Sprint(a.Result),
		"look at this\n\nand this") {
		t.Errorf("both: %+v", a)
	}
	schema := filepath.Join(p.home, "schema.json")
	if err := os.WriteFile(schema, []byte(`{"type":"object","required":["n"],"properties":{"n":{"type":"integer"}}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	s.Play(fake.Step{Text: `{"n":"three"}`}, fake.Step{Text: "```json\n{\"n\":3}\n```"})
	if a, stderr, code = p.ask("", "--role", "guest", "--schema", schema, "how many?"); code != 0 || fmt.Sprint(a.Result) != "map[n:3]" {
		t.Errorf("a schema: exit %d %+v\n%s", code, a, stderr)
	}
	s.Play(fake.Step{Text: "no"}, fake.Step{Text: "no"})
	if a, _, code = p.ask("", "--role", "guest", "--schema", schema, "how many?"); code != 1 || a.Success || !strings.Contains(a.Error,
		"JSON value") {
		t.Errorf("an answer that does not fit: exit %d %+v", code, a)
	}
	s.Play(fake.Step{Status: 400, Text: "no"})
	if a, stderr, code = p.ask("", "--role", "guest", "hi there"); code != 1 || a.Success || a.Error == "" || !strings.Contains(stderr,
		"myc: ") {
		t.Errorf("a refusal of the API: exit %d %+v\n%s", code, a, stderr)
	}
	s.Play(fake.Step{ToolUses: []fake.ToolUse{{Name: "files__write_file", Input: map[string]any{"path": "asks.txt", "content": "x"}}}},
		fake.Step{Func: func(r fake.Request) fake.Step { return fake.Step{Text: results(r)} }})
	a, stderr, code = p.ask("", "--role", "developer", "--ask", "deny", "write it please")
	if said := fmt.Sprint(a.Result); code != 0 || !strings.Contains(said, "Denied by policy") || p.read("asks.txt") != "" {
		t.Errorf("nobody is asked: exit %d %s\n%s", code, said, stderr)
	}
	p.unasked()
}

// unasked is what is no question, and what no model answers.
func (p *project) unasked() {
	p.t.Helper()
	for _, c := range []struct {
		args []string
		env  string
		code int
		says string
	}{
		{[]string{"statsu"}, "", 2, "did you mean status?"},
		{[]string{"fix", "the", "test"}, "", 2, `myc "fix the test"`},
		{[]string{"--engine", "x", "hi there"}, "", 2, "neither api nor claude"},
		{[]string{"--resume", "c-nonesuch", "hi there"}, "", 1, "there is no conversation"},
		{[]string{"hi there"}, "ANTHROPIC_API_KEY=", 1, "myc demo --chat"},
	} {
		cmd := p.command(c.args...)
		cmd.Env = append(cmd.Env, c.env, "PATH="+p.home)
		out, err := cmd.CombinedOutput()
		exit, _ := err.(*exec.ExitError)
		if exit == nil || exit.ExitCode() != c.code || !strings.Contains(string(out), c.says) {
			p.t.Errorf("myc %q: %v\n%s", c.args, err, out)
		}
	}
}

// TestQuestionKilled kills the agent in the middle of its turns, at any byte that it shows, and goes on. Nothing that was shown is lost,
// and no tool runs twice. KILLS_OF_AGENT says how often; make soak does it 100 times.
func TestQuestionKilled(t *testing.T) {
	t.Parallel()
	kills := killsOfAgent(5)
	s := fake.New()
	defer s.Close()
	answersAndCalls(s, kills)
	p := asks(t, s)
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0)) //nolint:gosec // chooses where to kill
	var shown []string                       // by each run
	args := []string{"--role", "developer", "work on it"}
	for range kills {
		shown = append(shown, squeeze(p.killAfter(1+random.IntN(300), args...)))
		args = []string{"--continue", "go on please"}
	}
	p.nothingLost(append(shown, squeeze(p.must(args...))))
}

// killsOfAgent is how often an agent is killed: KILLS_OF_AGENT, or else so often.
func killsOfAgent(n int) int {
	if more, err := strconv.Atoi(os.Getenv("KILLS_OF_AGENT")); err == nil {
		return more
	}
	return n
}

// answersAndCalls has the model answer with a sentence and another call, and with a sentence alone each fourth time. It returns the number
// of the last answer, which who reads it puts back.
func answersAndCalls(s *fake.Server, kills int) (answers chan int) {
	answers = make(chan int, 1)
	answers <- 0
	work := fake.Step{Func: func(fake.Request) fake.Step {
		n := <-answers + 1
		answers <- n
		step := fake.Step{Text: fmt.Sprintf("Answer %d is about as long as a sentence of a model is. ", n)}
		if n%4 != 0 {
			step.ToolUses = []fake.ToolUse{{ID: fmt.Sprintf("toolu_%d", n), Name: "files__write_file",
				Input: map[string]any{"path": fmt.Sprintf("f%d.txt", n), "content": "x"}}}
		}
		return step
	}}
	s.Main = func(fake.Request) bool { return true }
	steps := make([]fake.Step, 20*kills+100)
	for i := range steps {
		steps[i] = work
	}
	s.Play(steps...)
	return answers
}

// killAfter runs the agent and kills it when it has shown so many bytes, if it does not end before. It returns what was shown.
func (p *project) killAfter(n int, args ...string) string {
	p.t.Helper()
	cmd := p.command(args...)
	out, err := cmd.StdoutPipe()
	if err != nil {
		p.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	shown := make([]byte, n)
	k, err := io.ReadFull(out, shown)
	if err == nil {
		_ = cmd.Process.Kill()
	}
	rest, _ := io.ReadAll(out) // it may have shown more before it died
	_ = cmd.Wait()
	return string(shown[:k]) + string(rest)
}

// squeeze removes white space: the breaks between answers are the terminal's.
func squeeze(s string) string { return strings.Join(strings.Fields(s), "") }

// nothingLost checks the only conversation against what each run showed, and the log for calls that ran twice.
func (p *project) nothingLost(shown []string) {
	p.t.Helper()
	var kept strings.Builder
	for _, m := range p.onlyTalk().Messages {
		if m.Role == "assistant" {
			kept.WriteString(squeeze(m.Content))
		}
	}
	rest := kept.String()
	for i, run := range shown { // a piece may be kept and not shown: it is kept first
		_, after, ok := strings.Cut(rest, run)
		if !ok {
			p.t.Fatalf("run %d showed what is not kept:\n%s\nkept is:\n%s", i, run, rest)
		}
		rest = after
	}
	p.ranOnce()
}

// onlyTalk is the only conversation of the project.
func (p *project) onlyTalk() (one transcript.Conversation) {
	p.t.Helper()
	var all []transcript.Conversation
	p.decode(&all, "chat", "list")
	if len(all) != 1 {
		p.t.Fatalf("%d conversations", len(all))
	}
	p.decode(&one, "chat", "show", all[0].ID)
	return one
}

// ranOnce checks in the log that calls ran, and none of them twice.
func (p *project) ranOnce() {
	p.t.Helper()
	var calls []struct {
		Tool string `json:"tool"`
		Args struct {
			Path string `json:"path"`
		} `json:"args"`
	}
	p.decode(&calls, "audit", "query")
	ran := map[string]bool{}
	for _, c := range calls {
		if c.Tool == "files__write_file" && ran[c.Args.Path] {
			p.t.Errorf("the call for %s ran twice", c.Args.Path)
		}
		ran[c.Args.Path] = true
	}
	if len(ran) == 0 {
		p.t.Error("no call ran")
	}
}

// TestQuestionOfClaude drives the real Claude Code: its tools are those of the gateway, it shows none of its own to a role that sees
// none, and the conversation goes on.
func TestQuestionOfClaude(t *testing.T) {
	realAgent(t, "claude")
	if !withoutNetwork(t) {
		return
	}
	p := newProject(t, governedWorld())
	p.write("note.txt", "hello\n")
	before := fake.Step{Func: func(r fake.Request) fake.Step { return fake.Step{Text: "before: " + r.Text("assistant")} }}
	steps := []fake.Step{use("files__read_file", map[string]any{"path": "note.txt"}),
		{Func: func(r fake.Request) fake.Step { return fake.Step{Text: "it says " + results(r)} }}}
	for range 12 { // Claude Code may add messages of its own where it goes on
		steps = append(steps, before)
	}
	s := fake.New(steps...)
	defer s.Close()
	p.env = p.agentEnv("claude", s)
	a, stderr, code := p.ask("", "--unsafe-program", "--engine", "claude", "--role", "guest", "what does the note say?")
	if code != 0 || !strings.Contains(fmt.Sprint(a.Result), "hello") || len(a.ToolsUsed) != 1 || a.ToolsUsed[0] != "files__read_file" ||
		a.Usage.Cost <= 0 {
		t.Fatalf("exit %d %+v\n%s", code, a, stderr)
	}
	for _, name := range s.Turns()[0].ToolNames() {
		if !strings.HasPrefix(name, prefix) {
			t.Errorf("a guest's model is offered %s", name)
		}
	}
	if a, stderr, code = p.ask("", "--unsafe-program", "--continue", "and before?"); code != 0 || !strings.Contains(fmt.Sprint(a.Result),
		"it says") {
		t.Errorf("exit %d %+v\n%s", code, a, stderr)
	}
	if list := p.must("chat", "list"); !strings.Contains(list, "what does the note say?") {
		t.Errorf("%s", list)
	}
}
