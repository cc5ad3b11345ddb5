package settings

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"mycelium/cmd/myc/internal/base"
	"mycelium/internal/config/settings"
	"mycelium/internal/node/project"
	"mycelium/internal/op/failure"
	"mycelium/internal/text"
)

func (a *app) showCmd() *cobra.Command {
	var sources bool
	var format string
	c := &cobra.Command{Use: "show", Short: "Show the configuration that is in effect",
		Long: "Shows every value that is in effect, defaults among them. With --sources it says where each comes from: a flag or a\n" +
			"variable of the environment, which count first; a file of the project or of yours; a default.",
		Example: "  myc config show --sources\n  myc config show --format json", Args: base.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			switch {
			case a.JSON:
				format = "json"
			case sources && !c.Flags().Changed("format"):
				format = "table"
			case !slices.Contains([]string{"json", "yaml", "table"}, format):
				return failure.Usagef("config show: --format: %q is none of json, yaml and table", format)
			case sources && format == "yaml":
				return failure.Usagef("config show: --sources is for the formats table and json")
			}
			return a.show(format, sources)
		}}
	c.Flags().BoolVarP(&sources, "sources", "s", false, "also print where each value comes from")
	c.Flags().StringVarP(&format, "format", "f", "yaml", "yaml, json or table")
	return c
}

func (a *app) show(format string, sources bool) error {
	v, err := a.OpenView()
	if err != nil {
		return err
	}
	defer v.Close()
	all, err := settings.List(v.Project, a.BeforeFiles())
	if err != nil {
		return err
	}
	if format == "table" {
		return a.table(v, all, sources)
	}
	raw, err := settings.Whole(all)
	if err != nil {
		return err
	}
	if format == "json" {
		out := map[string]any{"config": raw, "servers": v.Project.Servers, "trusted": v.Project.Trusted}
		if sources {
			from := map[string]string{}
			for key, file := range v.Project.Sources {
				from[key] = file
			}
			for _, s := range all {
				from[s.Key] = s.From
			}
			out["sources"] = from
		}
		return a.PrintJSON(out)
	}
	said, err := settings.Text(raw)
	if err == nil {
		_, err = fmt.Fprintln(a.Out, said)
	}
	return err
}

// table prints each value, and with sources also which file each skill and role comes from.
func (a *app) table(v *project.View, all []settings.Setting, sources bool) error {
	ships, err := v.Project.Shipped(v.Project)
	if err != nil {
		return err
	}
	var rows, files [][]string
	for _, s := range all {
		said, err := oneLine(s)
		if err != nil {
			return err
		}
		row := []string{s.Key, base.OrDash(said)}
		if sources {
			row = append(row, s.From)
		}
		rows = append(rows, row)
	}
	columns := []base.Column{{Name: "KEY", Least: 20}, {Name: "VALUE", Least: 20}}
	if sources {
		columns = append(columns, base.Column{Name: "FROM", Least: 20})
		for key, file := range v.Project.Sources {
			if strings.HasPrefix(key, "skills.") || strings.HasPrefix(key, "roles.") {
				files = append(files, []string{key, base.OrDash(""), base.WithShipped(file, ships)})
			}
		}
	}
	slices.SortFunc(files, slices.Compare)
	a.Table(columns...).Print(append(rows, files...)...)
	return nil
}

// oneLine is a value in a cell of a table.
func oneLine(s settings.Setting) (string, error) {
	if s.Value.Kind() == '[' {
		return string(s.Value), nil
	}
	said, err := settings.Text(s.Value)
	return text.OneLine(said), err
}

func (a *app) getCmd() *cobra.Command {
	return &cobra.Command{Use: "get KEY", Short: "Print the value of one key that is in effect",
		Long:    "Prints a value, or what is below a key as YAML. A key that has no value and no default is an error.",
		Example: "  myc config get server.addr\n  myc config get session --json",
		Args:    base.ArgRange(1, 1, "one key, such as server.addr"),
		RunE:    func(_ *cobra.Command, args []string) error { return a.get(args[0]) }}
}

func (a *app) get(key string) error {
	v, err := a.OpenView()
	if err != nil {
		return err
	}
	defer v.Close()
	all, err := settings.List(v.Project, a.BeforeFiles())
	if err != nil {
		return err
	}
	raw, err := settings.Find(all, key)
	unknown := (*settings.UnknownError)(nil)
	switch {
	case errors.As(err, &unknown):
		return failure.New(failure.Usage, fmt.Errorf("config get: %w", err), unknown.Problem.Hint)
	case err != nil:
		return failure.Usagef("config get: %w", err)
	case raw == nil:
		return failure.New(failure.NotFound, fmt.Errorf("config get: %s is not set, and has no default", key),
			"myc config set "+key+" VALUE")
	case a.JSON:
		return a.PrintJSON(raw)
	}
	said, err := settings.Text(raw)
	if err == nil {
		_, err = fmt.Fprintln(a.Out, text.Visible(said))
	}
	return err
}
