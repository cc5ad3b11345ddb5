package main

import (
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"mycelium/internal/policy"
)

func (a *app) configCmd() *cobra.Command {
	c := &cobra.Command{Use: "config", Short: "What the files come to", Example: "  myc config show --sources", Args: noArgs, RunE: func(c *cobra.Command, _ []string) error { return c.Help() }}
	var sources bool
	show := &cobra.Command{Use: "show", Short: "The effective configuration", Example: "  myc config show --sources", Args: noArgs,
		RunE: func(*cobra.Command, []string) error { return a.configShow(sources) }}
	show.Flags().BoolVar(&sources, "sources", false, "which file each value came from")
	c.AddCommand(show,
		&cobra.Command{Use: "validate", Short: "Check every file; exit 4 if one is wrong", Example: "  myc config validate --json", Args: noArgs,
			RunE: func(*cobra.Command, []string) error { return a.configValidate() }})
	return c
}

func (a *app) configShow(sources bool) error {
	v, err := a.look()
	if err != nil {
		return err
	}
	defer v.close()
	if a.json {
		out := map[string]any{"config": v.project.File, "servers": v.project.Servers, "trusted": v.project.Trusted}
		if sources {
			out["sources"] = v.project.Sources
		}
		return a.printJSON(out)
	}
	b, err := v.project.File.YAML()
	if err != nil {
		return err
	}
	if _, err := a.out.Write(b); err != nil {
		return err
	}
	if !sources {
		return nil
	}
	fmt.Fprintln(a.out)
	var rows [][]string
	for key, file := range v.project.Sources {
		rows = append(rows, []string{key, file})
	}
	slices.SortFunc(rows, slices.Compare)
	table(a.out, append([][]string{{"KEY", "FROM"}}, rows...))
	return nil
}

// configValidate reports every problem of every file.
func (a *app) configValidate() error {
	v, err := a.look()
	if err != nil {
		return err
	}
	defer v.close()
	all := append([]policy.Problem{}, v.problems...)
	for _, s := range v.skills.All() {
		for _, p := range s.Problems {
			if !slices.Contains(all, p) {
				all = append(all, p)
			}
		}
	}
	bad := 0
	for _, p := range all {
		if !p.Warning {
			bad++
		}
		if !a.json {
			fmt.Fprintln(a.err, problemText(p))
		}
	}
	if a.json {
		if err := a.printJSON(all); err != nil {
			return err
		}
	}
	if bad > 0 {
		return configError(fmt.Errorf("config: %d problem(s)", bad), "")
	}
	if !a.json {
		fmt.Fprintln(a.out, "ok")
	}
	return nil
}
