package run

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"slices"

	"mycelium/internal/approval"
	"mycelium/internal/credential"
	"mycelium/internal/gate"
	"mycelium/internal/gate/session"
	"mycelium/internal/harness"
	"mycelium/internal/policy"
)

// Surface is the name of the hook in the log.
const Surface = "hook"

// These tools are themselves a dialog of the agent with a person. Our answer must not replace the person's.
const (
	questionTool = "agent__AskUserQuestion"
	planTool     = "agent__ExitPlanMode"
)

// beforeTool answers an event that precedes a tool.
func (g *Registry) beforeTool(ctx context.Context, r *run, e harness.Event) harness.Answer {
	if why := r.haltedBy(); why != "" {
		e.Fault = "This session is over: " + why + ". Stop now."
		g.decide(ctx, r, e, g.childOf(r, e)) // the gate denies the call and records it
		g.closeSession(r)
		return harness.Answer{Verdict: harness.Deny, Reason: credential.Mask(e.Fault), Halt: true}
	}
	if e.Fault == "" && g.Wall != nil {
		e.Fault = unfit(g.Wall(r.gateSession().ID))
	}
	call := callKey(e)
	if e.Kind == harness.Permission && e.Fault == "" {
		if v, ok := decided(ctx, g, r, e); ok {
			a := g.permit(e, v)
			if a.Verdict == harness.Pass {
				g.opens(r, e, nil)
			}
			return a
		}
	}
	c := g.childOf(r, e)
	stop, message := g.checkBudget(r, e)
	if stop != "" && e.Fault == "" {
		e.Fault = stop // the gate denies the call for this reason and records it
	}
	a, done := g.askElsewhere(ctx, r, e)
	if !done {
		a = g.countDenial(r, e, g.decide(ctx, r, e, c))
	}
	if a.Halt {
		g.closeSession(r)
	}
	if message != "" && a.Message == "" {
		a.Message = message
	}
	if a.Verdict == harness.Pass {
		g.opens(r, e, nil)
	}
	r.remember(call, a.Verdict)
	return a
}

// unfit says why an agent may call nothing, by the results of [Options.Wall]; "" if it may.
func unfit(lost, none string) string {
	switch {
	case lost == "":
		return ""
	case none != "":
		return "A file that governs this agent is not as it was when the agent was started, and no wall keeps it, so nothing runs: " + lost +
			". If your person has changed it, myc trust in a terminal of theirs takes it as it is now, and you go on"
	}
	return "The wall around this agent has a hole, so nothing runs: " + lost + ". Your person mends it by ending this agent and " +
		"starting it again"
}

