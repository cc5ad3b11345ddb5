package run

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"mycelium/internal/gate/control"
	"mycelium/internal/gate/session"
	"mycelium/internal/harness"
	"mycelium/internal/policy"
)

// A subagent is a child of the agent's principal: it has the rights of its session or fewer. It has fewer if the prompt that started it
// names a role, or if its type is the name of a role (B34).
//
// The events of an agent do not say which call started which subagent, and subagents that are started together need not begin in the
// order of their calls. Claude Code writes a note about it beside the transcript, before the child's first tool call. Without that note,
// the child is restricted by every role that one of the possible calls names: too few rights rather than too many.

// child is what the registry knows of a subagent.
type child struct {
	session.Child
	certain bool // its roles are those of the call that started it
	seen    time.Time
}

// starting is a call that starts a subagent.
type starting struct {
	kind  string // of the subagent
	roles []string
	depth int // of the subagent
	seen  time.Time
}

// childTool is the agents' tool that starts a subagent.
const childTool = policy.AgentServer + "__Task"

// startingBy describes a call that starts a subagent. by is the subagent that makes the call; its restrictions also apply to its
// children.
func (g *Registry) startingBy(e harness.Event, by *session.Child) starting {
	task := harness.TaskOf(e.Input)
	s := starting{kind: task.Kind, roles: g.rolesIn(task.Prompt), depth: 1, seen: g.Now()}
	if by != nil {
		s.roles, s.depth = append(s.roles, by.Roles...), by.Depth+1
	}
	return s
}

// tooDeep says why a subagent may not start another; "": it may.
func tooDeep(e harness.Event, s *session.Session, by *session.Child) string {
	if e.Tool != childTool || s.Depth(by) < session.MaxDepth {
		return ""
	}
	return fmt.Sprintf("subagents start others to a depth of %d, and this one is as deep; do the work here, or leave it to the agent above",
		session.MaxDepth)
}

// startsChild records a call that starts a subagent.
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

// rolesIn returns the roles that a prompt names.
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

// childOf returns the subagent that an event comes from, or nil if it comes from the agent itself.
func (g *Registry) childOf(r *run, e harness.Event) *session.Child {
	if e.AgentID == "" {
		return nil
	}
	c, ok := r.child(e.AgentID)
	if !ok || !c.certain {
		c = g.identify(r, e)
	}
	return &c.Child
}

func (r *run) child(id string) (child, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if c := r.children[id]; c != nil {
		return *c, true
	}
	return child{}, false
}

// identify finds out the roles of a subagent and keeps them. It keeps them also after the subagent has stopped, because an agent may
// resume it.
func (g *Registry) identify(r *run, e harness.Event) child {
	c := child{Child: session.Child{ID: e.AgentID, Type: e.AgentType, Depth: session.MaxDepth}, seen: g.Now()}
	by := e.StartedBy()
	prompt := cmp.Or(e.RunTranscript().Prompt(by), e.ChildTranscript().FirstPrompt())
	named := g.rolesIn(prompt)
	r.mu.Lock()
	defer r.mu.Unlock()
	if s, ok := r.starting[by]; ok {
		c.Roles, c.Depth, c.certain = slices.Clone(s.roles), s.depth, true
	} else if prompt != "" { // the call that started it was not seen
		c.Roles, c.certain = named, true
	} else {
		deepest := 0
		for _, s := range r.starting {
			if s.kind == e.AgentType || s.kind == "" {
				c.Roles, deepest = append(c.Roles, s.roles...), max(deepest, s.depth)
			}
		}
		c.Depth = cmp.Or(deepest, c.Depth) // nobody saw its start: it counts as deep as one may be
	}
	if _, known := g.Gate.World().Policy.Role(e.AgentType); known && e.AgentType != "" {
		c.Roles = append(c.Roles, e.AgentType)
	}
	forgetOldest(r.children, func(c *child) time.Time { return c.seen }) // a forgotten subagent is identified again when it returns
	r.children[e.AgentID] = &c
	return c
}

// briefChild tells a subagent its role.
func (g *Registry) briefChild(r *run, e harness.Event) harness.Answer {
	c := g.childOf(r, e)
	known, _ := r.child(e.AgentID)
	if c == nil || !known.certain {
		return harness.Answer{Verdict: harness.Pass} // its role is not known yet
	}
	return harness.Answer{Verdict: harness.Pass, Context: control.Brief(r.gateSession(), c, 0).Header}
}
