// Package tools has the commands that list, call and accept tools.
package tools

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"mycelium/cmd/myc/internal/base"
	"mycelium/internal/config/toolindex"
	"mycelium/internal/node/api"
)

// app is the program with the commands of this family.
type app struct{ *base.App }

// Tools is `myc tools`.
func Tools(a *base.App) *cobra.Command { return (&app{a}).toolsCmd() }

// Call is `myc call`.
func Call(a *base.App) *cobra.Command { return (&app{a}).callCmd() }

func (a *app) toolsCmd() *cobra.Command {
	var p api.ToolsParams
	look := func(use, example string) *cobra.Command {
		c := &cobra.Command{
			Use: use, Short: "List the tools that a session would see", Example: example, Args: base.NoArgs,
			Long: "List the tools that a session would see, and what they do. A tool mutates unless a server with trust: true says that it\n" +
				"only reads. Of other servers that is a claim, \"says reads\": rules take such a tool for one that changes something.",
			RunE: func(c *cobra.Command, _ []string) error { return a.tools(c.Context(), p) },
		}
		c.Flags().StringVar(&p.Role, "role", "", "role of the session (default: session.defaultRole)")
		c.Flags().StringSliceVar(&p.Skills, "skill", nil, "active skills (default: those that are active at the start)")
		c.Flags().BoolVar(&p.All, "all", false, "also list hidden tools, with the reason (for the operator)")
		return c
	}
	c := look("tools", "  myc tools --role guest\n  myc tools --role developer --skill reader --json\n  myc tools --all")
	c.AddCommand(look("list", "  myc tools list --role guest"), &cobra.Command{
		Use: "sync", Short: "Write .mycelium/tools/index.yaml and categories.yaml", Example: "  myc tools sync --json", Args: base.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return a.toolsSync(c.Context()) },
	}, a.toolsDiffCmd(), a.toolsApproveCmd(), a.toolsKeepOutCmd())
	return c
}

func (a *app) tools(ctx context.Context, p api.ToolsParams) error {
	if p.All {
		if err := a.NeedPerson("list hidden tools"); err != nil {
			return err
		}
	}
	c, err := a.Connect(ctx)
	if err != nil {
		return err
	}
	defer c.Close()
	if err := a.LearnPending(ctx, c); err != nil {
		return err
	}
	rows, err := base.Call(ctx, c, api.Tools, p)
	if err != nil {
		return err
	}
	a.WarnBroken(ctx, c)
	if a.JSON {
		return a.PrintJSON(rows)
	}
	columns := []base.Column{{Name: "TOOL", Least: 32}, {Name: "CATEGORY", Drop: 4}, {Drop: 3}, {Name: "SKILLS", Least: 10, Drop: 2},
		{Name: "DESCRIPTION", Least: 20, Drop: 1}}
	if p.All {
		columns[4].Name = "REASON"
		columns = append([]base.Column{{Paint: base.ByEffect}}, columns...)
	}
	var cells [][]string
	for _, r := range rows {
		does := ""
		if r.Mutates {
			does = toolindex.Does(r.Mutates, r.SaysReads)
		}
		line := []string{r.Name, r.Category, does, base.OrDash(strings.Join(r.Skills, ", ")), r.Description}
		if r.Visible != nil {
			mark := "hidden"
			if *r.Visible {
				mark = "visible"
			}
			line = append([]string{mark}, append(line[:4:4], r.Reason)...)
		}
		cells = append(cells, line)
	}
	a.Table(columns...).Print(cells...)
	return nil
}
