package hook

import (
	"cmp"
	"slices"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"mycelium/internal/gate"
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
	gate.Child
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

// startsChild notes the roles that a call gives to the subagent that it starts. by is the subagent that makes the call: what it may not
// do, a child of its may not do either.
func (h *Host) startsChild(r *run, e Event, by *gate.Child) {
	if e.Tool != childTool || e.ToolUse == "" {
		return
	}
	in := taskOf(e.Input)
	s := starting{kind: in.Kind, roles: h.rolesIn(in.Prompt), seen: h.Now()}
	if by != nil {
		s.roles = append(s.roles, by.Roles...)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(r.starting) >= maxChildren {
		oldest := ""
		for id, o := range r.starting {
			if oldest == "" || o.seen.Before(r.starting[oldest].seen) {
				oldest = id
			}
		}
		delete(r.starting, oldest)
	}
	r.starting[e.ToolUse] = s
}

// taskArgs are the arguments of a call that starts a subagent.
type taskArgs struct {
	Prompt string `json:"prompt"`
	Kind   string `json:"subagent_type"`
}

// taskOf reads them; what is not there stays empty.
func taskOf(input jsontext.Value) (in taskArgs) {
	_ = json.Unmarshal(input, &in) // an argument of another kind starts nothing that we know
	return in
}

// rolesIn are the roles that a prompt names.
func (h *Host) rolesIn(prompt string) []string {
	p := h.Gate.World().Policy
	names := p.Roles()
	for _, id := range p.Roles() {
		if v, ok := p.Role(id); ok && v.Name != "" && !slices.Contains(names, v.Name) {
			names = append(names, v.Name)
		}
	}
	return rolesNamed(prompt, names)
}

// childOf is the subagent that an event comes from; nil: the agent itself.
func (h *Host) childOf(r *run, e Event) *gate.Child {
	if e.AgentID == "" {
		return nil
	}
	h.mu.Lock()
	c := r.children[e.AgentID]
	h.mu.Unlock()
	if c == nil || !c.sure {
		c = h.meet(r, e)
	}
	out := c.Child
	return &out
}

// meet works out what a subagent may be, and keeps it: also when it has stopped, since an agent may go on with it.
func (h *Host) meet(r *run, e Event) *child {
	c := &child{Child: gate.Child{ID: e.AgentID, Type: e.AgentType}, seen: h.Now()}
	by := startedBy(e.ofChild(".meta.json"))
	prompt := cmp.Or(promptOf(e.transcript(), by), firstPrompt(e.ofChild(".jsonl")))
	h.mu.Lock()
	defer h.mu.Unlock()
	if s, ok := r.starting[by]; ok {
		c.Roles, c.sure = slices.Clone(s.roles), true
	} else if prompt != "" { // we were not there when it was started
		c.Roles, c.sure = h.rolesIn(prompt), true
	} else {
		for _, s := range r.starting {
			if s.kind == e.AgentType || s.kind == "" {
				c.Roles = append(c.Roles, s.roles...)
			}
		}
	}
	if e.AgentType != "" && h.Gate.IsRole(e.AgentType) {
		c.Roles = append(c.Roles, e.AgentType)
	}
	if len(r.children) >= maxChildren {
		oldest := ""
		for id, o := range r.children {
			if oldest == "" || o.seen.Before(r.children[oldest].seen) {
				oldest = id
			}
		}
		delete(r.children, oldest) // if it comes again it is met again
	}
	r.children[e.AgentID] = c
	return c
}

// childStarts tells a subagent what it is.
func (h *Host) childStarts(r *run, e Event) Answer {
	c := h.childOf(r, e)
	h.mu.Lock()
	known := r.children[e.AgentID]
	sure := known != nil && known.sure
	h.mu.Unlock()
	if c == nil || !sure {
		return Answer{Verdict: Pass} // its role is not known yet
	}
	return Answer{Verdict: Pass, Context: h.Gate.Brief(h.sessionOf(r), c, 0).Header}
}
