package run

import (
	"context"
	"fmt"
	"mycelium/internal/policy/sign"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"mycelium/internal/approval"
	"mycelium/internal/gate/session"
	"mycelium/internal/harness"
	"mycelium/internal/policy"
)

// mode is the value of approval.mode.
func mode(m approval.Mode) func() approval.Mode { return func() approval.Mode { return m } }

// answering answers every request in the queue with a function, and keeps the requests.
func (h *house) answering(f func(approval.Request) approval.Answer) (seen func() []approval.Request) {
	h.t.Helper()
	ctx, cancel := context.WithCancel(h.t.Context())
	done := make(chan struct{})
	var all []approval.Request
	go func() {
		defer close(done)
		h.queue.Watch(ctx, func(r approval.Request) {
			if r.State != approval.Pending {
				return
			}
			all = append(all, r)
			a := f(r)
			a.By, a.Via, a.Digest = "hana", "telegram", r.Digest
			if _, err := h.queue.Settle(ctx, r.ID, a, sign.None); err != nil {
				h.t.Error(err)
			}
		})
	}()
	stop := func() []approval.Request {
		cancel()
		<-done
		return all
	}
	h.t.Cleanup(func() { stop() })
	return stop
}

func TestWhoIsAsked(t *testing.T) {
	for _, c := range []struct {
		mode      approval.Mode
		at, reach bool // a person sits at the agent's terminal; somebody sees the queue
		notices   bool // somebody is told that a call waits
		want      harness.Verdict
		asked     int
	}{
		{approval.Auto, true, false, false, harness.Ask, 0},
		{approval.Auto, true, true, false, harness.Allow, 1},
		{approval.Auto, true, false, true, harness.Ask, 0},
		{approval.Auto, false, false, false, harness.Deny, 0},
		{approval.Auto, false, false, true, harness.Allow, 1},
		{approval.Auto, false, true, false, harness.Allow, 1},
		{approval.Local, true, true, false, harness.Ask, 0},
		{approval.Local, false, true, true, harness.Deny, 0},
		{approval.Remote, true, false, false, harness.Allow, 1},
		{approval.Remote, false, false, false, harness.Allow, 1},
		{Away, true, true, false, harness.Allow, 1},
		{Away, false, true, false, harness.Allow, 1},
	} {
		p := coder()
		p.people = crowd{mode: mode(c.mode), reach: func() bool { return c.reach }, notices: c.notices}
		h := build(t, p)
		stop := h.answering(func(approval.Request) approval.Answer { return approval.Answer{Allow: true, For: approval.Once} })
		e := bash("t1", "make")
		e.Interactive, e.Pane = c.at, "%3"
		a := h.send(e)
		seen := stop()
		if a.Verdict != c.want || len(seen) != c.asked {
			t.Errorf("%+v: %+v, and %d were asked", c, a, len(seen))
		}
		for _, r := range seen {
			if r.Agent != "claude" || r.Label != filepath.Base(h.dir) || r.Pane != "%3" || r.Tool != "agent__Bash" || r.Surface != "hook" {
				t.Errorf("what is shown: %+v", r)
			}
		}
	}
}

func TestPermissionRequest(t *testing.T) {
	p := coder()
	set := approval.Local
	p.people.mode = func() approval.Mode { return set }
	h := build(t, p)
	for _, c := range []struct {
		before harness.Event
		mode   approval.Mode
		at     bool
		want   harness.Verdict
	}{
		{bash("t1", "make"), approval.Local, true, harness.Pass},     // the policy asks: its own dialog goes on
		{bash("t2", "git push"), approval.Local, true, harness.Deny}, // the policy denies
		{read("t3", "a.md"), approval.Local, true, harness.Pass},     // the agent's own rules ask, and its person is there
		{read("t4", "b.md"), approval.Remote, true, harness.Allow},   // … but is away
		{read("t5", "c.md"), approval.Local, false, harness.Allow},   // … and nobody sits there
		{harness.Event{Kind: harness.PreTool, Tool: "shop__buy", ToolUse: "t6", Input: jsontext.Value(`{}`)}, approval.Local, true,
			harness.Deny},
	} {
		set = c.mode
		c.before.Interactive = c.at
		h.send(c.before)
		n := len(h.records())
		c.before.Kind, c.before.ToolUse = harness.Permission, ""
		if a := h.send(c.before); a.Verdict != c.want {
			t.Errorf("%+v: %+v", c, a)
		}
		if len(h.records()) != n {
			t.Errorf("%s is recorded twice", c.before.Tool)
		}
	}
	set = approval.Local
	e := bash("", "git push") // no earlier decision
	e.Kind = harness.Permission
	e.AgentID = "a1"
	if a := h.send(e); a.Verdict != harness.Deny {
		t.Errorf("a request without a PreToolUse: %+v", a)
	}
	e = bash("", "make")
	e.Kind, e.Interactive, e.AgentID = harness.Permission, true, "a1"
	if a := h.send(e); a.Verdict == harness.Allow {
		t.Errorf("what the policy asks about is allowed: %+v", a)
	}
}

