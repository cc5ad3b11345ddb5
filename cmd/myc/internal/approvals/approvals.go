// Package approvals has the commands with which a person answers calls that wait.
package approvals

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"mycelium/cmd/myc/internal/base"
	"mycelium/internal/approval"
	"mycelium/internal/node/api"
	"mycelium/internal/op"
	"mycelium/internal/op/failure"
	"mycelium/internal/text"
)

// app is the program with the commands of this family.
type app struct{ *base.App }

// Command is `myc approvals`.
func Command(a *base.App) *cobra.Command { return (&app{a}).approvalsCmd() }

func (a *app) approvalsCmd() *cobra.Command {
	c := &cobra.Command{
		Use: "approvals", Short: "List and answer the calls that wait", Args: base.NoArgs,
		Long: "A call that the policy marks ask waits until somebody answers it: here, in a chat, over HTTP, or in the MCP client. The\n" +
			"first answer counts. If nobody answers in time (approval.deadline, default 5 minutes), the call is denied. The first\n" +
			"letters of an ID are enough.",
		Example: "  myc approvals list\n  myc approvals approve k3m9 --for session",
		RunE:    func(c *cobra.Command, _ []string) error { return a.approvalsList(c.Context()) },
	}
	c.AddCommand(
		&cobra.Command{Use: "list", Short: "List the calls that wait, oldest first", Example: "  myc approvals list --json", Args: base.NoArgs,
			RunE: func(c *cobra.Command, _ []string) error { return a.approvalsList(c.Context()) }},
		a.showCmd(),
		a.approvalsModeCmd(), a.approvalsResetCmd(), a.approvalsTokenCmd(), a.answerCmd(true), a.answerCmd(false), a.keepCmd(), a.approvalsWatchCmd())
	return c
}

func (a *app) answerCmd(allow bool) *cobra.Command {
	var reach, as, reason string
	var sure bool
	c := &cobra.Command{Use: "approve ID", Short: "Allow the call",
		Example: "  myc approvals approve k3m9\n  myc approvals approve k3m9 --for session --as program",
		Args:    base.ArgRange(1, 1, "one request id")}
	words := "once, session (the same call, for the rest of the session) or rule (a rule is written into the project's rules)"
	if !allow {
		c.Use, c.Short, c.Example = "deny ID", "Deny the call", `  myc approvals deny k3m9 --for session --reason "not on a Friday"`
		words = "once or session (the same call, for the rest of the session)"
	}
	c.RunE = func(c *cobra.Command, args []string) error {
		known := []string{"once", "session", "rule"}
		if !allow {
			known = []string{"once", "session", "never"}
		}
		if err := oneOf(reach, known...); err != nil {
			return failure.Usagef("%s--for: %v", base.CommandName(c), err)
		}
		return a.approvalsAnswer(c.Context(), args[0], api.Answer{Allow: &allow, For: approval.For(reach),
			As: approval.As(as), Reason: reason, Sure: sure})
	}
	c.Flags().StringVar(&reach, "for", "once", words)
	if allow {
		c.Long = "Allow a call that waits: once, for the session, or from now on by a rule in the project's rules. With --as, the approval\n" +
			"is about more than this call: program (these first words, whatever plain words follow), host, folder or tool. What a call can be\n" +
			"approved as, and how many of the last 1,000 recorded calls that would have allowed, is in myc approvals show.\n" +
			"A critical call needs a second sign: at a terminal the call is shown and you are asked again; elsewhere --sure says that you\n" +
			"have read what it would do."
		c.Flags().BoolVar(&sure, "sure", false, "you have read what the call would do; a critical call needs it")
		c.Flags().StringVar(&as, "as", "", "what is approved: call (default), program, host, folder or tool; for the session or as a rule")
	}
	c.Flags().StringVar(&reason, "reason", "", "the reason, which a denied agent is told; for an agent's question, the answer")
	return c
}

// oneOf returns an error for a word that is not known.
func oneOf(word string, known ...string) error {
	for _, k := range known {
		if word == k {
			return nil
		}
	}
	return fmt.Errorf("%q is not one of %s", word, strings.Join(known, ", "))
}

// pending returns the requests that wait.
func (a *app) pending(ctx context.Context) ([]approval.Request, error) {
	return base.Operate(ctx, a.App, api.ApprovalsList, op.None{})
}

