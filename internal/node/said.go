package node

import (
	"context"
	"fmt"
	"strings"

	"mycelium/internal/gate"
	"mycelium/internal/gate/control"
	"mycelium/internal/gate/session"
	"mycelium/internal/node/api"
)

// maxTeaching bounds the instructions of the role and of the active skills, in bytes: about 8,000 tokens.
const maxTeaching = 32 << 10

// ourProvider is the provider of models that our agent asks. A role that prefers a model of another one prefers none here.
const ourProvider = "anthropic"

// hear lets the active skills follow what was said, as the hook of another agent does with a prompt, and describes the session. Nothing
// was said with "".
func hear(ctx context.Context, g *gate.Gate, live *session.Session, said string) (api.SaidReply, error) {
	var wanted []string
	if said != "" {
		live.Denied.Store(0) // a person has spoken
		f, err := g.Sessions.Follow(ctx, live, said)
		if err != nil {
			return api.SaidReply{}, fmt.Errorf("activate the skills that were asked for: %w", err)
		}
		wanted = f.Wanted
	}
	b := control.Brief(live, nil, maxTeaching)
	out := api.SaidReply{Session: live.ID, Role: b.Role, Active: b.Active, Brief: strings.TrimSpace(b.Header + "\n\n" + b.Teaching)}
	if len(wanted) > 0 && live.Shows(nil, control.SetSkillsItem()) {
		out.Wanted = control.WantedNote(wanted)
	}
	out.Asks = wanted
	sc := live.Snapshot()
	if r, ok := sc.World.Policy.Role(sc.Scope.Principal.Role); ok && r.Model != nil && (r.Model.Provider == "" ||
		r.Model.Provider == ourProvider) {
		out.Model = r.Model.Model
	}
	return out, nil
}
