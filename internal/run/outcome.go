package run

import (
	"context"
	"slices"
	"time"

	"github.com/go-json-experiment/json"

	"mycelium/internal/audit"
	"mycelium/internal/credential"
	"mycelium/internal/gate"
	"mycelium/internal/gate/session"
	"mycelium/internal/harness"
	"mycelium/internal/text"
)

// admitted is a running call of an agent.
type admitted struct {
	*gate.Admission
	began time.Time
}

// admit keeps a running call until its outcome arrives.
func (r *run) admit(id string, a *gate.Admission, now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if old, repeated := r.calls[id]; repeated {
		old.Release() // the agent asks again for the same call
	} else if len(r.calls) >= maxCalls {
		for id, old := range r.calls { // any: an outcome this late does not arrive
			old.Release()
			delete(r.calls, id)
			break
		}
	}
	r.calls[id] = admitted{a, now}
}

// outcome is how a call ended, and where its reasoning is found.
type outcome struct {
	*gate.Admission
	gate.Ending
	transcript harness.Transcript
	toolUse    string
}

// record writes the end of a call into the log, with the reasoning that its transcript has by now.
func (o *outcome) record(ctx context.Context) {
	if o.Thinking == nil {
		o.Thinking = o.reasoning()
	}
	o.Ended(ctx, o.Ending)
}

func (o *outcome) reasoning() *audit.Thinking {
	return thinkingOf(o.transcript.Reasoning(o.toolUse, false))
}

// thinkingOf converts the reasoning of an agent for the log. It is marked as claimed, because it comes from a file of the agent.
func thinkingOf(t *harness.Thought) *audit.Thinking {
	if t == nil {
		return nil
	}
	out := &audit.Thinking{Type: t.Type, Thinking: t.Thinking, Summary: t.Summary, ModelID: t.Model, CapturedAt: t.Time, Claimed: true}
	if t.CacheRead+t.CacheWrite > 0 {
		out.Cache = &audit.CacheUse{ReadTokens: t.CacheRead, CreationTokens: t.CacheWrite}
	}
	return out
}

// afterTool answers the event after a call. asked is the question of the agent's own terminal about it, if there was one.
func (g *Registry) afterTool(ctx context.Context, r *run, e harness.Event, asked dialog) harness.Answer {
	chosen := r.modeChosen(e)
	if g.shell.ignored(r.gateSession(), e) {
		g.recordEnd(ctx, r, e, chosen)
		agent, _ := harness.Named(e.Agent)
		r.halt(agent.Title + " ran its own command and not the one that the hook put in its place, so the command ran outside of the sandbox")
		g.closeSession(r)
		return harness.Answer{Verdict: harness.Pass, Halt: true, Reason: "This session is over: " + r.haltedBy()}
	}
	a := harness.Answer{Verdict: harness.Pass, Message: chosen.message(e)}
	if g.recordEnd(ctx, r, e, chosen) {
		a.Context = g.offer(ctx, r, e, asked)
	}
	return a
}

// recordEnd records the end of a call. It reports whether another process, or the agent's own terminal, had let it run. An agent writes its
// transcript a little later: if the reasoning is not there yet, the record waits for the run's next event.
func (g *Registry) recordEnd(ctx context.Context, r *run, e harness.Event, chosen chosenMode) (foreign bool) {
	call, ok, announcedFor, repeated := r.takeEnded(e.ToolUse)
	if announcedFor != nil {
		g.Gate.Forget(announcedFor, e.ToolUse)
	}
	o := outcome{Admission: call.Admission, Ending: endingOf(e), transcript: e.OwnTranscript(), toolUse: e.ToolUse}
	if !ok {
		if announcedFor == nil && !repeated && !e.Ours {
			return g.recordForeign(ctx, r, e, o, chosen)
		}
		return false
	}
	if o.Took <= 0 {
		o.Took = g.Now().Sub(call.began)
	}
	call.Release()
	if o.transcript != "" && call.Thinking == nil {
		if o.Thinking = o.reasoning(); o.Thinking == nil && r.recordLater(o) {
			return false
		}
	}
	o.Ended(ctx, o.Ending)
	return false
}

// takeEnded removes a call that has ended. announcedFor is the session for which the gate expected the call; repeated reports whether
// the end was reported before.
func (r *run) takeEnded(toolUse string) (call admitted, ok bool, announcedFor *session.Session, repeated bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	call, ok = r.calls[toolUse]
	announcedFor = r.announced[toolUse]
	delete(r.calls, toolUse)
	delete(r.announced, toolUse)
	repeated = slices.Contains(r.reported, toolUse)
	r.reported = lastOf(append(r.reported, toolUse), maxCalls)
	return call, ok, announcedFor, repeated
}

// endingOf returns how a call ended, as its event says.
func endingOf(e harness.Event) gate.Ending {
	end := gate.Ending{Took: time.Duration(e.DurationMs) * time.Millisecond}
	if e.Failed {
		end.Failed = "the tool reported an error"
		var said string
		if len(e.Response) > 0 && json.Unmarshal(e.Response, &said) == nil && said != "" {
			end.Failed = text.TruncateRunes(credential.Mask(said), maxName)
		}
	}
	return end
}

// recordForeign records the end of a call that this process did not admit: another process admitted it, or the agent's own terminal asked
// about it. It reports whether the log says that such a call could run.
func (g *Registry) recordForeign(ctx context.Context, r *run, e harness.Event, o outcome, chosen chosenMode) bool {
	o.Thinking = o.reasoning()
	late := gate.Late{ToolUse: e.ToolUse, Tool: e.Tool, Surface: Surface, Asked: e.Interactive, Mode: chosen.mode, Ending: o.Ending,
		Why: r.answeredBy(e.ToolUse)}
	recorded, err := g.Gate.Finish(ctx, r.gateSession(), late)
	if err != nil {
		g.Logger.Error("the end of a call was not recorded in the audit log", "agent", e.Agent, "tool", e.Tool, "error", err)
	}
	return recorded && err == nil
}

// recordLater keeps the end of a call until the run's next event. It returns false if too many are kept.
func (r *run) recordLater(o outcome) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.late) >= maxLate {
		return false
	}
	r.late = append(r.late, o)
	return true
}

// recordLate records the ends of calls that recordLater kept.
func (r *run) recordLate(ctx context.Context) {
	r.mu.Lock()
	late := r.late
	r.late = nil
	r.mu.Unlock()
	for _, o := range late {
		o.record(ctx)
	}
}

func lastOf[T any](list []T, n int) []T { return list[max(0, len(list)-n):] }
