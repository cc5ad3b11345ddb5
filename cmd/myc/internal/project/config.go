package project

import (
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"mycelium/cmd/myc/internal/base"
	"mycelium/internal/node/failure"
	"mycelium/internal/node/project"
	"mycelium/internal/policy"
	"mycelium/internal/text"
)

func (a *app) configCmd() *cobra.Command {
	c := &cobra.Command{Use: "config", Short: "Show and check the configuration",
		Example: "  myc config show --sources", Args: base.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() }}
	var sources bool
	show := &cobra.Command{Use: "show", Short: "Show the configuration that is in effect",
		Example: "  myc config show --sources", Args: base.NoArgs,
		RunE: func(*cobra.Command, []string) error { return a.configShow(sources) }}
	show.Flags().BoolVar(&sources, "sources", false, "also print the file that each value came from")
	c.AddCommand(show, a.migrateCmd(),
		&cobra.Command{Use: "validate", Short: "Check every file; exit with 4 if one is wrong",
			Example: "  myc config validate --json", Args: base.NoArgs,
			RunE: func(*cobra.Command, []string) error { return a.configValidate() }})
	return c
}

func (a *app) configShow(sources bool) error {
	v, err := a.OpenView()
	if err != nil {
		return err
	}
	defer v.Close()
	if a.JSON {
		out := map[string]any{"config": v.Project.File, "servers": v.Project.Servers, "trusted": v.Project.Trusted}
		if sources {
			out["sources"] = v.Project.Sources
		}
		return a.PrintJSON(out)
	}
	b, err := v.Project.File.YAML()
	if err != nil {
		return err
	}
	if _, err := a.Out.Write(b); err != nil {
		return err
	}
	if !sources {
		return nil
	}
	ships, err := v.Project.Shipped(v.Project)
	if err != nil {
		return err
	}
	fmt.Fprintln(a.Out)
	var rows [][]string
	for key, file := range v.Project.Sources {
		rows = append(rows, []string{key, base.WithShipped(file, ships)})
	}
	slices.SortFunc(rows, slices.Compare)
	a.Table(base.Column{Name: "KEY", Least: 20}, base.Column{Name: "FROM", Least: 20}).Print(rows...)
	return nil
}

// configValidate reports every problem of every file as it is on disk, accepted or not. A variable or secret that is not here is none: the
// files are checked where the values of production are not.
func (a *app) configValidate() error {
	a.OnDisk = true
	v, err := a.OpenView()
	if err != nil {
		return err
	}
	defer v.Close()
	all := append([]policy.Problem{}, v.Problems...)
	for _, s := range v.Skills.All() {
		for _, p := range s.Problems {
			if !slices.Contains(all, p) {
				all = append(all, p)
			}
		}
	}
	all = project.Checked(all, slices.Concat(v.Names(), v.UnworkableAnywhere(), project.Form(v.Skills)))
	a.SayUntrusted(v)
	bad := 0
	for _, p := range all {
		if !p.Warning {
			bad++
		}
		if !a.JSON {
			fmt.Fprintln(a.Err, project.ProblemText(p))
		}
	}
	if a.JSON {
		if err := a.PrintJSON(all); err != nil {
			return err
		}
	}
	if bad > 0 {
		return failure.New(failure.Config, fmt.Errorf("config: %s", text.Count(bad, "problem")), "")
	}
	if !a.JSON {
		fmt.Fprintln(a.Out, "ok")
	}
	return nil
}