// TestBell: the window of an agent that asks at its own terminal is marked until the agent continues.
func TestBell(t *testing.T) {
	p := coder()
	var rang []string
	p.people = crowd{bell: func(s approval.AgentSession, on bool) { rang = append(rang, fmt.Sprint(s.Pane, " ", on)) }}
	h := build(t, p)
	e := bash("t1", "make")
	e.Interactive, e.Pane = true, "%7"
	h.send(e)
	h.send(harness.Event{Kind: harness.Notification, Text: "Claude needs your permission"})
	if got := h.Sessions(); got[0].State != approval.PermissionPending {
		t.Errorf("while it asks: %+v", got)
	}
	h.send(harness.Event{Kind: harness.PostTool, ToolUse: "t1"})
	h.send(harness.Event{Kind: harness.Notification, Text: "Claude is waiting for your input"})
	if got := h.Sessions(); got[0].State != approval.Idle || h.Busy() {
		t.Errorf("at its prompt: %+v", got)
	}
	if got := strings.Join(rang, ", "); got != "%7 true, %7 false" {
		t.Errorf("the bell: %s", got)
	}
}

// TestPending: a run whose call waits in the queue shows that, and keeps the daemon running.
func TestPending(t *testing.T) {
	p := coder()
	p.people.notices = true
	h := build(t, p)
	var during []approval.AgentSession
	stop := h.answering(func(approval.Request) approval.Answer {
		during = h.Sessions()
		return approval.Answer{Allow: false, Text: "not now"}
	})
	a := h.send(bash("t1", "make"))
	stop()
	if a.Verdict != harness.Deny || !strings.Contains(a.Reason, "not now") {
		t.Errorf("denied: %+v", a)
	}
	if len(during) != 1 || during[0].State != approval.PermissionPending {
		t.Errorf("while it waited: %+v", during)
	}
	if got := h.Sessions(); got[0].State != approval.Active {
		t.Errorf("afterwards: %+v", got)
	}
}

func TestQuestionGoesToPeople(t *testing.T) {
	question := harness.Event{Kind: harness.PreTool, Tool: "agent__AskUserQuestion", ToolUse: "q1", Input: jsontext.Value(
		`{"questions":[{"question":"Which one?","header":"Colour","multiSelect":true,` +
			`"options":[{"label":"red","description":"r"},{"label":"青"}]},{"question":"And?","options":[]}]}`)}
	p := coder()
	p.skills[0].AllowedTools = append(p.skills[0].AllowedTools, "agent__AskUserQuestion")
	p.rules = append(p.rules, policy.Rule{Name: "questions", Action: "allow", Tool: policy.Names{"agent__AskUserQuestion"}})
	p.people.mode = mode(approval.Remote)
	h := build(t, p)
	stop := h.answering(func(approval.Request) approval.Answer {
		return approval.Answer{Allow: true, For: approval.Once, Text: "Colour: 青"}
	})
	a := h.send(question)
	seen := stop()
	if a.Verdict != harness.Deny || !strings.Contains(a.Reason, "Colour: 青") {
		t.Errorf("answered: %+v", a)
	}
	if len(seen) != 1 || seen[0].Kind != approval.Question || len(seen[0].Questions) != 2 || !seen[0].Questions[0].Many ||
		seen[0].Questions[0].Options[1] != "青" {
		t.Errorf("asked: %+v", seen)
	}
	if got := h.records(); len(got) != 1 || got[0].Effect != "deny" || !strings.Contains(got[0].Reason, "hana answered by telegram") {
		t.Errorf("recorded: %+v", got)
	}
	p.people.mode = mode(approval.Local)
	h = build(t, p)
	if a := h.send(question); a.Verdict != harness.Pass {
		t.Errorf("in local mode its own dialog: %+v", a)
	}
}

