package tools

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"mycelium/cmd/myc/internal/base"
	"mycelium/internal/backend"
	"mycelium/internal/node/api"
	"mycelium/internal/op/failure"
	"mycelium/internal/text"
)

func (a *app) toolsDiffCmd() *cobra.Command {
	return &cobra.Command{
		Use: "diff [NAME]", Short: "Show what is in quarantine, and how it differs from what was accepted",
		Long: "NAME is a tool (server__tool), prompt:server__name, template:server__uri, or a server for all of its items. Without NAME,\n" +
			"the command shows every definition in quarantine. Invisible characters are printed as \\u….",
		Example: "  myc tools diff github__create_issue", Args: base.ArgRange(0, 1, "at most one name"),
		RunE: func(c *cobra.Command, args []string) error { return a.toolsDiff(c.Context(), strings.Join(args, "")) },
	}
}

type acceptance struct {
	digest string
	yes    bool
	sure   bool
}

func (a *app) toolsApproveCmd() *cobra.Command {
	var o acceptance
	c := &cobra.Command{
		Use: "approve NAME", Short: "Accept a definition that is in quarantine",
		Long: "Show the difference, and accept the definition that is shown. If the definition changes again in between, it stays in\n" +
			"quarantine. At a terminal, the command asks first. --digest accepts only what an earlier myc tools diff showed.\n" +
			"A definition in which the scan found something dangerous needs a second sign: at a terminal you are asked for it, also with\n" +
			"--yes; elsewhere --sure says that you have read what the scan found.",
		Example: "  myc tools approve github__create_issue\n  myc tools approve github --yes",
		Args:    base.ArgRange(1, 1, "the name of a tool, or a server"),
		RunE:    func(c *cobra.Command, args []string) error { return a.toolsApprove(c.Context(), args[0], o) },
	}
	c.Flags().StringVar(&o.digest, "digest", "", "accept only the definition with this digest (its first 12 characters or more)")
	c.Flags().BoolVarP(&o.yes, "yes", "y", false, "do not ask")
	c.Flags().BoolVar(&o.sure, "sure", false, "you have read what the scan found; a dangerous definition needs it")
	return c
}

func (a *app) toolsKeepOutCmd() *cobra.Command {
	var digest string
	c := &cobra.Command{
		Use: "keep-out NAME", Short: "Keep a definition in quarantine, and do not ask about it again",
		Long: "Show the difference, and keep the definition that is shown in quarantine. It waits for nobody any more, until the server\n" +
			"offers another one. myc tools diff still shows it, and myc tools approve accepts it all the same.",
		Example: "  myc tools keep-out github__create_issue", Args: base.ArgRange(1, 1, "the name of a tool, or a server"),
		RunE: func(c *cobra.Command, args []string) error { return a.toolsKeepOut(c.Context(), args[0], digest) },
	}
	c.Flags().StringVar(&digest, "digest", "", "keep out only the definition with this digest (its first 12 characters or more)")
	return c
}

// held returns what is in quarantine under a name.
func (a *app) held(ctx context.Context, c *base.Client, name string) ([]api.HeldItem, error) {
	if err := a.LearnPending(ctx, c); err != nil {
		return nil, err
	}
	rows, err := base.Call(ctx, c, api.Held, api.HeldParams{Name: name})
	if err != nil {
		return nil, err
	}
	if len(rows) == 0 && name != "" {
		return nil, failure.Hint(fmt.Errorf("%s: no definition in quarantine has that name", name), "myc tools diff lists quarantine")
	}
	return rows, nil
}

func (a *app) toolsDiff(ctx context.Context, name string) error {
	if err := a.NeedPerson("look at the quarantine"); err != nil {
		return err
	}
	c, err := a.Connect(ctx)
	if err != nil {
		return err
	}
	defer c.Close()
	rows, err := a.held(ctx, c, name)
	if err != nil {
		return err
	}
	if a.JSON {
		return a.PrintJSON(rows)
	}
	if len(rows) == 0 {
		fmt.Fprintln(a.Err, "myc: quarantine is empty")
	}
	a.printHeld(rows)
	return nil
}

