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

// confirm asks people whether an agent may activate skills, if the mode of promotion is confirm (decision 8), and returns those that
// it may. It does not ask about skills that are active, or that are not the agent's to activate. Its error is for the agent.
func (a *Admission) confirm(ctx context.Context, add []string) ([]string, error) {
	sc := a.session.Snapshot()
	if a.gate.asks == nil || sc.Promotion() != view.PromoteConfirm {
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
	if at := a.where(); at.Place != approval.InQueue {
		return nil, a.unconfirmed(ctx, policy.Decision{Rule: approval.PromotionRule, Reason: "The skills are not activated (" + at.why + ")"})
	}
	d := policy.Decision{Effect: policy.Ask, Rule: approval.PromotionRule, Reason: "The agent wants to activate: " + strings.Join(want, ", ")}
	if err := a.recordDecision(ctx, d); err != nil {
		return nil, a.unrecorded(err)
	}
	a.asked = true
	r := a.question(d)
	args, err := json.Marshal(map[string][]string{"skills": want}, view.Encoding)
	if err != nil {
		return nil, err
	}
	r.Args, r.Digest = args, ""
	r.Digest = r.Sum(args) // of the skills, whatever else the agent wrote
	r.Facts, r.Code = policy.Facts{}, approval.Code{}
	answer, err := a.wait(ctx, r)
	if err == nil && answer.By == approval.BySession || a.session.Over(a.gate.now()) {
		err = errSessionOver
	}
	var denied *DeniedError
	a.refused = err != nil || !answer.Allow
	switch {
	case err != nil:
		if err = a.unanswered(ctx, d, err); errors.As(err, &denied) {
			return nil, session.Refusal(denied.Decision.Reason)
		}
		return nil, err
	case !answer.Allow:
		a.decidedBy = decidedBy(answer)
		return nil, a.unconfirmed(ctx, policy.Decision{Rule: d.Rule, Reason: denialText(d, answer)})
	}
	a.decidedBy = decidedBy(answer)
	if err := a.recordDecision(ctx, allowed(d, approvalText(answer))); err != nil {
		return nil, a.unrecorded(err)
	}
	return want, nil
}

// unconfirmed records that skills are not activated, and returns the error for the agent.
func (a *Admission) unconfirmed(ctx context.Context, d policy.Decision) error {
	a.refused = true
	if err := a.recordDecision(ctx, d); err != nil {
		a.gate.logger.Error("a denial is not in the audit log", "call", a.id, "error", err)
	}
	return session.Refusal(d.Reason)
}