func TestBriefing(t *testing.T) {
	p := coder()
	p.start = []string{"coding"}
	p.skills = append(p.skills, grant("testing", []string{"developer"}, "files__read_file"))
	p.skills[2].Triggers = []string{"run the tests", "テスト"}
	p.roles = []policy.Role{{ID: "developer", Name: "Developer", Prompt: "You work here."}}
	h := build(t, p)
	a := h.send(harness.Event{Kind: harness.SessionStart, Reason: "startup"})
	for _, want := range []string{"role developer ● [coding]", "denied: no-push", "# Role: Developer", "You work here.", "How to coding."} {
		if !strings.Contains(a.Context, want) {
			t.Errorf("at the start it is not told %q:\n%s", want, a.Context)
		}
	}
	if strings.Contains(a.Context, "How to testing") {
		t.Errorf("it is told of a skill that is not active:\n%s", a.Context)
	}
	if a := h.send(harness.Event{Kind: harness.Prompt, Text: "make it blue"}); a.Context != "" || a.Message != "" {
		t.Errorf("it is told the same again: %+v", a)
	}
	a = h.send(harness.Event{Kind: harness.Prompt, Text: "please run the tests"})
	if !strings.Contains(a.Context, "[coding, testing] (+testing)") || !strings.Contains(a.Context, "How to testing.") ||
		a.Message != "[coding, testing] (+testing)" {
		t.Errorf("a trigger: %+v", a)
	}
	if a := h.send(harness.Event{Kind: harness.Prompt, Text: "テストして"}); a.Context != "" {
		t.Errorf("the same trigger again: %+v", a)
	}
	infos, err := h.gate.Sessions.List(t.Context())
	if err != nil || len(infos) != 1 {
		t.Fatal(infos, err)
	}
	s, err := h.gate.Sessions.Find(t.Context(), infos[0].ID)
	if err != nil {
		t.Fatal(err)
	}
	if err := h.gate.Sessions.SetSkills(t.Context(), s, nil, []string{"testing"}, session.ByOperator); err != nil {
		t.Fatal(err)
	}
	if a := h.send(harness.Event{Kind: harness.Prompt, Text: "go on"}); a.Message != "[coding] (-testing)" ||
		!strings.Contains(a.Context, "[coding] (-testing)") {
		t.Errorf("taken away: %+v", a)
	}
	if a := h.send(harness.Event{Kind: harness.SessionStart, Reason: "compact"}); !strings.Contains(a.Context, "How to coding.") {
		t.Errorf("after it forgot its conversation: %+v", a)
	}
	if a := h.send(harness.Event{Kind: harness.SessionStart, Reason: "resume"}); a.Context != "" {
		t.Errorf("a resumed conversation: %+v", a)
	}
}

