package run

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"mycelium/internal/audit"
	"mycelium/internal/audit/unanswered"
	"mycelium/internal/harness"
)

// TestOutcomeOfACallOfAnotherProcess: without a daemon, each hook is a process of its own, and a daemon may start or die between a call
// and its end. The outcome is recorded once all the same, but not for a call that was denied or not decided.
func TestOutcomeOfACallOfAnotherProcess(t *testing.T) {
	p := coder()
	p.opts.Alone = true
	h := build(t, p)
	next := func() { h.Registry = New(h.Options) } // another process, which knows the past only from the log
	after := func(id, tool string, interactive, failed bool) {
		next()
		h.send(harness.Event{Kind: harness.PostTool, Tool: tool, ToolUse: id, DurationMs: 1234, Interactive: interactive, Failed: failed,
			Response: []byte(`"went wrong"`)})
	}
	h.send(read("t1", "notes.md"))
	after("t1", "agent__Read", false, false)
	after("t1", "agent__Read", false, false) // reported twice
	next()
	h.send(read("t2", "notes.md"))
	after("t2", "agent__Read", false, true)
	h.send(bash("t3", "git push"))
	after("t3", "agent__Bash", true, false) // it was denied
	after("t4", "agent__Read", true, false) // not decided
	h.send(read("t5", "notes.md"))
	after("t5", "agent__Bash", false, false) // not the tool that was decided
	e := bash("t6", "make")
	e.Interactive = true
	if a := h.send(e); a.Verdict != harness.Ask {
		t.Fatalf("%+v", a)
	}
	after("t6", "agent__Bash", false, false) // nobody sits at the terminal, so nobody can have approved
	after("t6", "agent__Bash", true, false)
	next()
	h.Event(t.Context(), nil, harness.Event{Agent: "claude", Session: "another", Kind: harness.PostTool, Tool: "agent__Read", ToolUse: "t5"})
	next()
	h.send(harness.Event{Kind: harness.PostTool, Tool: "agent__Read", ToolUse: "t5", Ours: true}) // the gateway records that itself
	want := `local decision agent__Read allow by reads
local outcome agent__Read ok
local decision agent__Read allow by reads
local outcome agent__Read error
local decision agent__Bash deny by no-push
local decision agent__Read allow by reads
local decision agent__Bash ask
local decision agent__Bash allow
local outcome agent__Bash ok`
	if got := h.said(); got != want {
		t.Errorf("the log says\n%s", got)
	}
	all := h.records()
	for _, pair := range [][2]int{{0, 1}, {2, 3}, {6, 8}} {
		d, o := all[pair[0]], all[pair[1]]
		if d.ID != o.ID || d.Session != o.Session || d.ToolUse != o.ToolUse || strings.Join(d.Skills, " ") != strings.Join(o.Skills, " ") ||
			o.Role != "developer" || o.Server != "agent" || o.Surface != Surface {
			t.Errorf("%+v\nends as\n%+v", d, o)
		}
	}
	if all[3].Error != "went wrong" {
		t.Errorf("%+v", all[3])
	}
}

// TestOneOutcome: entries in two files of an agent's configuration report the same end at the same time, to one daemon or without one.
func TestOneOutcome(t *testing.T) {
	for _, alone := range []bool{false, true} {
		p := coder()
		p.opts.Alone = alone
		h := build(t, p)
		h.send(read("t1", "notes.md"))
		var work sync.WaitGroup
		for range 8 {
			host := h.Registry
			if alone {
				host = New(h.Options)
			}
			work.Go(func() {
				host.Event(t.Context(), nil,
					harness.Event{Agent: "claude", Session: "r1", Kind: harness.PostTool, Tool: "agent__Read", ToolUse: "t1", Dir: h.dir})
			})
		}
		work.Wait()
		outcomes := 0
		for _, r := range h.records() {
			if r.Kind == audit.Outcome {
				outcomes++
			}
		}
		if outcomes != 1 {
			t.Errorf("alone %v: %d outcomes", alone, outcomes)
		}
	}
}

// TestRefusedGatewayCallIsOnRecord: a call of our own gateway that the hook refuses never reaches the gateway, so the hook records it, with
// and without a daemon.
func TestRefusedGatewayCallIsOnRecord(t *testing.T) {
	for _, alone := range []bool{false, true} {
		p := families()
		p.opts.Alone = alone
		h := build(t, p)
		ours := func(id, tool string) harness.Event {
			return harness.Event{Kind: harness.PreTool, Tool: tool, Native: "mcp__mycelium__" + tool, Ours: true, ToolUse: id,
				Input: []byte(`{"path":"x"}`)}
		}
		for _, e := range []harness.Event{ours("m1", "shop__buy"), by(ours("", "files__read_file"), "a1", "guest")} {
			if a := h.send(e); a.Verdict != harness.Deny {
				t.Errorf("alone %v: %+v", alone, a)
			}
		}
		want := "local decision shop__buy deny\nlocal/a1 decision files__read_file deny by request"
		if got := h.said(); got != want {
			t.Errorf("alone %v: the log says\n%s", alone, got)
		}
		for _, r := range h.records() {
			if r.Surface != Surface || string(r.Args) != `{"path":"x"}` || r.Agent != "claude" {
				t.Errorf("alone %v: %+v", alone, r)
			}
		}
	}
}