func (a *app) approvalsList(ctx context.Context) error {
	list, err := a.pending(ctx)
	if err != nil {
		return err
	}
	if files := a.files(); files != "" {
		fmt.Fprintln(a.Err, "myc: "+files)
	}
	if a.JSON {
		return a.PrintJSON(list)
	}
	if len(list) == 0 {
		fmt.Fprintln(a.Err, "myc: no call waits for an approval")
		return nil
	}
	var rows [][]string
	for _, r := range list {
		rows = append(rows, []string{r.ID, base.OrDash(string(r.Risk)), left(r), whoAsks(r),
			base.OrDash(r.Tool), text.OneLine(string(r.Args))})
	}
	a.Table(base.Column{Name: "ID"}, base.Column{Name: "RISK", Drop: 2}, base.Column{Name: "LEFT", Drop: 1},
		base.Column{Name: "WHO", Least: 10, Drop: 3}, base.Column{Name: "TOOL", Least: 12}, base.Column{Name: "ARGUMENTS", Least: 16}).
		Print(rows...)
	return nil
}

// files says which files of the policy wait for a person, who answers with myc trust and not here; "" if none do.
func (a *app) files() string {
	p, err := a.Load()
	if err != nil {
		return ""
	}
	c, err := p.Candidate()
	switch {
	case err != nil || len(c.Changes) == 0:
		return ""
	case len(c.Changes) == 1:
		return "1 file of the policy waits for myc trust: " + c.Summary()
	default:
		return fmt.Sprintf("%d files of the policy wait for myc trust: %s", len(c.Changes), c.Summary())
	}
}

// whoAsks names the session of a request for people.
func whoAsks(r approval.Request) string {
	who := r.Label
	if who == "" {
		who = r.Principal
	}
	if r.Agent != "" {
		who = r.Agent + " " + who
	}
	return text.OneLine(who)
}

// left returns how long a request still waits.
func left(r approval.Request) string {
	switch {
	case r.State != approval.Pending || r.Deadline.IsZero():
		return "–"
	default:
		return max(time.Until(r.Deadline), 0).Round(time.Second).String()
	}
}

// look tells a person who approves what the request is, binds the answer to it, and at a terminal asks for the second sign.
func (a *app) look(ctx context.Context, p *api.Answer) error {
	r, err := base.Operate(ctx, a.App, api.ApprovalsShow, api.ApprovalParams{ID: p.ID})
	if err != nil {
		return err
	}
	p.Digest = r.Digest
	if p.As != "" && p.For == approval.Rule {
		if err := a.tellPast(ctx, r, p.As); err != nil {
			return err
		}
	}
	d := r.Demand()
	if p.Sure || r.State != approval.Pending || !d.Any() || !base.StdinIsTerminal(a.In) {
		return nil
	}
	a.showRequest(r)
	if p.Sure = a.Confirm("\n" + d.Asks() + " [y/N] "); !p.Sure {
		return failure.New(failure.Denied, errors.New("approvals approve: nothing was answered, the call still waits"), "")
	}
	return nil
}

func (a *app) approvalsAnswer(ctx context.Context, id string, p api.Answer) error {
	id, err := a.requestID(ctx, id)
	if err != nil {
		return err
	}
	p.ID = id
	if *p.Allow && (p.As != "" && p.For == approval.Rule || !p.Sure && base.StdinIsTerminal(a.In)) {
		if err := a.look(ctx, &p); err != nil {
			return err
		}
	}
	r, err := base.Operate(ctx, a.App, api.ApprovalsAnswer, p)
	if err != nil {
		return err
	}
	if a.JSON {
		return a.PrintJSON(r)
	}
	state := string(r.State)
	if r.Answer != nil && r.Answer.Overruled != "" {
		state = "denied by the policy, although approved: " + text.OneLine(r.Answer.Overruled)
	}
	fmt.Fprintf(a.Out, "%s: %s, %s\n", r.ID, state, text.OneLine(r.Tool))
	if r.Answer != nil && r.Answer.Rule != "" {
		fmt.Fprintf(a.Out, "written: rule %s\n", r.Answer.Rule)
	}
	a.tellKeep(ctx, r)
	return nil
}
