package chat

import (
	"context"

	"mycelium/internal/approval"
	"mycelium/internal/config/rules"
	"mycelium/internal/policy"
)

// past says what the rule of each candidate would have allowed of the calls on record, as the terminal does.
func (c *Chats) past(ctx context.Context, list []approval.Candidate) ([]string, error) {
	o, err := c.Project().AuditLog()
	if err != nil {
		return nil, err
	}
	written := make([]policy.Rule, 0, len(list))
	for _, candidate := range list {
		written = append(written, candidate.Rule)
	}
	past, err := rules.PastOf(ctx, o, c.Policy(), written)
	if err != nil {
		return nil, err
	}
	words := make([]string, 0, len(past))
	for _, p := range past {
		words = append(words, p.String())
	}
	return words, nil
}
