package main

import (
	"bufio"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/spf13/cobra"

	"mycelium/internal/audit"
	"mycelium/internal/backend"
	"mycelium/internal/config"
	"mycelium/internal/daemon"
	"mycelium/internal/policy"
	"mycelium/internal/rpc"
	"mycelium/internal/scan"
)

// Definitions in quarantine: to look at them, and to accept them.

func (a *app) toolsDiffCmd() *cobra.Command {
	return &cobra.Command{
		Use: "diff [NAME]", Short: "Show what is in quarantine, and how it differs from what was accepted",
		Long: "NAME is a tool (server__tool), prompt:server__name, template:server__uri, or a server for all of its items. Without it\n" +
			"everything is shown. Characters that cannot be seen are written as \\u….",
		Example: "  myc tools diff github__create_issue", Args: argRange(0, 1, "at most one name"),
		RunE: func(c *cobra.Command, args []string) error { return a.toolsDiff(c.Context(), strings.Join(args, "")) },
	}
}

type acceptance struct {
	digest string
	yes    bool
}

func (a *app) toolsApproveCmd() *cobra.Command {
	var o acceptance
	c := &cobra.Command{
		Use: "approve NAME", Short: "Accept a definition that is in quarantine",
		Long: "Shows the difference and accepts what it shows: a definition that changes again in between stays in quarantine.\n" +
			"At a terminal it asks first. --digest accepts only what an earlier `myc tools diff` showed.",
		Example: "  myc tools approve github__create_issue\n  myc tools approve github --yes", Args: argRange(1, 1, "the name of a tool, or a server"),
		RunE: func(c *cobra.Command, args []string) error { return a.toolsApprove(c.Context(), args[0], o) },
	}
	c.Flags().StringVar(&o.digest, "digest", "", "accept only the definition with this digest (its first 12 characters or more)")
	c.Flags().BoolVarP(&o.yes, "yes", "y", false, "do not ask")
	return c
}

type heldParams struct {
	Name string `json:"name"`
}

// heldRow is one item in quarantine, between the owner and a command, and as `myc tools diff --json` prints it.
type heldRow struct {
	Name     string   `json:"name"`
	Cause    string   `json:"cause"`
	Reason   string   `json:"reason"`
	Former   string   `json:"former,omitempty"`
	Digest   string   `json:"digest"`
	Accepted string   `json:"accepted,omitempty"` // the definition that was accepted, JSON text
	Offered  string   `json:"offered"`            // the present one
	Diff     []string `json:"diff"`

	Findings []scan.Finding `json:"findings"`
}

// heldMethod tells an operator what is in quarantine.
func (n *node) heldMethod(_ context.Context, _ daemon.Caller, params []byte) (any, *rpc.Error) {
	var p heldParams
	if e := decode(params, &p); e != nil {
		return nil, e
	}
	rows := []heldRow{}
	cat := n.pool.Catalog()
	held := cat.Held
	if p.Name != "" {
		held = cat.HeldBy(p.Name)
	}
	for _, h := range held {
		rows = append(rows, heldRow{
			Name: h.Name(), Cause: h.Cause, Reason: h.Reason, Former: h.Former, Digest: h.Digest,
			Accepted: string(h.Old), Offered: string(h.New), Diff: definitionDiff(h.Old, h.New), Findings: h.Findings,
		})
	}
	return rows, nil
}

// held asks the owner what is in quarantine under a name.
func (a *app) held(ctx context.Context, c *client, name string) ([]heldRow, error) {
	if err := a.learnPending(ctx, c); err != nil {
		return nil, err
	}
	var rows []heldRow
	if err := c.ask(ctx, "held", heldParams{name}, &rows); err != nil {
		return nil, err
	}
	if len(rows) == 0 && name != "" {
		return nil, hinted(fmt.Errorf("%s: nothing of that name is in quarantine", name), "myc tools diff shows all that is")
	}
	return rows, nil
}

