package approvals

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/spf13/cobra"

	"mycelium/cmd/myc/internal/base"
	"mycelium/internal/approval"
	"mycelium/internal/node/api"
	"mycelium/internal/op/cli"
	"mycelium/internal/op/failure"
	"mycelium/internal/text"
)

func (a *app) showCmd() *cobra.Command {
	c := cli.Command(api.ApprovalsShow, func(c *cobra.Command, p api.ApprovalParams) error { return a.approvalsShow(c.Context(), p.ID) })
	c.Example = "  myc approvals show k3m9"
	return c
}

func (a *app) approvalsShow(ctx context.Context, id string) error {
	id, err := a.requestID(ctx, id)
	if err != nil {
		return err
	}
	r, err := base.Operate(ctx, a.App, api.ApprovalsShow, api.ApprovalParams{ID: id})
	if err != nil {
		return err
	}
	if a.JSON {
		return a.PrintJSON(r)
	}
	a.showRequest(r)
	return a.showCandidates(ctx, r)
}

// showRequest prints all of a request. Hidden characters in the arguments are made visible.
func (a *app) showRequest(r approval.Request) {
	state := string(r.State)
	if r.Answer != nil {
		state += " by " + r.Answer.By
		if r.Answer.Via != "" {
			state += " (" + r.Answer.Via + ")"
		}
		state += " at " + r.Answer.Time.Local().Format(time.DateTime)
	}
	rows := [][]string{{"request", r.ID}, {"state", state}, {"tool", base.OrDash(r.Tool)},
		{"risk", base.OrDash(strings.TrimSpace(string(r.Risk) + " " + r.Category))}}
	for _, f := range [][2]string{
		{"session", whoAsks(r)}, {"principal", r.Principal}, {"child of", r.Parent}, {"role", r.Role}, {"folder", r.Dir},
		{"asked by rule", r.Rule},
		{"reason", r.Reason}, {"the model says", r.Opinion}, {"the agent says", text.Cell(r.Thinking, 500)},
	} {
		if f[1] != "" {
			rows = append(rows, []string{f[0], text.OneLine(f[1])})
		}
	}
	terms, changed := approval.ShowTerms(r)
	for _, line := range terms {
		rows = append(rows, []string{"terms", line})
	}
	if r.State == approval.Pending {
		rows = append(rows, []string{"left", left(r)}, []string{"waiting calls", fmt.Sprint(r.Waiting)})
	}
	a.Facts(rows)
	if r.Text != "" {
		fmt.Fprintf(a.Out, "\n%s\n", text.Visible(r.Text))
	}
	for _, q := range r.Questions {
		fmt.Fprintf(a.Out, "\n%s\n", text.Visible(q.Text))
		for _, o := range q.Options {
			fmt.Fprintf(a.Out, "  - %s\n", text.OneLine(o))
		}
	}
	if len(r.Args) > 0 {
		fmt.Fprintf(a.Out, "\n%s\n", text.Visible(argLines(r.Args)))
	}
	if changed != "" {
		fmt.Fprintf(a.Out, "\nsince it was asked last:\n%s\n", changed)
	}
}

// requestID completes the first letters of a request's id.
func (a *app) requestID(ctx context.Context, prefix string) (string, error) {
	const whole, least = 12, 3
	if len(prefix) >= whole {
		return prefix, nil
	}
	list, err := a.pending(ctx)
	if err != nil {
		return "", err
	}
	var found []string
	for _, r := range list {
		if strings.HasPrefix(r.ID, prefix) && len(prefix) >= least {
			found = append(found, r.ID)
		}
	}
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		return "", failure.Hint(fmt.Errorf("approvals: no waiting request has an id that begins with %q", prefix),
			"myc approvals list shows what waits; a settled one is shown by its whole id")
	default:
		return "", failure.Hint(fmt.Errorf("approvals: %q is the beginning of %d ids", prefix, len(found)),
			"write more of it: "+strings.Join(found, ", "))
	}
}

// argLines formats the arguments of a call, one a line: a text as it is, any other value as JSON.
func argLines(raw jsontext.Value) string {
	var members map[string]jsontext.Value
	if json.Unmarshal(raw, &members) != nil {
		return string(raw)
	}
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(members)) {
		var text string
		if json.Unmarshal(members[name], &text) != nil {
			text = string(members[name])
		}
		if strings.Contains(text, "\n") {
			text = "\n    " + strings.ReplaceAll(text, "\n", "\n    ")
		}
		fmt.Fprintf(&b, "  %s: %s\n", name, text)
	}
	return strings.TrimRight(b.String(), "\n")
}