// TestAnswersAtTheAgentsOwnTerminal: what the agent's own terminal asked was answered by the person there. A call that ran was allowed; one
// that had not run when its agent's turn was over was not.
func TestAnswersAtTheAgentsOwnTerminal(t *testing.T) {
	for _, alone := range []bool{false, true} {
		t.Run(fmt.Sprintf("alone=%v", alone), func(t *testing.T) { answersThere(t, alone) })
	}
}

func answersThere(t *testing.T, alone bool) {
	p := families()
	p.opts.Alone = alone
	h := build(t, p)
	h.Unanswered = func(ctx context.Context, session string) ([]audit.Record, error) {
		return unanswered.Calls(ctx, h.logs, session, Surface)
	}
	send := func(e harness.Event) harness.Answer {
		if alone { // another process, which knows the past only from the log
			h.Registry = New(h.Options)
		}
		return h.send(e)
	}
	ask := func(id, agent string) {
		e := by(bash(id, "make "+id), agent, "")
		e.Interactive = true
		if a := send(e); a.Verdict != harness.Ask {
			t.Fatalf("%s: %+v", id, a)
		}
	}
	ask("yes", "")
	send(harness.Event{Kind: harness.PostTool, Tool: "agent__Bash", ToolUse: "yes", Interactive: true})
	ask("no", "")
	send(harness.Event{Kind: harness.Prompt})
	send(harness.Event{Kind: harness.Stop}) // it is told once
	ask("open", "")
	ask("child", "a1")
	send(harness.Event{Kind: harness.Stop})
	send(harness.Event{Kind: harness.SessionEnd})
	var got []string
	for _, r := range h.records() {
		got = append(got, strings.Join([]string{r.ToolUse, string(r.Kind), r.Effect + r.Outcome, r.DecidedBy}, " "))
	}
	want := `yes decision ask policy
yes decision allow person
yes outcome ok 
no decision ask policy
no decision deny person
open decision ask policy
child decision ask policy
open decision deny person
child decision deny person`
	if said := strings.Join(got, "\n"); said != want {
		t.Errorf("the log says\n%s", said)
	}
}

// TestAnswerIsStillTyped: if a call runs before its dialog was seen to close, as on a busy machine, the log names the person who answered.
func TestAnswerIsStillTyped(t *testing.T) {
	h := build(t, families())
	at := func(e harness.Event) harness.Event {
		e.Tmux, e.Pane, e.Interactive = "/tmp/tmux,1,0", "%0", true
		return e
	}
	h.send(at(bash("yes", "make")))
	synctest.Test(t, func(t *testing.T) {
		h.panes = panes{} // its channels are of this bubble
		open := h.all()[0].openDialogs()
		if len(open) != 1 {
			t.Fatalf("%+v", open)
		}
		r, d, err := h.claim(open[0].request.ID)
		if err != nil {
			t.Fatal(err)
		}
		s := r.view()
		release := h.panes.hold(s.Tmux, s.Pane)
		go h.send(at(harness.Event{Kind: harness.PostTool, Tool: "agent__Bash", ToolUse: "yes"}))
		synctest.Wait()
		r.settled(d, "approved by a person far away", "a person")
		release()
		synctest.Wait()
	})
	all := h.records()
	if len(all) != 3 || all[1].Reason != "approved by a person far away" || all[2].Outcome != "ok" {
		t.Errorf("the log says\n%s\n%+v", h.said(), all)
	}
}

// TestPermissionRequestWithoutADaemon: each event has a process of its own, and a call about which the agent's own terminal asks is
// recorded, and counted by a limit, once. A call with other arguments is decided.
func TestPermissionRequestWithoutADaemon(t *testing.T) {
	p := families()
	p.opts.Alone = true
	h := build(t, p)
	h.Unanswered = func(ctx context.Context, session string) ([]audit.Record, error) {
		return unanswered.Calls(ctx, h.logs, session, Surface)
	}
	send := func(e harness.Event) harness.Verdict {
		h.Registry = New(h.Options)
		e.Interactive = true
		return h.send(e).Verdict
	}
	requested := func(e harness.Event) harness.Event {
		e.Kind, e.ToolUse = harness.Permission, ""
		return e
	}
	if v := send(bash("t1", "make a")); v != harness.Ask {
		t.Fatalf("before the tool: %v", v)
	}
	if v := send(requested(bash("", "make a"))); v != harness.Pass || len(h.records()) != 1 {
		t.Errorf("its permission: %v, and the log says\n%s", v, h.said())
	}
	if v := send(requested(bash("", "make b"))); v != harness.Ask || len(h.records()) != 2 {
		t.Errorf("a call that was not asked about: %v, and the log says\n%s", v, h.said())
	}
	if v := send(requested(by(bash("", "make a"), "a1", ""))); v != harness.Ask || len(h.records()) != 3 {
		t.Errorf("the same of a subagent: %v, and the log says\n%s", v, h.said())
	}
}