func (a *app) toolsDiff(ctx context.Context, name string) error {
	if err := a.needPerson("look at the quarantine"); err != nil {
		return err
	}
	c, err := a.connect(ctx)
	if err != nil {
		return err
	}
	defer c.done()
	rows, err := a.held(ctx, c, name)
	if err != nil {
		return err
	}
	if a.json {
		return a.printJSON(rows)
	}
	if len(rows) == 0 {
		fmt.Fprintln(a.err, "myc: nothing is in quarantine")
	}
	a.printHeld(rows)
	return nil
}

// printHeld shows definitions in quarantine to a person.
func (a *app) printHeld(rows []heldRow) {
	for i, r := range rows {
		if i > 0 {
			fmt.Fprintln(a.out)
		}
		fmt.Fprintf(a.out, "%s: %s\ndigest %s\n", visible(r.Name), visible(r.Reason), r.Digest)
		for _, f := range r.Findings {
			fmt.Fprintf(a.out, "%s %s at %s: %s: %s\n", f.Severity, f.Family, orDash(scan.Visible(f.Where)), f.Why, f.Excerpt)
		}
		for _, line := range r.Diff {
			fmt.Fprintln(a.out, line)
		}
	}
}

func (a *app) toolsApprove(ctx context.Context, name string, o acceptance) error {
	if err := a.needPerson("accept a definition"); err != nil {
		return err
	}
	c, err := a.connect(ctx)
	if err != nil {
		return err
	}
	defer c.done()
	rows, err := a.held(ctx, c, name)
	if err != nil {
		return err
	}
	if o.digest != "" {
		rows = slices.DeleteFunc(rows, func(r heldRow) bool { return len(o.digest) < 12 || !strings.HasPrefix(r.Digest, o.digest) })
		if len(rows) == 0 {
			return hinted(fmt.Errorf("%s: no definition in quarantine has the digest %s", name, o.digest), "it changed since, or the digest is shorter than 12 characters: myc tools diff "+name)
		}
	}
	if !a.json {
		a.printHeld(rows)
	}
	if !o.yes && o.digest == "" && stdinIsTerminal(a.in) && !a.agreed(fmt.Sprintf("Accept %d definition(s)? [y/N] ", len(rows))) {
		return deniedError(fmt.Errorf("tools approve: nothing was accepted"), "")
	}
	var p acceptParams
	for _, r := range rows {
		p.Items = append(p.Items, backend.Acceptance{Name: r.Name, Digest: r.Digest})
	}
	if err := c.ask(ctx, "accept", p, nil); err != nil {
		return err
	}
	if a.json {
		return a.printJSON(p.Items)
	}
	for _, r := range rows {
		fmt.Fprintf(a.err, "myc: accepted %s\n", visible(r.Name))
	}
	return nil
}

// agreed asks a person at a terminal; no answer is a no.
func (a *app) agreed(question string) bool {
	fmt.Fprint(a.err, question)
	line, err := bufio.NewReader(a.in).ReadString('\n')
	return err == nil && strings.EqualFold(strings.TrimSpace(line), "y")
}

type acceptParams struct {
	Items []backend.Acceptance `json:"items"`
}

// acceptMethod takes items out of quarantine. What cannot be recorded is not done.
func (n *node) acceptMethod(ctx context.Context, _ daemon.Caller, params []byte) (any, *rpc.Error) {
	var p acceptParams
	if e := decode(params, &p); e != nil {
		return nil, e
	}
	for _, it := range p.Items {
		server := ""
		if held := n.pool.Catalog().HeldBy(it.Name); len(held) > 0 {
			server = held[0].Item.Server
		}
		if err := n.recordAct(ctx, act{Act: "accept", Item: it.Name, Digest: it.Digest}, server, "the definition of "+it.Name+" is accepted"); err != nil {
			return nil, internalError(err)
		}
	}
	if err := n.pool.Accept(p.Items); err != nil {
		for _, it := range p.Items { // the record says what came of it
			_ = n.recordAct(ctx, act{Act: "accept failed", Item: it.Name, Digest: it.Digest}, "", "the definition of "+it.Name+" was not accepted: "+err.Error())
		}
		return nil, &rpc.Error{Code: rpc.CodeInvalidParams, Message: err.Error()}
	}
	n.recompile()
	return struct{}{}, nil
}

