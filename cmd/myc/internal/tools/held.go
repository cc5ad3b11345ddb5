package tools

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"mycelium/cmd/myc/internal/base"
	"mycelium/internal/backend"
	"mycelium/internal/node/api"
	"mycelium/internal/node/failure"
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
}

func (a *app) toolsApproveCmd() *cobra.Command {
	var o acceptance
	c := &cobra.Command{
		Use: "approve NAME", Short: "Accept a definition that is in quarantine",
		Long: "Show the difference, and accept the definition that is shown. If the definition changes again in between, it stays in\n" +
			"quarantine. At a terminal, the command asks first. --digest accepts only what an earlier myc tools diff showed.",
		Example: "  myc tools approve github__create_issue\n  myc tools approve github --yes",
		Args:    base.ArgRange(1, 1, "the name of a tool, or a server"),
		RunE:    func(c *cobra.Command, args []string) error { return a.toolsApprove(c.Context(), args[0], o) },
	}
	c.Flags().StringVar(&o.digest, "digest", "", "accept only the definition with this digest (its first 12 characters or more)")
	c.Flags().BoolVarP(&o.yes, "yes", "y", false, "do not ask")
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
	rows, err := a.held(ctx, c, name)
	if err != nil {
		return err
	}
	if o.digest != "" {
		rows = slices.DeleteFunc(rows, func(r api.HeldItem) bool { return len(o.digest) < 12 || !strings.HasPrefix(r.Digest, o.digest) })
		if len(rows) == 0 {
			return failure.Hint(fmt.Errorf("%s: no definition in quarantine has the digest %s", name, o.digest),
				"the definition changed, or the digest is shorter than 12 characters; see myc tools diff "+name)
		}
	}
	if !a.JSON {
		a.printHeld(rows)
	}
	if !o.yes && o.digest == "" && base.StdinIsTerminal(a.In) && !a.Confirm("Accept "+text.Count(len(rows), "definition")+"? [y/N] ") {
		return failure.New(failure.Denied, fmt.Errorf("tools approve: the definition was not accepted"), "")
	}
	var p api.AcceptParams
	for _, r := range rows {
		p.Items = append(p.Items, backend.Acceptance{Name: r.Name, Digest: r.Digest})
	}
	if _, err := base.Call(ctx, c, api.Accept, p); err != nil {
		return err
	}
	if a.JSON {
		return a.PrintJSON(p.Items)
	}
	for _, r := range rows {
		fmt.Fprintf(a.Err, "myc: accepted %s\n", text.Flatten(r.Name))
	}
	return nil
}
