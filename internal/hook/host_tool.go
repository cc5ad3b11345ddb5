package hook

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"slices"
	"time"

	"mycelium/internal/approval"
	"mycelium/internal/gate"
	"mycelium/internal/policy"
)

// surface is what the log calls this way to the door.
const surface = "hook"

// Tools of agents whose dialog with a person is the tool itself: our allowing must not answer in the person's place.
const (
	questionTool = "agent__AskUserQuestion"
	planTool     = "agent__ExitPlanMode"
)

// before answers an event that precedes a tool.
func (h *Host) before(ctx context.Context, r *run, e Event) Answer {
	if why := h.haltedBy(r); why != "" {
		e.Fault = "This session is over: " + why + ". Stop now."
		h.decide(ctx, r, e, h.childOf(r, e)) // which refuses and records it
		h.close(r)
		return Answer{Verdict: Deny, Reason: e.Fault, Halt: true}
	}
	key := givenKey(e)
	if e.Kind == Permission && e.Fault == "" {
		if v, ok := h.answered(r, key); ok {
			return h.again(e, v)
		}
	}
	c := h.childOf(r, e)
	stop, message := h.spend(r, e)
	if stop != "" && e.Fault == "" {
		e.Fault = stop // the gate refuses it with this reason, and records it
	}
	a, done := h.asksItsPerson(ctx, r, e)
	if !done {
		a = h.counted(r, e, h.decide(ctx, r, e, c))
	}
	if a.Halt {
		h.close(r)
	}
	if message != "" && a.Message == "" {
		a.Message = message
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(r.given) >= maxGiven {
		clear(r.given)
	}
	r.given[key] = a.Verdict
	return a
}

// givenKey names a call where the agent gives no id: by who calls what with which arguments.
func givenKey(e Event) string {
	sum := sha256.New()
	for _, part := range []string{e.AgentID, e.Tool, string(e.Input)} {
		sum.Write([]byte(part))
		sum.Write([]byte{0})
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// close ends the session of a run that shall end, for the gateway too.
func (h *Host) close(r *run) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !isDone(r.session) {
		h.left = append(h.left, r.session)
	}
}

func (h *Host) haltedBy(r *run) string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return r.halted
}

// answered is what was said of the same call before its permission was asked for.
func (h *Host) answered(r *run, key string) (Verdict, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	v, ok := r.given[key]
	return v, ok
}

// again answers a PermissionRequest for a call that was decided when it was about to run. What the policy asks about is the person's to
// answer, in the agent's own dialog. What it allows is allowed where nobody sits there; else the agent's own rules have a reason to ask.
func (h *Host) again(e Event, v Verdict) Answer {
	switch {
	case v == Deny:
		return Answer{Verdict: Deny, Reason: "Denied by policy."}
	case v == Allow && (h.Mode() == approval.Remote || !e.Interactive):
		return Answer{Verdict: Allow}
	}
	return Answer{Verdict: Pass}
}

// decide takes a call to the gate.
func (h *Host) decide(ctx context.Context, r *run, e Event, c *gate.Child) Answer {
	it, _ := policy.ParseTool(e.Tool) // a name that is none is asked for all the same: the gate records it
	session := h.sessionOf(r)
	thinking := reasoning(e.ownTranscript(), e.ToolUse, true)
	if e.Ours && e.Fault == "" {
		return h.announce(r, session, e, it, gate.Expected{Child: c, Thinking: thinking})
	}
	req := gate.Request{
		Item: it, Asked: e.Tool, Method: "tools/call", Args: e.Input, Surface: surface, Child: c, Dir: e.Dir, Thinking: thinking, Invalid: e.Fault,
		ToolUse: e.ToolUse, Agent: e.Agent, Label: h.labelOf(r), Pane: e.Pane, NoWait: h.mayNotWait(e), Waits: func() func() { return h.waits(r) },
	}
	a, err := h.Gate.Admit(ctx, session, req)
	if err != nil {
		return h.refused(r, e, err)
	}
	if e.Kind == PreTool && e.ToolUse != "" && tellsOutcome(e.Agent) {
		h.keep(r, e.ToolUse, a)
	} else {
		a.Release() // how it ends nobody will say: it stays unfinished in the log
	}
	h.startsChild(r, e, c)
	if e.Tool == questionTool || e.Tool == planTool {
		return Answer{Verdict: Pass}
	}
	return Answer{Verdict: Allow}
}

// tellsOutcome reports whether an agent says how its calls end.
func tellsOutcome(agent string) bool {
	return slices.ContainsFunc(Events(agent), func(name string) bool { return KindOf(agent, name) == PostTool })
}

func (h *Host) sessionOf(r *run) *gate.Session {
	h.mu.Lock()
	defer h.mu.Unlock()
	return r.session
}

// announce allows a call of our own gateway, which decides about it when it comes: as the child that calls, and in one session with this
// run (W4). What the session does not show does not exist.
func (h *Host) announce(r *run, s *gate.Session, e Event, it policy.Item, x gate.Expected) Answer {
	if !h.Gate.Shows(s, x.Child, it) {
		return Answer{Verdict: Deny, Reason: "Unknown tool: " + e.Tool}
	}
	if e.Kind == Permission || e.ToolUse == "" || h.Alone {
		if h.Alone && x.Child != nil {
			return Answer{Verdict: Deny, Reason: "A subagent's call of the gateway needs the daemon, which was not there; try again."}
		}
		if x.Child != nil {
			return Answer{Verdict: Deny, Reason: "A subagent's call without an id cannot be told from its parent's, so it is denied."}
		}
		return Answer{Verdict: Allow}
	}
	x.Came = func(client *gate.Session) { h.share(r, client) }
	if !h.Gate.Expect(s, e.ToolUse, x) {
		return Answer{Verdict: Deny, Reason: "Too many calls of this session are under way; try again when some of them have ended."}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	r.awaited[e.ToolUse] = s
	return Answer{Verdict: Allow}
}

// share makes a run without a token and the MCP client of the same agent one session: that of the client, which hears of changes. It
// must be no wider than the run's own: the id of a call selects it, and authorizes nothing.
func (h *Host) share(r *run, client *gate.Session) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !r.own || r.session == client || h.runs[r.key] != r {
		return
	}
	mine := r.session.Scope().Principal.Roles
	p := client.Scope().Principal
	for _, role := range append([]string{p.Role}, p.Roles...) {
		if role != "" && !slices.Contains(mine, role) {
			return
		}
	}
	h.left = append(h.left, r.session)
	r.session, r.own, r.told = client, false, ""
}

// refused puts a refusal into an answer.
func (h *Host) refused(r *run, e Event, err error) Answer {
	var denied *gate.DeniedError
	if !errors.As(err, &denied) {
		return faulty(e, err)
	}
	d := denied.Decision
	if d.Effect == policy.Ask && e.Interactive && h.mayNotWait(e) {
		h.ring(r)
		return Answer{Verdict: Ask, Reason: because(d)}
	}
	reason := because(d)
	if d.Effect == policy.Ask && h.mayNotWait(e) {
		reason += " (it asks, and nobody sits at this agent's terminal; approval.mode in mycelium.yaml says who else is asked)"
	}
	return Answer{Verdict: Deny, Reason: reason}
}

// because is why the policy decided so, for the agent and its person.
func because(d policy.Decision) string {
	reason := cmp.Or(d.Reason, "This call needs an approval")
	if d.Rule != "" && d.Rule != "request" { // which is no rule that anybody wrote
		reason += " (rule: " + d.Rule + ")"
	}
	return reason
}

// mayNotWait reports whether a question of the policy does not go to the queue.
func (h *Host) mayNotWait(e Event) bool {
	switch h.Mode() {
	case approval.Local:
		return true
	case approval.Remote:
		return false
	default:
		return e.Interactive && !h.Reachable()
	}
}

func (h *Host) labelOf(r *run) string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return r.label
}

