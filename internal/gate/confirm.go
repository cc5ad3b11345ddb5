package gate

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"

	"mycelium/internal/approval"
	"mycelium/internal/gate/session"
	"mycelium/internal/gate/view"
	"mycelium/internal/policy"
)

// confirmRule is the rule of the question whether skills may be activated, in the log.
const confirmRule = "session.promotion"

// confirm asks people whether an agent may activate skills, if the mode of promotion is confirm (decision 8), and returns those that
// it may. It does not ask about skills that are active, or that are not the agent's to activate. Its error is for the agent.
func (c *Admission) confirm(ctx context.Context, add []string) ([]string, error) {
	sc := c.session.Snapshot()
	if c.gate.asks == nil || sc.World.PromotionMode() != view.PromoteConfirm {
		return nil, nil
	}
	var want []string
	for _, name := range session.SortedSet(add) {
		if slices.Contains(sc.Open, name) && !slices.Contains(sc.Scope.Skills, name) && !sc.Removed(name) {
			want = append(want, name)
		}
	}
	if len(want) == 0 {
		return nil, nil
	}
	d := policy.Decision{Effect: policy.Ask, Rule: confirmRule, Reason: "The agent wants to activate: " + strings.Join(want, ", ")}
	if err := c.recordDecision(ctx, d); err != nil {
		return nil, c.unrecorded(err)
	}
	c.asked = true
	r := c.question(d)
	args, err := json.Marshal(map[string][]string{"skills": want}, view.Encoding)
	if err != nil {
		return nil, err
	}
	r.Args, r.Digest = args, ""
	r.Digest = r.Sum(args) // of the skills, whatever else the agent wrote
	r.Facts = policy.Facts{}
	answer, err := c.wait(ctx, r)
	if err == nil && answer.By == approval.BySession || c.session.Over(c.gate.now()) {
		err = errSessionOver
	}
	var denied *DeniedError
	switch {
	case err != nil:
		if err = c.unanswered(ctx, d, err); errors.As(err, &denied) {
			return nil, session.Refusal(denied.Decision.Reason)
		}
		return nil, err
	case !answer.Allow:
		c.decidedBy = decidedBy(answer)
		if err := c.recordDecision(ctx, policy.Decision{Rule: d.Rule, Reason: denialText(d, answer)}); err != nil {
			c.gate.logger.Error("a denial is not in the audit log", "call", c.id, "error", err)
		}
		return nil, session.Refusal(denialText(d, answer))
	}
	c.decidedBy = decidedBy(answer)
	if err := c.recordDecision(ctx, allowed(d, approvalText(answer))); err != nil {
		return nil, c.unrecorded(err)
	}
	return want, nil
}