// printHeld shows definitions in quarantine to a person.
func (a *app) printHeld(rows []api.HeldItem) {
	for i, r := range rows {
		if i > 0 {
			fmt.Fprintln(a.Out)
		}
		fmt.Fprintf(a.Out, "%s: %s\ndigest %s\n", text.Flatten(r.Name), text.Flatten(r.Reason), r.Digest)
		if k := r.KeptOut; k != nil {
			fmt.Fprintf(a.Out, "kept out by %s since %s\n", text.OneLine(k.By), k.Since.Local().Format(time.DateTime))
		}
		for _, f := range r.Findings {
			fmt.Fprintf(a.Out, "%s %s at %s: %s: %s\n", f.Severity, f.Family, base.OrDash(text.OneLine(f.Where)), f.Why, f.Excerpt)
		}
		for _, line := range r.Diff {
			fmt.Fprintln(a.Out, line)
		}
	}
}

func (a *app) toolsApprove(ctx context.Context, name string, o acceptance) error {
	if err := a.NeedPerson("accept a definition"); err != nil {
		return err
	}
	c, err := a.Connect(ctx)
	if err != nil {
		return err
	}
	defer c.Close()
	rows, err := a.heldAs(ctx, c, name, o.digest)
	if err != nil {
		return err
	}
	if !o.yes && o.digest == "" && base.StdinIsTerminal(a.In) && !a.Confirm("Accept "+text.Count(len(rows), "definition")+"? [y/N] ") {
		return failure.New(failure.Denied, fmt.Errorf("tools approve: the definition was not accepted"), "")
	}
	p := acceptances(rows)
	p.Sure = o.sure
	for _, r := range rows {
		if d := r.Demand(); d.Any() && !o.sure && base.StdinIsTerminal(a.In) {
			if p.Sure = a.Confirm(text.OneLine(d.Asks()) + " [y/N] "); !p.Sure {
				return failure.New(failure.Denied, fmt.Errorf("tools approve: the definition was not accepted"),
					"myc tools keep-out "+text.OneLine(r.Name)+" keeps it in quarantine for good")
			}
		}
	}
	if _, err := base.Call(ctx, c, api.Accept, p); err != nil {
		return err
	}
	return a.saidOf(p, "accepted")
}

func (a *app) toolsKeepOut(ctx context.Context, name, digest string) error {
	if err := a.NeedPerson(api.KeepOut.Act); err != nil {
		return err
	}
	c, err := a.Connect(ctx)
	if err != nil {
		return err
	}
	defer c.Close()
	rows, err := a.heldAs(ctx, c, name, digest)
	if err != nil {
		return err
	}
	p := acceptances(rows)
	if _, err := base.Call(ctx, c, api.KeepOut, p); err != nil {
		return err
	}
	return a.saidOf(p, "kept out")
}

// heldAs shows what is in quarantine under a name, with a digest if one is given.
func (a *app) heldAs(ctx context.Context, c *base.Client, name, digest string) ([]api.HeldItem, error) {
	rows, err := a.held(ctx, c, name)
	if err != nil {
		return nil, err
	}
	if digest != "" {
		rows = slices.DeleteFunc(rows, func(r api.HeldItem) bool { return len(digest) < 12 || !strings.HasPrefix(r.Digest, digest) })
		if len(rows) == 0 {
			return nil, failure.Hint(fmt.Errorf("%s: no definition in quarantine has the digest %s", name, digest),
				"the definition changed, or the digest is shorter than 12 characters; see myc tools diff "+name)
		}
	}
	if !a.JSON {
		a.printHeld(rows)
	}
	return rows, nil
}

// acceptances name definitions as they were shown.
func acceptances(rows []api.HeldItem) (p api.AcceptParams) {
	for _, r := range rows {
		p.Items = append(p.Items, backend.Acceptance{Name: r.Name, Digest: r.Digest})
	}
	return p
}

// saidOf says what was done with definitions.
func (a *app) saidOf(p api.AcceptParams, done string) error {
	if a.JSON {
		return a.PrintJSON(p.Items)
	}
	for _, it := range p.Items {
		fmt.Fprintf(a.Err, "myc: %s %s\n", done, text.Flatten(it.Name))
	}
	return nil
}
