package run

import (
	"cmp"
	"slices"
	"time"

	"mycelium/internal/gate/control"
	"mycelium/internal/gate/session"
	"mycelium/internal/harness"
	"mycelium/internal/policy"
)

// A subagent is a child of the agent's principal: it may do what its session may do, or less, never more. Less, where the prompt that
// started it names a role, or where what it is called is a role's name (B34).
//
// Which call started which subagent an agent does not say in its events, and subagents that are started together do not begin in the
// order of their calls. Claude Code keeps a note of it beside the transcript, which is there before the child's first tool. Where it is
// missing the child has every role that one of the calls which may have started it names: too narrow rather than too wide.

// child is what is known of a subagent.
type child struct {
	session.Child
	sure bool // its roles are those of the call that started it
	seen time.Time
}

// starting is a call that starts a subagent.
type starting struct {
	kind  string // of the subagent
	roles []string
	seen  time.Time
}

// childTool is the agents' tool that starts a subagent.
const childTool = policy.AgentServer + "__Task"

// startingBy is what is known of a call that starts a subagent. by is the subagent that makes the call: what it may not do, a child of
// its may not do either.
func (g *Registry) startingBy(e harness.Event, by *session.Child) starting {
	task := harness.TaskOf(e.Input)
	s := starting{kind: task.Kind, roles: g.rolesIn(task.Prompt), seen: g.Now()}
	if by != nil {
		s.roles = append(s.roles, by.Roles...)
	}
	return s
}

// startsChild notes a call that starts a subagent.
func (r *run) startsChild(toolUse string, s starting) {
	r.mu.Lock()
	defer r.mu.Unlock()
	forgetOldest(r.starting, func(s starting) time.Time { return s.seen })
	r.starting[toolUse] = s
}

// forgetOldest makes room for one more among the subagents of a run.
func forgetOldest[T any](m map[string]T, seen func(T) time.Time) {
	if len(m) < maxChildren {
		return
	}
	oldest := ""
	for id, o := range m {
		if oldest == "" || seen(o).Before(seen(m[oldest])) {
			oldest = id
		}
	}
	delete(m, oldest)
}

// rolesIn are the roles that a prompt names.
func (g *Registry) rolesIn(prompt string) []string {
	p := g.Gate.World().Policy
	names := p.Roles()
	for _, id := range p.Roles() {
		if v, ok := p.Role(id); ok && v.Name != "" && !slices.Contains(names, v.Name) {
			names = append(names, v.Name)
		}
	}
	return rolesNamed(prompt, names)
}

// childOf is the subagent that an event comes from; nil: the agent itself.
func (g *Registry) childOf(r *run, e harness.Event) *session.Child {
	if e.AgentID == "" {
		return nil
	}
	c, ok := r.child(e.AgentID)
	if !ok || !c.sure {
		c = g.identify(r, e)
	}
	return &c.Child
}

// child is what is known of a subagent.
func (r *run) child(id string) (child, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if c := r.children[id]; c != nil {
		return *c, true
	}
	return child{}, false
}

// identify works out what a subagent may be, and keeps it: also when it has stopped, since an agent may go on with it.
func (g *Registry) identify(r *run, e harness.Event) child {
	c := child{Child: session.Child{ID: e.AgentID, Type: e.AgentType}, seen: g.Now()}
	by := e.StartedBy()
	prompt := cmp.Or(e.RunTranscript().Prompt(by), e.ChildTranscript().FirstPrompt())
	named := g.rolesIn(prompt)
	r.mu.Lock()
	defer r.mu.Unlock()
	if s, ok := r.starting[by]; ok {
		c.Roles, c.sure = slices.Clone(s.roles), true
	} else if prompt != "" { // we were not there when it was started
		c.Roles, c.sure = named, true
	} else {
		for _, s := range r.starting {
			if s.kind == e.AgentType || s.kind == "" {
				c.Roles = append(c.Roles, s.roles...)
			}
		}
	}
	if _, known := g.Gate.World().Policy.Role(e.AgentType); known && e.AgentType != "" {
		c.Roles = append(c.Roles, e.AgentType)
	}
	forgetOldest(r.children, func(c *child) time.Time { return c.seen }) // if it comes again it is identified again
	r.children[e.AgentID] = &c
	return c
}

// briefChild tells a subagent what it is.
func (g *Registry) briefChild(r *run, e harness.Event) harness.Answer {
	c := g.childOf(r, e)
	known, _ := r.child(e.AgentID)
	if c == nil || !known.sure {
		return harness.Answer{Verdict: harness.Pass} // its role is not known yet
	}
	return harness.Answer{Verdict: harness.Pass, Context: control.Brief(r.gateSession(), c, 0).Header}
}
