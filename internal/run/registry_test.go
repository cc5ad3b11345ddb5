package run

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"go.uber.org/goleak"

	"mycelium/internal/approval"
	"mycelium/internal/audit"
	"mycelium/internal/gate"
	"mycelium/internal/gate/control"
	"mycelium/internal/gate/session"
	"mycelium/internal/gate/view"
	"mycelium/internal/harness"
	"mycelium/internal/policy"
	"mycelium/internal/skill"
	"mycelium/internal/store"
)

// nobody is a set of backends without any server. The agent itself runs what hooks decide.
type nobody struct{}

func (nobody) Do(context.Context, policy.Scope, string, string, string, []byte, gate.Peer) (result, rpcErr []byte, err error) {
	return []byte(`{"content":[]}`), nil, nil
}

func (nobody) Subscribe(context.Context, string, string, func([]byte)) (stop func(), err error) {
	return nil, errors.New("no")
}
func (nobody) Start(context.Context, []string) error { return nil }

// plan describes the world of a test.
type plan struct {
	tools  []string
	skills []skill.Skill
	roles  []policy.Role
	rules  []policy.Rule
	limits map[string]policy.Limit
	start  []string
	role   string // of a hook without a token
	may    []string
	opts   Options
	people crowd
}

// crowd is the people of a test. A nil function means nobody, or the mode auto.
type crowd struct {
	mode        func() approval.Mode
	reach, chat func() bool
	notices     bool
	bell        func(s approval.AgentSession, on bool)
	tell        func(n approval.Notice)
}

func (c crowd) Mode() approval.Mode {
	if c.mode == nil {
		return approval.Auto
	}
	return c.mode()
}
func (c crowd) Chat() bool { return c.chat != nil && c.chat() }
func (c crowd) who() approval.Reach {
	return approval.Reach{Mode: c.Mode(), Answers: c.reach != nil && c.reach(), Notices: c.notices}
}

func (c crowd) Ring(s approval.AgentSession, on bool) {
	if c.bell != nil {
		c.bell(s, on)
	}
}

func (c crowd) Post(n approval.Notice) {
	if c.tell != nil {
		c.tell(n)
	}
}

// grant returns a skill that grants tools to roles.
func grant(name string, roles []string, tools ...string) skill.Skill {
	return skill.Skill{Grant: policy.Grant{Name: name, AllowedRoles: roles, AllowedTools: tools}, Description: "Does " + name + ".",
		Instructions: "How to " + name + "."}
}

// coder is the usual world: a developer whose Bash asks except for git status, and a guest who reads.
func coder() plan {
	return plan{
		tools: []string{"files__read_file", "files__write_file", "shop__buy"},
		skills: []skill.Skill{
			grant("coding", []string{"developer"}, "agent__Bash", "agent__Edit", "agent__Read", "files__read_file", "files__write_file"),
			grant("looking", []string{"guest", "developer"}, "agent__Read", "files__read_file"),
		},
		rules: []policy.Rule{
			{Name: "no-push", Action: "deny", Tool: policy.Names{"agent__Bash"}, When: `args.command == "git push"`,
				Reason: "not from here"},
			{Name: "reads", Action: "allow", Tool: policy.Names{"agent__Read"}},
		},
		role: "developer", may: []string{"guest"},
	}
}

