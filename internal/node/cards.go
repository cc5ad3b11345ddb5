package node

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"mycelium/internal/gate/session"
	"mycelium/internal/node/agentcard"
	"mycelium/internal/node/api"
	"mycelium/internal/node/failure"
)

// byCard completes the spec of a session that an operator mints from an agent card. The card alone decides the role, and the session ends
// with the window of the rule that gave it.
func (s *Sessions) byCard(ctx context.Context, p api.SessionParams, spec *session.Spec) error {
	if p.Role != "" || len(p.May) > 0 {
		return failure.New(failure.Usage, errors.New("a card and a role: the card decides which role the session has"),
			"leave out --role and --may, or --card")
	}
	card, err := agentcard.Parse([]byte(p.Card))
	if err != nil {
		return failure.New(failure.Invalid, fmt.Errorf("agent card: %w", err), "")
	}
	now := time.Now()
	who := s.files.View().Identify(ctx, card, now)
	if who.Role == "" {
		return failure.New(failure.Denied, fmt.Errorf("agent %q is refused: %s", who.Agent, who.Reason),
			"myc policy test -a CARD says what each rule makes of it")
	}
	spec.Role, spec.Roles, spec.Principal = who.Role, nil, who.Principal()
	spec.Name = cmp.Or(p.Name, who.Agent)
	if left := who.Until.Sub(now); !who.Until.IsZero() && left < cmp.Or(spec.TTL, session.DefaultTTL) {
		spec.TTL = left
	}
	return nil
}