func TestStops(t *testing.T) {
	p := coder()
	set, chat := approval.Auto, false
	p.people = crowd{mode: func() approval.Mode { return set }, chat: func() bool { return chat }}
	h := build(t, p)
	stop := func(text string, again bool) harness.Answer {
		t.Helper()
		return h.send(harness.Event{Kind: harness.Stop, Text: text, StopHookActive: again})
	}
	if a := stop("The build failed with an error.", false); !a.Block || !strings.Contains(a.Reason, "different approach") {
		t.Errorf("at an error: %+v", a)
	}
	if a := stop("ビルドに失敗しました。", true); !a.Block {
		t.Errorf("at the next: %+v", a)
	}
	if a := stop("It still fails.", true); a.Block {
		t.Errorf("a third time: %+v", a)
	}
	h.send(harness.Event{Kind: harness.Prompt, Text: "again"})
	if a := stop("It failed.", true); a.Block {
		t.Errorf("another hook keeps it going: %+v", a)
	}
	for _, text := range []string{"I fixed the error.", "All tests pass, no errors.", "Done.", "", "エラーを修正しました。",
		"terror and failover"} {
		if a := stop(text, false); a.Block {
			t.Errorf("%q: %+v", text, a)
		}
	}
	transcript := filepath.Join(h.dir, "r1.jsonl")
	var lines strings.Builder
	for i := range 20 {
		fmt.Fprintf(&lines, `{"type":"assistant","message":{"id":"m%d","role":"assistant",`+
			`"content":[{"type":"text","text":"word %d"},{"type":"tool_use","id":"t%d","name":"Bash"}]}}`+"\n", i, i, i)
	}
	if err := os.WriteFile(transcript, []byte(lines.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	set, chat = approval.Remote, true
	for _, c := range []struct {
		answer approval.Answer
		block  bool
		reason string
	}{
		{approval.Answer{Allow: true, For: approval.Once, Text: "write the docs too"}, true, "write the docs too"},
		{approval.Answer{Allow: true, For: approval.Once}, true, "A person says: go on."},
		{approval.Answer{Allow: false}, false, ""},
	} {
		seen := h.answering(func(approval.Request) approval.Answer { return c.answer })
		a := h.send(harness.Event{Kind: harness.Stop, Text: "All is done. " + strings.Repeat("長", 900), Transcript: transcript})
		asked := seen()
		if a.Block != c.block || a.Reason != c.reason {
			t.Errorf("%+v: %+v", c, a)
		}
		if len(asked) != 1 || asked[0].Kind != approval.Stop || !strings.Contains(asked[0].Text, "word 19") ||
			strings.Contains(asked[0].Text, "word 1\n") ||
			!strings.Contains(asked[0].Text, "Tools: Bash") || strings.Count(asked[0].Text, "長") != 800 {
			t.Errorf("what is shown: %+v", asked)
		}
	}
	if text, err := h.Summary("r1"); err != nil || !strings.HasSuffix(text, "word 19") {
		t.Errorf("summary: %q, %v", text, err)
	}
	if _, err := h.Summary("r9"); err == nil {
		t.Error("a summary of nobody")
	}
}

func TestAbort(t *testing.T) {
	h := build(t, coder())
	h.send(read("t1", "a"))
	if err := h.Abort("r1", "enough"); err != nil {
		t.Fatal(err)
	}
	if s := h.Sessions(); len(s) != 1 || s[0].State != approval.Halted || h.Busy() {
		t.Errorf("people see %+v, busy %v", s, h.Busy())
	}
	if a := h.send(read("t2", "a")); a.Verdict != harness.Deny || !a.Halt || !strings.Contains(a.Reason, "enough") {
		t.Errorf("after it was ended: %+v", a)
	}
	if infos, err := h.gate.Sessions.List(t.Context()); err != nil || len(infos) != 0 {
		t.Errorf("its session lives: %+v, %v", infos, err)
	}
	if a := h.send(read("t3", "a")); a.Verdict != harness.Deny || !a.Halt {
		t.Errorf("once more: %+v", a)
	}
	if got := h.said(); !strings.HasSuffix(got, "local decision agent__Read deny by request\nlocal decision agent__Read deny by session") {
		t.Errorf("the log says\n%s", got)
	}
	if a := h.send(harness.Event{Kind: harness.Stop, Text: "It failed."}); a.Block {
		t.Errorf("it is kept going: %+v", a)
	}
	h.send(harness.Event{Kind: harness.SessionEnd})
	if got := h.Past(); len(got) != 1 || got[0].ID != "r1" {
		t.Errorf("past: %+v", got)
	}
	if err := h.Abort("r1", ""); err == nil {
		t.Error("what is over was ended")
	}
}

// TestIdleEnds: a run without events for hours ends. A run keeps the daemon running only as long as one step can take.
func TestIdleEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := build(t, coder())
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { defer close(done); _ = h.Run(ctx) }()
		h.send(read("t1", "a"))
		if !h.Busy() {
			t.Error("it is not busy while an agent works")
		}
		time.Sleep(busyFor + time.Minute)
		if h.Busy() {
			t.Error("it is busy for an agent that went away")
		}
		time.Sleep(idleEnd)
		synctest.Wait()
		if got := h.Sessions(); len(got) != 0 {
			t.Errorf("left: %+v", got)
		}
		if infos, err := h.gate.Sessions.List(ctx); err != nil || len(infos) != 0 {
			t.Errorf("the gate has %+v, %v", infos, err)
		}
		if a := h.send(read("t2", "a")); a.Verdict != harness.Allow {
			t.Errorf("the next event: %+v", a)
		}
		cancel()
		<-done
	})
}