// underway is a call of an agent that runs.
type underway struct {
	*gate.Admission
	began time.Time
}

// keep remembers a call that runs until its outcome comes.
func (h *Host) keep(r *run, id string, a *gate.Admission) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if old, again := r.calls[id]; again {
		old.Release() // the agent asks again for the same call
	} else if len(r.calls) >= maxCalls {
		for id, old := range r.calls { // any: whose outcome is this late comes no more
			old.Release()
			delete(r.calls, id)
			break
		}
	}
	r.calls[id] = underway{a, h.Now()}
}

// ended is a call of an agent that has ended.
type ended struct {
	*gate.Admission
	gate.Ending
	transcript, toolUse string
}

// after records how a call ended that was admitted before it. An agent writes its transcript a little after the fact: where the reasoning
// is not there yet, the record waits for the run's next event.
func (h *Host) after(ctx context.Context, r *run, e Event) {
	h.mu.Lock()
	call, ok := r.calls[e.ToolUse]
	awaited := r.awaited[e.ToolUse]
	delete(r.calls, e.ToolUse)
	delete(r.awaited, e.ToolUse)
	again := slices.Contains(r.heard, e.ToolUse)
	r.heard = lastOf(append(r.heard, e.ToolUse), maxCalls)
	h.mu.Unlock()
	if awaited != nil {
		h.Gate.Forget(awaited, e.ToolUse)
	}
	end := ended{Admission: call.Admission, Ending: endingOf(e), transcript: e.ownTranscript(), toolUse: e.ToolUse}
	if !ok {
		if awaited == nil && !again && !e.Ours {
			h.finish(ctx, r, e, end)
		}
		return
	}
	if end.Took <= 0 {
		end.Took = h.Now().Sub(call.began)
	}
	call.Release() // it is not at work any more
	if end.transcript != "" && call.Thinking == nil {
		if end.Thinking = reasoning(end.transcript, end.toolUse, false); end.Thinking == nil && h.later(r, end) {
			return
		}
	}
	end.Ended(ctx, end.Ending)
}

// endingOf is how a call ended, as far as its event says.
func endingOf(e Event) gate.Ending {
	end := gate.Ending{Took: time.Duration(e.DurationMs) * time.Millisecond}
	if e.Failed {
		end.Failed = "the tool reported an error"
		if said := text(e.Response); said != "" {
			end.Failed = bounded(said, maxName)
		}
	}
	return end
}

// finish records how a call ended that this process has not admitted: another process did, or the agent's own terminal asked about it.
func (h *Host) finish(ctx context.Context, r *run, e Event, end ended) {
	end.Thinking = reasoning(end.transcript, end.toolUse, false)
	late := gate.Late{ToolUse: e.ToolUse, Tool: e.Tool, Surface: surface, Asked: e.Interactive, Ending: end.Ending}
	if _, err := h.Gate.Finish(ctx, h.sessionOf(r), late); err != nil {
		h.Logger.Error("how a call ended is not in the audit log", "agent", e.Agent, "tool", e.Tool, "error", err)
	}
}

// later keeps the end of a call until the run's next event. False: too many are kept.
func (h *Host) later(r *run, end ended) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(r.late) >= maxGiven {
		return false
	}
	r.late = append(r.late, end)
	return true
}

// settle records the ends that were kept for a run's next event.
func (h *Host) settle(ctx context.Context, r *run) {
	h.mu.Lock()
	late := r.late
	r.late = nil
	h.mu.Unlock()
	for _, end := range late {
		end.Thinking = reasoning(end.transcript, end.toolUse, false)
		end.Ended(ctx, end.Ending)
	}
}
