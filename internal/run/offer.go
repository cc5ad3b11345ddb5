package run

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"mycelium/internal/approval"
	"mycelium/internal/gate/session"
	"mycelium/internal/harness"
	"mycelium/internal/text"
)

// The dialog of an agent's own terminal offers no "always". So after a yes there, the agent and the status line name the command that keeps
// it.

// Keeper offers to keep what a person allowed.
type Keeper interface {
	// Offer enters a yes at an agent's own terminal among the answers, and says how it is kept. The zero offer: it cannot be.
	Offer(ctx context.Context, r approval.Request, a approval.Answer) (Offer, error)
	// Kept reports whether an approval was kept.
	Kept(ctx context.Context, id string) bool
}

// Offer says how an approval that was given once is kept.
type Offer struct {
	ID    string // of the request
	Words string // what would be allowed
	Past  string // what that would have done
}

// Command is the command with which a person takes the offer.
func (o Offer) Command() string { return "myc approvals keep " + o.ID }

// offerFor is how long a status line shows an offer: long enough for the end of a turn, when the person looks, and no part of the line for
// good.
const offerFor = 15 * time.Minute

// offered is the last offer to the person of a run. The zero value is none.
type offered struct {
	Offer
	tool string
	at   time.Time
}

// offer enters an answer that was given in the dialog of an agent's own terminal, and returns what its model is told about keeping it; ""
// if it cannot be kept. Only the last offer stands in the status line.
func (g *Registry) offer(ctx context.Context, r *run, e harness.Event, asked dialog) string {
	if g.Keep == nil || asked.request == nil {
		return ""
	}
	agent, _ := harness.Named(e.Agent)
	o, err := g.Keep.Offer(ctx, *asked.request, approval.Answer{Allow: true, By: cmp.Or(asked.label, "the person at the terminal"),
		Via: agent.Title + "'s own dialog"})
	if err != nil {
		g.Logger.Error("an answer at an agent's own terminal is not among the answers", "agent", e.Agent, "tool", e.Tool, "error", err)
		return ""
	}
	if o.ID == "" {
		return ""
	}
	r.mu.Lock()
	r.offered = offered{o, e.Tool, g.Now()}
	r.mu.Unlock()
	return fmt.Sprintf("Your person was asked about this call and said yes, once. If they are tired of being asked, tell them that they can "+
		"keep the answer with: %s (it allows %s; %s). Only they can run that, in a terminal of their own.", o.Command(), text.OneLine(o.Words), o.Past)
}

// offerOf is the offer that the status line of a session shows; "" if there is none.
func (g *Registry) offerOf(ctx context.Context, s *session.Session, e harness.Event) string {
	if g.Keep == nil {
		return ""
	}
	for _, r := range g.all() {
		if r.key.agent != e.Agent || r.key.id != e.Session || s != nil && r.gateSession() != s {
			continue
		}
		r.mu.Lock()
		o := r.offered
		r.mu.Unlock()
		if o.ID == "" || g.Now().Sub(o.at) > offerFor {
			return ""
		}
		if g.Keep.Kept(ctx, o.ID) {
			r.mu.Lock()
			r.offered = offered{}
			r.mu.Unlock()
			return ""
		}
		return "to be asked no more: " + o.Command() + " (" + o.Past + ")"
	}
	return ""
}
