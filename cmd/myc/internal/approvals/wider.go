package approvals

import (
	"context"
	"fmt"

	"mycelium/internal/approval"
	"mycelium/internal/config/rules"
	"mycelium/internal/policy"
	"mycelium/internal/text"
)

// past says what the rule of each candidate would have allowed of the calls that are on record. The first candidate has no such rule.
func (a *app) past(ctx context.Context, list []approval.Candidate) ([]rules.Past, error) {
	p, err := a.Load()
	if err != nil {
		return nil, err
	}
	o, err := p.AuditLog()
	if err != nil {
		return nil, err
	}
	written := make([]policy.Rule, 0, len(list))
	for _, c := range list {
		written = append(written, c.Rule)
	}
	return rules.PastOf(ctx, o, written)
}

// showCandidates prints what a call can be approved as.
func (a *app) showCandidates(ctx context.Context, r approval.Request) error {
	list := approval.Candidates(r)
	if r.State != approval.Pending || len(list) < 2 {
		return nil
	}
	past, err := a.past(ctx, list[1:])
	if err != nil {
		return err
	}
	fmt.Fprintf(a.Out, "\napprove it with --for session or --for rule, and --as:\n")
	rows := [][]string{{"  " + string(list[0].As), list[0].Words}}
	for i, c := range list[1:] {
		rows = append(rows, []string{"  " + string(c.As), text.OneLine(c.Words) + " (" + past[i].String() + ")"})
	}
	a.Facts(rows)
	return nil
}

// tellPast says on stderr what the rule that is about to be written would have allowed.
func (a *app) tellPast(ctx context.Context, r approval.Request, as approval.As) error {
	for _, c := range approval.Candidates(r) {
		if c.As != as || as == approval.ThisCall {
			continue
		}
		past, err := a.past(ctx, []approval.Candidate{c})
		if err != nil {
			return err
		}
		fmt.Fprintf(a.Err, "myc: %s: %s\n", text.OneLine(c.Words), past[0])
	}
	return nil
}

// preview says in one line what an approval as a rule would allow, for the screen of myc approvals watch.
func (a *app) preview(ctx context.Context, c approval.Candidate) string {
	past, err := a.past(ctx, []approval.Candidate{c})
	if err != nil {
		return c.Words
	}
	return c.Words + "; " + past[0].String()
}
