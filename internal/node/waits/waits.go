// Package waits has what waits for a person in a node besides the calls in the queue, and what is known about those calls: definitions in
// quarantine, skills of servers, files that nobody has accepted, and work of the swarm. A person decides about it here; each decision is
// bound to what was shown, and recorded first.
package waits

import (
	"context"
	"slices"
	"sync"

	"mycelium/internal/approval"
	"mycelium/internal/backend/pin"
	"mycelium/internal/node/acts"
	"mycelium/internal/node/api"
	"mycelium/internal/node/project"
	"mycelium/internal/op"
	"mycelium/internal/state"
	"mycelium/internal/store"
	"mycelium/internal/text"
)

// Desk is what waits in one node.
type Desk struct {
	View   func() *project.View             // in force
	Held   func(name string) []api.HeldItem // definitions in quarantine
	Agents func() []approval.AgentSession   // at work
	Reload func(context.Context) error      // takes what was accepted
	Queue  *approval.Queue
	Acts   acts.Recorder
	DB     *store.DB
	State  state.Paths

	mu    sync.Mutex // guards what follows
	files known      // what was found of the files last
	seen  seenWork   // what waited in the swarm last
}

// List returns what waits. What cannot be looked at is named, and keeps nothing else from being listed.
func (d *Desk) List(ctx context.Context, _ op.Caller, p api.WaitsParams) (r api.WaitsReply, err error) {
	fault := func(err error) {
		if err != nil {
			r.Faults = append(r.Faults, text.Describe(err))
		}
	}
	r.Held = slices.DeleteFunc(d.Held(""), func(h api.HeldItem) bool { return h.KeptOut != nil })
	r.Skills = d.skills()
	r.Files, err = d.waitingFiles()
	fault(err)
	r.Work, err = d.work(ctx)
	fault(err)
	if p.Calls {
		r.About, err = d.about(ctx)
		fault(err)
	}
	if p.Ways != "" {
		q, err := d.Queue.Show(ctx, p.Ways)
		if err == nil {
			r.Ways, err = Ways(ctx, d.View(), q)
		}
		fault(err)
	}
	return r, nil
}

// skills are those that servers serve, and that a person can approve and has not approved as they are.
func (d *Desk) skills() (out []api.WaitingSkill) {
	for _, s := range d.View().Pool.Catalog().Skills {
		if s.State == pin.SkillNew || s.State == pin.SkillChanged {
			out = append(out, api.WaitingSkill{Name: s.Name, Server: s.Server, Description: s.Description, Changed: s.State == pin.SkillChanged})
		}
	}
	return out
}