// act is what is recorded of an operator's act.
type act struct {
	Act    string `json:"act"`
	Item   string `json:"item"`
	Digest string `json:"digest,omitempty"`
}

// recordAct records an operator's act.
func (n *node) recordAct(ctx context.Context, what act, server, note string) error {
	args, err := json.Marshal(what)
	if err != nil {
		return fmt.Errorf("record %s: %w", what.Act, err)
	}
	return n.log.Append(context.WithoutCancel(ctx), audit.Record{
		ID: audit.NewID(), Kind: audit.Operator, Time: time.Now(), Principal: "operator", Surface: "cli",
		Server: server, Tool: what.Item, Args: args, Note: note,
	})
}

// heldRows are the tools in quarantine among all tools, for the operator.
func heldRows(categories *config.Categories, held []backend.Held) []toolRow {
	var rows []toolRow
	hidden := false
	for _, h := range held {
		if h.Item.Kind != policy.Tool || h.Item.Name == "" {
			continue
		}
		info := categories.Describe(policy.Definition{Item: h.Item, Raw: h.New})
		rows = append(rows, toolRow{
			Name: h.Name(), Server: h.Item.Server, Title: info.Title, Description: info.Description, Category: info.Category, Mutates: info.Mutates,
			Skills: []string{}, Visible: &hidden, Reason: "in quarantine: " + h.Reason + " (myc tools diff " + h.Name() + ")",
		})
	}
	return rows
}

// noteFindings adds what the scan found to the reasons of visible and hidden tools.
func noteFindings(rows []toolRow, found []backend.Reviewed) {
	for _, r := range found {
		i := slices.IndexFunc(rows, func(row toolRow) bool { return r.Item.Kind == policy.Tool && row.Name == r.Item.String() })
		if i >= 0 {
			rows[i].Reason = fmt.Sprintf("scan: %s %s: %s; %s", r.Findings[0].Severity, r.Findings[0].Family, r.Findings[0].Why, rows[i].Reason)
		}
	}
}

// heldItems names what is in quarantine, for the validation of skills.
func heldItems(held []backend.Held) []policy.Item {
	var out []policy.Item
	for _, h := range held {
		if !h.Template && h.Item.Name != "" {
			out = append(out, h.Item)
		}
	}
	return out
}

// doctorHeld tells of the quarantine.
func (v *view) doctorHeld(add report) {
	for _, r := range v.pool.Review() {
		f := r.Findings[0]
		name := (&backend.Held{Item: r.Item, Template: r.Template}).Name()
		if r.Accepted {
			add("ok", "scan "+name, fmt.Sprintf("accepted by the operator: %s: %s", f.Family, f.Why), "")
			continue
		}
		add("warning", "scan "+name, fmt.Sprintf("%s at %s: %s: %s", f.Family, f.Where, f.Why, f.Excerpt), "read its definition: myc tools --all --json")
	}
	for _, h := range v.pool.Catalog().Held {
		level := "warning"
		if h.Cause == backend.CauseUnproven {
			level = "problem"
		}
		why := h.Reason
		if h.Cause != backend.CauseFound && h.Cause != backend.CauseAdded && len(h.Findings) > 0 {
			f := h.Findings[0]
			why += fmt.Sprintf("; the scan found %s in it: %s (%s)", f.Family, f.Why, f.Severity)
		}
		add(level, "quarantine "+h.Name(), why, "myc tools diff "+h.Name()+" shows it, myc tools approve "+h.Name()+" accepts it")
	}
}