// callKey identifies a call for which the agent gives no id: by the caller, the tool and the arguments.
func callKey(e harness.Event) string {
	sum := sha256.New()
	for _, part := range []string{e.AgentID, e.Tool, string(e.Input)} {
		sum.Write([]byte(part))
		sum.Write([]byte{0})
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// permit answers a PermissionRequest for a call that was decided before. If the policy asks, the person answers in the agent's own
// dialog. If the policy allows and nobody sits at the terminal, the call is allowed. Otherwise the agent has a reason of its own to ask.
func (g *Registry) permit(e harness.Event, v harness.Verdict) harness.Answer {
	switch {
	case v == harness.Deny:
		return harness.Answer{Verdict: harness.Deny, Reason: "Denied by policy."}
	case v == harness.Allow && (elsewhere(g.People, e) || !e.Interactive):
		return harness.Answer{Verdict: harness.Allow}
	}
	return harness.Answer{Verdict: harness.Pass}
}

// decide has the gate decide a call.
func (g *Registry) decide(ctx context.Context, r *run, e harness.Event, c *session.Child) harness.Answer {
	it, _ := policy.ParseTool(e.Tool) // the gate records a malformed name too
	session := r.gateSession()
	thinking := thinkingOf(e.OwnTranscript().Reasoning(e.ToolUse, true))
	if e.Ours && e.Fault == "" {
		why := g.announce(r, session, e, it, gate.Expected{Child: c, Thinking: thinking})
		if why == "" {
			return harness.Answer{Verdict: harness.Allow}
		}
		e.Fault = why // the call does not reach the gateway, so its refusal is recorded here
	}
	e.Fault = cmp.Or(e.Fault, tooDeep(e, session, c))
	req := gate.Request{
		Item: it, Asked: e.Tool, Method: "tools/call", Args: e.Input, Surface: Surface, Child: c, Dir: e.Dir, Thinking: thinking,
		Invalid: e.Fault,
		ToolUse: e.ToolUse, Agent: e.Agent, Label: r.view().Label, Pane: e.Pane, Asks: approval.AskReached, Waits: r.waits,
		Terminal: e.Interactive,
		Abstains: g.Abstains != nil && g.Abstains(it), Within: g.shell.within(session, e), Unbound: g.shell.unbound(session, e),
		Lacked: g.shell.lacked(session, e),
	}
	a, err := g.Gate.Admit(ctx, session, req)
	if err != nil {
		a := g.refused(r, e, err)
		denied := (*gate.DeniedError)(nil)
		if errors.As(err, &denied) {
			var more approval.Lacked
			if denied.Lacked != nil {
				more = *denied.Lacked
				g.shell.settle(session, e, more, false, denied.Settled)
			}
			if a.Verdict == harness.Ask { // the agent's person may say yes
				if closed, err := session.SnapshotFor(c).Closed(); err == nil { // else its shell runs nothing
					g.shell.letAsked(session, e, Where{denied.Decision.Sandbox, denied.Decision.Outside, more, closed})
				}
			}
		}
		if errors.As(err, &denied) && denied.Decision.Unknown && c == nil && g.Abstains == nil { // not outside of a project
			a.Reason += handless(session, it)
		}
		return a
	}
	more, answer := a.Lacked()
	g.shell.settle(session, e, more, true, answer)
	var instead string
	closed, err := session.SnapshotFor(c).Closed()
	if err == nil {
		instead, err = g.shell.letRun(session, e, Where{a.Sandbox(), a.Outside(), more, closed})
	}
	if err != nil {
		a.Release() // nothing runs
		return harness.Answer{Verdict: harness.Deny, Reason: "Mycelium could not let this command run: " +
			credential.Mask(err.Error()) + ". Nothing ran."}
	}
	if agent, _ := harness.Named(e.Agent); e.Kind == harness.PreTool && e.ToolUse != "" && agent.TellsOutcome() {
		r.admit(e.ToolUse, a, g.Now())
	} else {
		a.Release() // the agent does not report how the call ends, so it stays unfinished in the log
	}
	if e.Tool == childTool && e.ToolUse != "" {
		r.startsChild(e.ToolUse, g.startingBy(e, c))
	}
	if e.Tool == questionTool || e.Tool == planTool || a.Abstained() {
		return harness.Answer{Verdict: harness.Pass}
	}
	return harness.Answer{Verdict: harness.Allow, Command: instead}
}

// announce tells the gate to expect a call of our own gateway, or returns why the call must not be made. The gateway decides the call
// when it arrives, as the subagent that makes it, and in the session of this run (W4). An item that the session does not show does not
// exist.
func (g *Registry) announce(r *run, s *session.Session, e harness.Event, it policy.Item, x gate.Expected) (refused string) {
	switch {
	case !s.Shows(x.Child, it):
		return "Unknown tool: " + credential.Mask(e.Tool)
	case g.Alone && x.Child != nil:
		return "A subagent's call of the gateway needs the daemon, which was not there; try again."
	case (e.Kind == harness.Permission || e.ToolUse == "") && x.Child != nil:
		return "A subagent's call without an id cannot be told from its parent's, so it is denied."
	case e.Kind == harness.Permission || e.ToolUse == "" || g.Alone:
		return ""
	}
	x.Came = func(client *session.Session) { g.share(r, client) }
	if !g.Gate.Expect(s, e.ToolUse, x) {
		return "Too many calls of this session are under way; try again when some of them have ended."
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.announced[e.ToolUse] = s
	return ""
}

// share joins the session of a run without a token with that of the agent's MCP client. The client's session stays, because the client is
// notified of changes. It must not have roles that the run lacks: the id of a call selects the session, and authorizes nothing.
func (g *Registry) share(r *run, client *session.Session) {
	g.mu.Lock()
	defer g.mu.Unlock()
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.own || r.session == client || g.runs[r.key] != r {
		return
	}
	mine := r.session.Scope().Principal.Roles
	p := client.Scope().Principal
	for _, role := range append([]string{p.Role}, p.Roles...) {
		if role != "" && !slices.Contains(mine, role) {
			return
		}
	}
	g.unused = append(g.unused, r.session)
	r.session, r.own, r.briefing = client, false, ""
}

// refused turns an error of the gate into an answer.
func (g *Registry) refused(r *run, e harness.Event, err error) harness.Answer {
	var denied *gate.DeniedError
	if !errors.As(err, &denied) {
		return faulty(e, err)
	}
	if denied.AtTerminal {
		g.ring(r, g.opens(r, e, denied.Question))
		r.noteAsked(e, denied.Decision.Rule)
		return harness.Answer{Verdict: harness.Ask, Reason: asking(denied.Decision)}
	}
	return harness.Answer{Verdict: harness.Deny, Reason: because(denied.Decision), Ending: denied.Ending}
}

// because says why the policy decided so, for the agent and its person.
func because(d policy.Decision) string {
	reason := cmp.Or(d.Reason, "This call needs an approval")
	if d.Rule != "" && d.Rule != "request" { // "request" is not a rule that anybody wrote
		reason += " (rule: " + d.Rule + ")"
	}
	return reason
}

// asking says to the person at the agent's own terminal who asks, by which rule, and how to change that.
func asking(d policy.Decision) string {
	return "Mycelium asks: " + because(d) + ". To change that: myc edit rules. What decides: myc policy explain"
}

// Away is the mode auto while it is known that nobody is at the machine, and a chat or a browser that is told is there.
const Away approval.Mode = "away"

// elsewhere reports whether the person of an agent is asked elsewhere about all that its own terminal would ask: the mode says so, or its
// terminal has nobody. An agent without a terminal asks nobody but about calls, as ever: it does not wait when it wants to stop.
func elsewhere(p People, e harness.Event) bool {
	mode := p.Mode()
	return mode == approval.Remote || mode == Away && e.Interactive
}
