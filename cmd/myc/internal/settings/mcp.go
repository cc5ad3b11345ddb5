package settings

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"mycelium/cmd/myc/internal/base"
	"mycelium/cmd/myc/internal/server"
	"mycelium/internal/config"
	"mycelium/internal/config/settings"
	"mycelium/internal/op/failure"
	"mycelium/internal/text"
)

func (a *app) mcpCmd() *cobra.Command {
	c := &cobra.Command{Use: "mcp", Short: "List, show and switch the MCP servers of the configuration",
		Example: "  myc config mcp disable fs",
		Args: elsewhere(map[string]string{"add": "myc server add tries a server and adds it", "remove": "myc server remove NAME",
			"test": "myc server test NAME"}),
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() }}
	one := base.ArgRange(1, 1, "one server")
	var user bool
	enable := &cobra.Command{Use: "enable NAME", Short: "Start a server again that was disabled",
		Example: "  myc config mcp enable fs", Args: one,
		RunE: func(c *cobra.Command, args []string) error { return a.disable(c, args[0], "", user) }}
	disable := &cobra.Command{Use: "disable NAME", Short: "Keep a server's entry, and neither start it nor show its tools",
		Example: "  myc config mcp disable fs", Args: one,
		RunE: func(c *cobra.Command, args []string) error { return a.disable(c, args[0], "true", user) }}
	for _, sub := range []*cobra.Command{enable, disable} {
		sub.Flags().BoolVar(&user, "user", false, "in your own file, for every project")
	}
	c.AddCommand(
		&cobra.Command{Use: "list", Short: "List the servers that are accepted (myc server list)", Example: "  myc config mcp list --json",
			Args: base.NoArgs, RunE: func(*cobra.Command, []string) error { return server.List(a.App) }},
		&cobra.Command{Use: "show NAME", Short: "Show the entry of a server, and which file has it",
			Example: "  myc config mcp show fs", Args: one,
			RunE: func(_ *cobra.Command, args []string) error { return a.showServer(args[0]) }},
		enable, disable)
	return c
}

// showServer prints the entry of a server.
func (a *app) showServer(name string) error {
	v, err := a.OpenView()
	if err != nil {
		return err
	}
	defer v.Close()
	all, err := settings.List(v.Project, nil)
	if err != nil {
		return err
	}
	from, ok := v.Project.Sources["mcpServers."+name]
	if !ok || strings.Contains(name, ".") {
		return server.Unknown(name)
	}
	raw, err := settings.Find(all, "mcpServers."+name)
	if err != nil {
		return err
	}
	if a.JSON {
		return a.PrintJSON(map[string]any{"name": name, "from": from, "entry": raw})
	}
	said, err := settings.Text(raw)
	if err == nil {
		_, err = fmt.Fprintf(a.Out, "# %s\n%s\n", from, text.Visible(said))
	}
	return err
}

// disable sets the key disabled of a server's entry, or takes it away.
func (a *app) disable(c *cobra.Command, name, value string, user bool) error {
	s := setting{act: strings.TrimSuffix(base.CommandName(c), ": "), key: "mcpServers." + name + ".disabled", value: value, user: user}
	if err := a.NeedPerson("change the configuration"); err != nil {
		return err
	}
	p, err := a.Load()
	if err != nil {
		return err
	}
	from, ok := p.Sources["mcpServers."+name]
	switch {
	case !ok || strings.Contains(name, "."):
		return server.Unknown(name)
	case from == config.Default:
		return failure.Hint(fmt.Errorf("%s: the built-in server %s has no entry", s.act, name), "a skill grants its tools, or does not")
	case !user && strings.HasPrefix(from, p.User.Shown("")):
		return failure.Hint(fmt.Errorf("%s: the server %s stands in your own file: %s", s.act, name, from), "add --user")
	}
	return a.set(c.Context(), s)
}
