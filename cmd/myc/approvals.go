package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/spf13/cobra"

	"mycelium/internal/approval"
	"mycelium/internal/rpc"
	"mycelium/internal/text"
)

func (a *app) approvalsCmd() *cobra.Command {
	c := &cobra.Command{
		Use: "approvals", Short: "Calls that wait for a person", Args: noArgs,
		Long: "A call that the policy marks ask waits until somebody answers it here, in a chat, over HTTP or in the client itself. The first\n" +
			"answer counts; a call that nobody answers in time (approval.deadline, 5 minutes) is denied. ID may be its first letters.",
		Example: "  myc approvals list\n  myc approvals approve k3m9 --for session",
		RunE:    func(c *cobra.Command, _ []string) error { return a.approvalsList(c.Context()) },
	}
	c.AddCommand(
		&cobra.Command{Use: "list", Short: "What waits, oldest first", Example: "  myc approvals list --json", Args: noArgs,
			RunE: func(c *cobra.Command, _ []string) error { return a.approvalsList(c.Context()) }},
		&cobra.Command{Use: "show ID", Short: "One request whole, also a settled one", Example: "  myc approvals show k3m9", Args: argRange(1, 1, "one request id"),
			RunE: func(c *cobra.Command, args []string) error { return a.approvalsShow(c.Context(), args[0]) }},
		a.approvalsTokenCmd(), a.answerCmd(true), a.answerCmd(false), a.approvalsWatchCmd())
	return c
}

func (a *app) answerCmd(allow bool) *cobra.Command {
	var reach, reason string
	c := &cobra.Command{Use: "approve ID", Short: "Let it run", Example: "  myc approvals approve k3m9\n  myc approvals approve k3m9 --for rule", Args: argRange(1, 1, "one request id")}
	words := "once, session (the same call, for the rest of the session) or rule (a rule is written into the project's rules)"
	if !allow {
		c.Use, c.Short, c.Example = "deny ID", "Do not let it run", `  myc approvals deny k3m9 --for session --reason "not on a Friday"`
		words = "once or session (the same call, for the rest of the session)"
	}
	c.RunE = func(c *cobra.Command, args []string) error {
		known := []string{"once", "session", "rule"}
		if !allow {
			known = []string{"once", "session", "never"}
		}
		if err := oneOf(reach, known...); err != nil {
			return usageError("%s--for: %v", commandName(c), err)
		}
		return a.approvalsAnswer(c.Context(), args[0], answerParams{Allow: allow, For: approval.For(reach), Reason: reason})
	}
	c.Flags().StringVar(&reach, "for", "once", words)
	c.Flags().StringVar(&reason, "reason", "", "why; a denied agent is told. Of an agent's question: the answer")
	return c
}

// oneOf refuses a word that is none of the known ones.
func oneOf(word string, known ...string) error {
	for _, k := range known {
		if word == k {
			return nil
		}
	}
	return fmt.Errorf("%q is none of %s", word, strings.Join(known, ", "))
}

// pending are the requests that wait.
func (a *app) pending(ctx context.Context) ([]approval.Request, error) {
	list := []approval.Request{}
	return list, a.operate(ctx, "look at approvals", "approvals/list", nil, &list)
}