// TestFailsClosed: a failure in the daemon is a denial before a tool, and a message elsewhere.
func TestFailsClosed(t *testing.T) {
	p := coder()
	h := build(t, p)
	if a := h.send(harness.Event{Kind: harness.PreTool, Fault: "the event cannot be read", Tool: "agent__Read",
		Input: jsontext.Value(`{"file_path":"x"}`)}); a.Verdict != harness.Deny || a.Reason != "the event cannot be read" {
		t.Errorf("a broken event: %+v", a)
	}
	if a := h.send(harness.Event{Kind: harness.Stop, Fault: "odd"}); a.Verdict != harness.Pass || !strings.Contains(a.Message, "odd") {
		t.Errorf("a broken stop: %+v", a)
	}
	if a := h.send(harness.Event{Kind: "", Fault: "no such event"}); a.Verdict != harness.Deny {
		t.Errorf("an unknown event: %+v", a)
	}
	if a := h.send(harness.Event{Kind: "Odd"}); a.Verdict != harness.Deny {
		t.Errorf("a kind that nobody knows: %+v", a)
	}
	p.people.mode = func() approval.Mode { panic("at the disco") }
	h = build(t, p)
	if a := h.send(bash("t1", "make")); a.Verdict != harness.Deny || strings.Contains(a.Reason, "disco") {
		t.Errorf("a panic: %+v", a)
	}
	if a := h.send(harness.Event{Kind: harness.Stop, Text: "x"}); a.Verdict != harness.Pass {
		t.Errorf("a panic at a stop: %+v", a)
	}
	h = build(t, coder())
	h.Spec = func() session.Spec { return session.Spec{Principal: "local", Role: "nobody"} }
	if a := h.send(read("t1", "a")); a.Verdict != harness.Deny {
		t.Errorf("no such role: %+v", a)
	}
	if a := h.send(harness.Event{Kind: harness.Prompt}); a.Verdict != harness.Pass || a.Message == "" {
		t.Errorf("no such role, a prompt: %+v", a)
	}
	late := bash("t2", "make")
	late.Deadline = 1
	h = build(t, coder())
	if a := h.send(late); a.Verdict != harness.Deny {
		t.Errorf("nobody answers in time: %+v", a)
	}
}

// TestBounds: what is kept of an agent is bounded.
func TestBounds(t *testing.T) {
	h := build(t, coder())
	for i := range maxRuns + 3 {
		e := read("t", "a")
		e.Session = fmt.Sprint("run", i)
		h.send(e)
	}
	if n := len(h.Sessions()); n != maxRuns {
		t.Errorf("%d runs are kept", n)
	}
	for i := range maxCalls + 3 {
		h.send(read(fmt.Sprint("t", i), "a"))
	}
	for _, r := range mapValues(h.runs) {
		if len(r.calls) > maxCalls || len(r.verdicts) > maxVerdicts {
			t.Errorf("%d calls, %d answers are kept", len(r.calls), len(r.verdicts))
		}
	}
	if n := len(h.Past()); n != 4 {
		t.Errorf("%d runs are remembered", n)
	}
}

// While nobody is at the machine, the chat is asked when an agent with a terminal wants to stop. A run without one ends by itself.
func TestStopWhileAway(t *testing.T) {
	for _, interactive := range []bool{true, false} {
		p := coder()
		p.people = crowd{mode: mode(Away), chat: func() bool { return true }, reach: func() bool { return true }}
		h := build(t, p)
		stop := h.answering(func(approval.Request) approval.Answer { return approval.Answer{Allow: true, Text: "go on"} })
		a := h.send(harness.Event{Kind: harness.Stop, Text: "It is done.", Interactive: interactive})
		if asked := len(stop()); a.Block != interactive || (asked == 1) != interactive {
			t.Errorf("interactive %v: %+v, %d asked", interactive, a, asked)
		}
	}
}
