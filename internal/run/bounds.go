package run

import (
	"mycelium/internal/approval"
	"mycelium/internal/gate/session"
	"mycelium/internal/harness"
	"mycelium/internal/text"
)

// boundKey identifies a run in the budget and in the count of denials.
func (r *run) boundKey() string { return r.key.agent + " " + r.key.id }

// checkBudget compares what a run has spent with its budget before its next call. stop says why the call is denied; message is for the
// person at the agent.
func (g *Registry) checkBudget(r *run, e harness.Event) (stop, message string) {
	if g.Budget == nil {
		return "", ""
	}
	s := g.Budget.Check(r.boundKey(), e.RunTranscript()) // a subagent spends from the budget of its run
	r.mu.Lock()
	r.cost, r.tokens = s.USD, s.Tokens
	first := s.Stop != "" && !r.overBudget
	r.overBudget = s.Stop != ""
	r.mu.Unlock()
	switch {
	case first:
		g.tell(approval.BudgetAlert, r.view(), 0, s.Stop)
	case s.Warn != "" && s.Stop == "":
		g.tell(approval.BudgetAlert, r.view(), 0, s.Warn)
	}
	return s.Stop, s.Warn
}

// countDenial counts the answer to a call and applies the limits of denials in a row. Two kinds of calls do not count: a call of our own
// gateway, which the gateway decides later, and a call that the agent's own terminal asks about.
func (g *Registry) countDenial(r *run, e harness.Event, a harness.Answer) harness.Answer {
	if a.Verdict == harness.Deny {
		r.mu.Lock()
		r.denials++
		r.mu.Unlock()
	}
	if g.Denials == nil || a.Verdict != harness.Deny && (a.Verdict != harness.Allow || e.Ours) {
		return a
	}
	s := g.Denials.Decided(r.boundKey(), a.Verdict == harness.Allow)
	if s.Advice != "" {
		a.Reason += "\n" + s.Advice
	}
	kind := approval.DenialAlert
	if s.Halt != "" {
		r.halt(s.Halt)
		a.Reason, a.Halt, kind = a.Reason+"\n"+s.Halt, true, approval.Aborted
	}
	if s.Tell != "" {
		g.tell(kind, r.view(), 0, s.Tell+"; the last one: "+e.Tool+": "+text.TruncateRunes(a.Reason, maxName))
	}
	return a
}

// AtGateway says what follows from so many denials in a row at the gateway, and notifies people. It is what a gate's Options.Row wants.
func AtGateway(g *Registry, s *session.Session, tool string, length int, reason string) (advice, halt string) {
	if g.Denials == nil {
		return "", ""
	}
	row := g.Denials.Row(length)
	kind := approval.DenialAlert
	if row.Halt != "" {
		kind = approval.Aborted
	}
	if row.Tell != "" {
		g.tell(kind, approval.AgentSession{ID: s.ID, Agent: s.Name, Label: s.Name}, 0,
			row.Tell+"; the last one: "+tool+": "+text.TruncateRunes(reason, maxName))
	}
	return row.Advice, row.Halt
}

// Charge adds what a sub-agent of a session cost to the budget of the agent at work in the session, if there is one.
func (g *Registry) Charge(s *session.Session, usd float64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, r := range g.runs {
		if g.Budget != nil && r.gateSession() == s {
			g.Budget.Charge(r.boundKey(), usd)
		}
	}
}

// forgetBounds drops what the budget and the count of denials keep of a run that has ended.
func (g *Registry) forgetBounds(r *run) {
	g.Denials.Forget(r.boundKey())
	if g.Budget != nil {
		g.Budget.Forget(r.boundKey())
	}
}
