package waits

import (
	"cmp"
	"context"
	"slices"

	"mycelium/internal/approval"
	"mycelium/internal/config/rules"
	"mycelium/internal/node/api"
	"mycelium/internal/node/project"
	"mycelium/internal/policy"
)

// mostBefore bounds the earlier answers that are told of a call, and lookedAt among how many they are looked for.
const (
	mostBefore = 5
	lookedAt   = 500
)

// Ways returns what a call that waits can be approved as, besides the call itself: which rules refuse part of it all the same, and what
// its rule would have allowed of the calls on record.
func Ways(ctx context.Context, v *project.View, r approval.Request) ([]api.Way, error) {
	list := approval.Candidates(r)
	if r.State != approval.Pending || len(list) < 2 {
		return nil, nil
	}
	return WaysOf(ctx, v, list[1:])
}

// WaysOf says of each candidate what [Ways] says.
func WaysOf(ctx context.Context, v *project.View, list []approval.Candidate) ([]api.Way, error) {
	o, err := v.Project.AuditLog()
	if err != nil {
		return nil, err
	}
	written := make([]policy.Rule, len(list))
	for i, c := range list {
		written[i] = c.Rule
	}
	past, err := rules.PastOf(ctx, o, v.Policy, written)
	if err != nil {
		return nil, err
	}
	out := make([]api.Way, len(list))
	for i, c := range list {
		out[i] = api.Way{As: c.As, Words: c.Words, Except: approval.Refusing(v.Policy, c), Past: past[i].String()}
	}
	return out, nil
}

// about says what is known about each call that waits.
func (d *Desk) about(ctx context.Context) (map[string]api.AboutCall, error) {
	list, err := d.Queue.List(ctx)
	if err != nil || len(list) == 0 {
		return nil, err
	}
	settled, err := d.Queue.Answered(ctx, lookedAt)
	places, agents, out := placesOf(d.View().Policy), d.Agents(), map[string]api.AboutCall{}
	for _, r := range list {
		a := api.AboutCall{Before: before(&r, settled)}
		at := places[r.Rule]
		a.File, a.Line = at.File, at.Line
		if i := slices.IndexFunc(agents, func(s approval.AgentSession) bool { return s.Session == r.Session && s.Task != "" }); i >= 0 {
			a.Task = agents[i].Task
		}
		out[r.ID] = a
	}
	return out, err
}

// placesOf says where each rule of a policy stands, by the name by which requests have it.
func placesOf(p *policy.Policy) map[string]*policy.Rule {
	out := map[string]*policy.Rule{}
	for _, r := range p.CompiledRules() {
		out[r.ID] = r.Rule
	}
	out[""] = &policy.Rule{}
	return out
}

// before returns what people answered to the like of a request: the same tool and the same programs.
func before(r *approval.Request, settled []approval.Request) (out []api.Before) {
	for _, s := range settled {
		if len(out) == mostBefore {
			break
		}
		if s.Kind == approval.Call && r.Kind == approval.Call && s.Tool == r.Tool && slices.Equal(programs(&s), programs(r)) {
			shown, _ := approval.ShowArgs(s)
			out = append(out, api.Before{Answer: *s.Answer, Same: s.Digest == r.Digest, Gist: approval.Short(cmp.Or(shown, s.Tool), 200)})
		}
	}
	return out
}

// programs are those of the parts of a call.
func programs(r *approval.Request) (out []string) {
	for _, p := range r.Facts.Parts {
		out = append(out, p.Program)
	}
	return out
}
