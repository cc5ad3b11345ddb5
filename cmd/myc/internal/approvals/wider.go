package approvals

import (
	"context"
	"fmt"
	"strings"

	"mycelium/internal/approval"
	"mycelium/internal/node/waits"
	"mycelium/internal/text"
)

// previews says of each candidate what it is about, which deny rules refuse part of it, and what its rule would have allowed of the calls
// that are on record.
func (a *app) previews(ctx context.Context, list []approval.Candidate) ([]string, error) {
	v, err := a.OpenView()
	if err != nil {
		return nil, err
	}
	defer v.Close()
	ways, err := waits.WaysOf(ctx, v, list)
	if err != nil {
		return nil, err
	}
	out := make([]string, len(list))
	for i, w := range ways {
		out[i] = text.OneLine(w.Words)
		if len(w.Except) > 0 {
			out[i] += ", except what is denied by " + text.OneLine(strings.Join(w.Except, ", "))
		}
		out[i] += " (" + w.Past + ")"
	}
	return out, nil
}

// showCandidates prints what a call can be approved as.
func (a *app) showCandidates(ctx context.Context, r approval.Request) error {
	list := approval.Candidates(r)
	keeps := r.Keepable() == ""
	if r.State != approval.Pending && !keeps || len(list) == 0 || len(list) < 2 && !keeps {
		return nil
	}
	said, err := a.previews(ctx, list[1:])
	if err != nil {
		return err
	}
	if keeps {
		fmt.Fprintf(a.Out, "\nto be asked no more: myc approvals keep %s, and --as:\n", r.ID)
	} else {
		fmt.Fprintf(a.Out, "\napprove it with --for session or --for rule, and --as:\n")
	}
	rows := [][]string{{"  " + string(list[0].As), list[0].Words}}
	for i, c := range list[1:] {
		rows = append(rows, []string{"  " + string(c.As), said[i]})
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
		said, err := a.previews(ctx, []approval.Candidate{c})
		if err != nil {
			return err
		}
		fmt.Fprintf(a.Err, "myc: %s\n", said[0])
	}
	return nil
}

// preview says in one line what an approval as a rule would allow, for the screen of myc approvals watch.
func (a *app) preview(ctx context.Context, c approval.Candidate) string {
	said, err := a.previews(ctx, []approval.Candidate{c})
	if err != nil {
		return c.Words
	}
	return said[0]
}