func (a *app) approvalsList(ctx context.Context) error {
	list, err := a.pending(ctx)
	if err != nil {
		return err
	}
	if a.json {
		return a.printJSON(list)
	}
	if len(list) == 0 {
		fmt.Fprintln(a.err, "myc: nothing waits for an approval")
		return nil
	}
	rows := [][]string{{"ID", "RISK", "LEFT", "WHO", "TOOL", "ARGUMENTS"}}
	for _, r := range list {
		rows = append(rows, []string{r.ID, orDash(string(r.Risk)), left(r), firstLine(whoAsks(r), 30), orDash(r.Tool), firstLine(text.OneLine(string(r.Args)), 80)})
	}
	table(a.out, rows)
	return nil
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

// left is how long a request still waits.
func left(r approval.Request) string {
	switch {
	case r.State != approval.Pending || r.Deadline.IsZero():
		return "–"
	default:
		return max(time.Until(r.Deadline), 0).Round(time.Second).String()
	}
}

func (a *app) approvalsShow(ctx context.Context, id string) error {
	id, err := a.requestID(ctx, id)
	if err != nil {
		return err
	}
	var r approval.Request
	if err := a.operate(ctx, "look at approvals", "approvals/show", answerParams{ID: id}, &r); err != nil {
		return settledError(err)
	}
	if a.json {
		return a.printJSON(r)
	}
	a.showRequest(r)
	return nil
}

// showRequest prints a request whole: the arguments as they are, with every character visible.
func (a *app) showRequest(r approval.Request) {
	state := string(r.State)
	if r.Answer != nil {
		state += " by " + r.Answer.By
		if r.Answer.Via != "" {
			state += " (" + r.Answer.Via + ")"
		}
		state += " at " + r.Answer.Time.Local().Format(time.DateTime)
	}
	rows := [][]string{{"request", r.ID}, {"state", state}, {"tool", orDash(r.Tool)}, {"risk", orDash(strings.TrimSpace(string(r.Risk) + " " + r.Category))}}
	for _, f := range [][2]string{
		{"session", whoAsks(r)}, {"principal", r.Principal}, {"child of", r.Parent}, {"role", r.Role}, {"folder", r.Dir}, {"asked by rule", r.Rule},
		{"reason", r.Reason}, {"the model says", r.Opinion}, {"the agent says", firstLine(r.Thinking, 500)},
	} {
		if f[1] != "" {
			rows = append(rows, []string{f[0], text.OneLine(f[1])})
		}
	}
	if r.State == approval.Pending {
		rows = append(rows, []string{"left", left(r)}, []string{"waiting calls", fmt.Sprint(r.Waiting)})
	}
	table(a.out, rows)
	if r.Text != "" {
		fmt.Fprintf(a.out, "\n%s\n", text.Visible(r.Text))
	}
	for _, q := range r.Questions {
		fmt.Fprintf(a.out, "\n%s\n", text.Visible(q.Text))
		for _, o := range q.Options {
			fmt.Fprintf(a.out, "  - %s\n", text.OneLine(o))
		}
	}
	if len(r.Args) > 0 {
		fmt.Fprintf(a.out, "\n%s\n", text.Visible(argLines(r.Args)))
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
		return "", hinted(fmt.Errorf("approvals: nothing that waits has an id that begins with %q", prefix), "myc approvals list shows what waits; a settled one is shown by its whole id")
	default:
		return "", hinted(fmt.Errorf("approvals: %q is the beginning of %d ids", prefix, len(found)), "write more of it: "+strings.Join(found, ", "))
	}
}

func (a *app) approvalsAnswer(ctx context.Context, id string, p answerParams) error {
	id, err := a.requestID(ctx, id)
	if err != nil {
		return err
	}
	p.ID = id
	var r approval.Request
	if err := a.operate(ctx, "answer an approval", "approvals/answer", p, &r); err != nil {
		return settledError(err)
	}
	if a.json {
		return a.printJSON(r)
	}
	fmt.Fprintf(a.out, "%s: %s, %s\n", r.ID, r.State, text.OneLine(r.Tool))
	if r.Answer != nil && r.Answer.Rule != "" {
		fmt.Fprintf(a.out, "written: rule %s\n", r.Answer.Rule)
	}
	return nil
}

// settledError says what to do about an answer that was refused.
func settledError(err error) error {
	var e *rpc.Error
	if errors.As(err, &e) && e.Code == codeSettled {
		return hinted(e, "myc approvals list shows what still waits")
	}
	return err
}

// argLines are the arguments of a call for people: one a line, a text as it is, everything else as JSON.
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
