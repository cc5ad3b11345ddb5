package skill

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"mycelium/cmd/myc/internal/base"
	"mycelium/internal/backend/pin"
	"mycelium/internal/node/api"
	"mycelium/internal/node/project"
	"mycelium/internal/op/failure"
	"mycelium/internal/text"
)

// servedRows are the served skills that have no effect.
func servedRows(served []pin.Served) []skillRow {
	rows := []skillRow{}
	for _, s := range served {
		if s.State != pin.SkillApproved {
			rows = append(rows, skillRow{Name: s.Name, Description: s.Description, Roles: []string{}, Tools: []string{},
				Triggers: []string{}, Problems: []base.ProblemShape{base.ShapeOf(project.ServedProblem(s))}, Source: "mcp:" + s.Server})
		}
	}
	return rows
}

func (a *app) skillApproveCmd() *cobra.Command {
	var yes, sure bool
	c := &cobra.Command{
		Use: "approve NAME", Short: "Approve a skill that a server serves",
		Long: "Show SKILL.md and what the skill would grant, and approve it for the digests of its files. If one of the files changes,\n" +
			"the approval ends. Such a skill grants tools of its own server only, to the roles whose role file lists it. One in which the\n" +
			"scan finds something dangerous needs a second sign: at a terminal you are asked for it; elsewhere it is --sure.",
		Example: "  myc skill approve docs.refunds", Args: base.ArgRange(1, 1, "one skill of a server"),
		RunE: func(c *cobra.Command, args []string) error { return a.skillApprove(c.Context(), args[0], yes, sure) },
	}
	c.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask")
	c.Flags().BoolVar(&sure, "sure", false, "you have read what the scan found; a dangerous skill needs it")
	return c
}

func (a *app) skillApprove(ctx context.Context, name string, yes, sure bool) error {
	if err := a.NeedPerson("approve a skill"); err != nil {
		return err
	}
	c, err := a.Connect(ctx)
	if err != nil {
		return err
	}
	defer c.Close()
	if err := a.LearnPending(ctx, c); err != nil {
		return err
	}
	r, err := base.Call(ctx, c, api.ServedSkill, api.ServedSkillParams{Name: name})
	if err != nil {
		return err
	}
	if !a.JSON {
		fmt.Fprintf(a.Out, "%s, digest %s\ngrants %s\n", text.Flatten(r.Name), r.Digest, base.OrDash(strings.Join(r.Tools, ", ")))
		for _, p := range r.Problems {
			fmt.Fprintln(a.Out, p)
		}
		for _, f := range r.Findings {
			fmt.Fprintf(a.Out, "%s %s: %s: %s\n", f.Severity, f.Family, f.Why, f.Excerpt)
		}
		fmt.Fprintln(a.Out)
		for line := range strings.SplitSeq(r.Text, "\n") {
			fmt.Fprintln(a.Out, "  "+text.OneLine(line))
		}
	}
	if !yes && base.StdinIsTerminal(a.In) && !a.Confirm("Approve it? [y/N] ") {
		return failure.New(failure.Denied, fmt.Errorf("skill approve: the skill was not approved"), "")
	}
	if d := r.Demand(); d.Any() && !sure && base.StdinIsTerminal(a.In) {
		if sure = a.Confirm(text.OneLine(d.Asks()) + " [y/N] "); !sure {
			return failure.New(failure.Denied, fmt.Errorf("skill approve: the skill was not approved"), "")
		}
	}
	if _, err := base.Call(ctx, c, api.ApproveSkill, api.ServedSkillParams{Name: name, Digest: r.Digest, Sure: sure}); err != nil {
		return err
	}
	if a.JSON {
		return a.PrintJSON(r)
	}
	fmt.Fprintf(a.Err, "myc: approved %s: it is open to the roles whose file lists it in allowedSkills\n", text.Flatten(name))
	return nil
}