// house is a registry with all real parts behind it.
type house struct {
	*Registry
	t     *testing.T
	dir   string
	gate  *gate.Gate
	queue *approval.Queue
	logs  audit.Options
}

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func build(t *testing.T, p plan) *house {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	h := &house{t: t, dir: dir}
	h.logs = audit.Options{Dir: filepath.Join(dir, "audit"), Lock: filepath.Join(dir, "audit.lock"), KeyDir: filepath.Join(dir, "key")}
	log, err := audit.Open(h.logs)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = log.Close() })
	db, err := store.Open(t.Context(), "sqlite://"+filepath.Join(dir, "myc.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	defs := control.Definitions()
	for _, name := range p.tools {
		it, _ := policy.ParseTool(name)
		defs = append(defs, policy.Definition{Item: it, Raw: fmt.Appendf(nil, `{"name":%q,"inputSchema":{"type":"object"}}`, it.Name)})
	}
	lib := skill.Validate(p.skills, skill.Catalog{Definitions: defs})
	pol, problems := policy.New(policy.Source{
		Catalog: defs, Grants: lib.Grants(), Roles: p.roles, Rules: p.rules, Limits: p.limits, Default: p.start, Dir: dir,
		Home: filepath.Join(dir, "home"),
	})
	for _, pr := range problems {
		t.Logf("policy: %+v", pr)
	}
	w := view.World{Policy: pol, Skills: lib, Definitions: defs}
	if h.queue, err = approval.New(t.Context(), approval.Options{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(h.queue.Close)
	h.gate, err = gate.New(gate.Options{
		Backends: nobody{}, Log: log, DB: db, World: w, Dir: dir, Home: filepath.Join(dir, "home"), Now: p.opts.Now, Approvals: h.queue,
		Reach: p.people.who,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(h.gate.Close)
	o := p.opts
	o.Gate, o.Queue, o.People, o.Notices = h.gate, h.queue, p.people, p.people
	o.Spec = func() session.Spec { return session.Spec{Principal: "local", Role: p.role, Roles: p.may} }
	h.Registry = New(o)
	return h
}

// send sends one event of the run "r1" of Claude Code without a token.
func (h *house) send(e harness.Event) harness.Answer {
	h.t.Helper()
	if e.Agent == "" {
		e.Agent = "claude"
	}
	if e.Session == "" {
		e.Session = "r1"
	}
	if e.Dir == "" {
		e.Dir = h.dir
	}
	return h.Event(h.t.Context(), nil, e)
}

// bash returns the event before a command.
func bash(id, command string) harness.Event {
	return harness.Event{Kind: harness.PreTool, Tool: "agent__Bash", ToolUse: id,
		Input: jsontext.Value(fmt.Sprintf(`{"command":%q}`, command))}
}

// read returns the event before a file is read.
func read(id, path string) harness.Event {
	return harness.Event{Kind: harness.PreTool, Tool: "agent__Read", ToolUse: id,
		Input: jsontext.Value(fmt.Sprintf(`{"file_path":%q}`, path))}
}

// records returns the records of calls, oldest first.
func (h *house) records() []audit.Record {
	h.t.Helper()
	var out []audit.Record
	for line, err := range audit.Read(h.t.Context(), h.logs, audit.Position{}, false) {
		if err != nil {
			h.t.Fatal(err)
		}
		if line.Kind == audit.Decided || line.Kind == audit.Outcome {
			out = append(out, line.Record)
		}
	}
	return out
}

// said returns the records of calls in short form.
func (h *house) said() string {
	h.t.Helper()
	var out []string
	for _, r := range h.records() {
		text := fmt.Sprintf("%s %s %s %s", r.Principal, r.Kind, r.Tool, cmp.Or(r.Effect, r.Outcome))
		if r.Rule != "" {
			text += " by " + r.Rule
		}
		out = append(out, text)
	}
	return strings.Join(out, "\n")
}

func TestBeforeAndAfter(t *testing.T) {
	h := build(t, coder())
	if a := h.send(read("t1", "notes.md")); a.Verdict != harness.Allow {
		t.Errorf("reading: %+v", a)
	}
	if a := h.send(harness.Event{Kind: harness.PostTool, Tool: "agent__Read", ToolUse: "t1", DurationMs: 1234}); a.Verdict != harness.Pass {
		t.Errorf("after it: %+v", a)
	}
	if a := h.send(bash("t2", "git push")); a.Verdict != harness.Deny || a.Reason != "not from here (rule: no-push)" {
		t.Errorf("git push: %+v", a)
	}
	hidden, absent := harness.Event{Kind: harness.PreTool, Tool: "shop__buy", ToolUse: "t3"},
		harness.Event{Kind: harness.PreTool, Tool: "shop__bux", ToolUse: "t4"}
	if x, y := h.send(hidden), h.send(absent); x.Verdict != harness.Deny || strings.ReplaceAll(x.Reason, "buy", "bux") != y.Reason {
		t.Errorf("a hidden tool: %+v, an absent one: %+v", x, y)
	}
	e := bash("t5", "make")
	e.Interactive = true
	if a := h.send(e); a.Verdict != harness.Ask {
		t.Errorf("ask, at a terminal: %+v", a)
	} else if !strings.HasPrefix(a.Reason, "Mycelium asks: ") || !strings.Contains(a.Reason, "No rule allows it") ||
		!strings.Contains(a.Reason, "myc edit rules") {
		t.Errorf("the prompt must say who asks, the rule and how to change it: %q", a.Reason)
	}
	got := h.Sessions()
	if len(got) != 1 || got[0].State != approval.PermissionPending || got[0].Label != filepath.Base(h.dir) || got[0].Role != "developer" ||
		got[0].Agent != "claude" {
		t.Errorf("sessions: %+v", got)
	}
	h.send(harness.Event{Kind: harness.Stop})
	if got := h.Sessions(); len(got) != 1 || got[0].State != approval.Idle || h.Busy() {
		t.Errorf("after a stop: %+v", got)
	}
	h.send(harness.Event{Kind: harness.SessionEnd})
	if got := h.Sessions(); len(got) != 0 {
		t.Errorf("after the end: %+v", got)
	}
	infos, err := h.gate.Sessions.List(t.Context())
	if err != nil || len(infos) != 0 {
		t.Errorf("the gate still has %+v, %v", infos, err)
	}
	want := `local decision agent__Read allow by reads
local outcome agent__Read ok
local decision agent__Bash deny by no-push
local decision shop__buy deny
local decision shop__bux deny
local decision agent__Bash ask
local decision agent__Bash deny` // it had not run when the turn was over
	if got := h.said(); got != want {
		t.Errorf("the log says\n%s", got)
	}
}
