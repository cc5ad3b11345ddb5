// Package server has the commands about MCP servers behind the gateway.
package server

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"mycelium/cmd/myc/internal/base"
	"mycelium/internal/backend"
	"mycelium/internal/config/servers"
	"mycelium/internal/op/failure"
)

// app is the program with the commands of this family.
type app struct{ *base.App }

// Command is `myc server`.
func Command(a *base.App) *cobra.Command { return (&app{a}).serverCmd() }

// addition is what `myc server add` is asked to do.
type addition struct {
	name, skill, role string
	sandbox           string
	env, header       []string
	command           []string // the command and its arguments, or one URL
	yes, dry          bool
	known             bool // the server is there, and only the skill is added
	login             bool // the server wants a login, so its tools are not known, and only the server is added
}

func (a *app) serverCmd() *cobra.Command {
	c := &cobra.Command{Use: "server", Short: "Add, test, list and remove MCP servers", Example: "  myc server list", Args: base.NoArgs,
		RunE: func(*cobra.Command, []string) error { return List(a.App) }}
	var n addition
	add := &cobra.Command{
		Use: "add NAME -- COMMAND [ARG ...] | add NAME URL", Short: "Add a server, with a skill that makes its tools visible to a role",
		Long: "Starts the server once, shows its tools, and proposes a skill: the tools that the server calls read-only are in it, the\n" +
			"others are commented out. On a terminal the command asks before it writes; elsewhere --yes writes, and without --yes\n" +
			"the plan is shown and no file changes. The entry in mycelium.yaml, the skill and the role's file change together or not\n" +
			"at all, and are in force at once. Of a server that wants a login, only the entry is written: after myc mcp login NAME,\n" +
			"myc skill add NAME --from NAME makes the skill.",
		Example: "  myc server add fs --role developer -- npx -y @modelcontextprotocol/server-filesystem .\n" +
			"  myc server add docs https://example.com/mcp --header 'Authorization=Bearer ${DOCS_TOKEN}' --role guest --yes",
		Args: base.ArgRange(2, 1000, "a name, and a command after -- or a URL"),
		RunE: func(c *cobra.Command, args []string) error {
			if n.name, n.command = args[0], args[1:]; !servers.ValidName(n.name) {
				return failure.New(failure.Usage, fmt.Errorf("server add: %q is no name of a server", n.name),
					"use 1 to 64 of the characters a-z 0-9 -, beginning with a letter or digit")
			}
			return a.add(c.Context(), n)
		}}
	add.Flags().StringVar(&n.skill, "skill", "", "name of the skill that is written (default: the server's name)")
	add.Flags().StringVar(&n.role, "role", "", "role that may use it (default: session.agentRole, else session.defaultRole)")
	add.Flags().StringArrayVar(&n.env, "env", nil, "K=V: a variable of the server; write a secret as K=${VAR}")
	add.Flags().StringArrayVar(&n.header, "header", nil, "K=V: a header for a URL; write a secret as ${VAR}")
	add.Flags().StringVar(&n.sandbox, "sandbox", "", "run it in the sandbox with this profile: strict, standard, project …")
	add.Flags().BoolVarP(&n.yes, "yes", "y", false, "do not ask")
	add.Flags().BoolVar(&n.dry, "dry-run", false, "show what would be written, and change no file")
	c.AddCommand(add,
		&cobra.Command{Use: "list", Short: "List the servers that are accepted", Example: "  myc server list --json", Args: base.NoArgs,
			RunE: func(*cobra.Command, []string) error { return List(a.App) }},
		&cobra.Command{Use: "remove NAME", Short: "Remove a server's entry from mycelium.yaml", Example: "  myc server remove fs",
			Args: base.ArgRange(1, 1, "one server"),
			RunE: func(_ *cobra.Command, args []string) error { return a.remove(args[0]) }},
		&cobra.Command{Use: "test NAME", Short: "Start a server once, and show what it offers or why it does not start",
			Example: "  myc server test fs", Args: base.ArgRange(1, 1, "one server"),
			RunE: func(c *cobra.Command, args []string) error { return a.test(c.Context(), args[0]) }})
	return c
}

// serverRow is one server in the shape of `myc server list --json`.
type serverRow struct {
	Name    string `json:"name"`
	Kind    string `json:"kind"` // stdio, http or builtin
	Start   string `json:"start"`
	Tools   int    `json:"tools"`             // as far as they are known
	State   string `json:"state"`             // known, pending or disabled
	Sandbox string `json:"sandbox,omitempty"` // the profile that it runs with; empty: it may do what the user may
}

// List is `myc server list`.
func List(a *base.App) error {
	v, err := a.OpenView()
	if err != nil {
		return err
	}
	defer v.Close()
	tools := map[string]int{}
	rows := []serverRow{}
	for _, s := range v.Pool.Status() {
		tools[s.Name] = s.Tools
		if s.State == backend.StateBuiltin && s.Name != servers.Files { // the one that has an entry always
			rows = append(rows, serverRow{Name: s.Name, Kind: "builtin", Start: s.Name, Tools: s.Tools, State: "known"})
		}
	}
	for _, s := range v.Project.Servers {
		r := serverRow{Name: s.Name, Kind: "stdio", Start: strings.Join(append([]string{s.Command}, s.Args...), " "),
			Tools: tools[s.Name], State: "known", Sandbox: s.Sandbox}
		switch {
		case s.URL != "":
			r.Kind, r.Start = "http", s.URL
		case s.Builtin != "":
			r.Kind, r.Start = "builtin", s.Builtin
		}
		if _, pending := v.Catalog.Pending[s.Name]; pending {
			r.State = "pending"
		}
		if s.Disabled {
			r.State = "disabled"
		}
		rows = append(rows, r)
	}
	slices.SortFunc(rows, func(x, y serverRow) int { return strings.Compare(x.Name, y.Name) })
	if a.JSON {
		return a.PrintJSON(rows)
	}
	cells := [][]string{}
	for _, r := range rows {
		cells = append(cells, []string{r.Name, r.Kind, fmt.Sprint(r.Tools), r.State, base.OrDash(r.Sandbox), r.Start})
	}
	a.Table(base.Column{Name: "SERVER", Least: 10}, base.Column{Name: "KIND", Drop: 1}, base.Column{Name: "TOOLS", Drop: 2},
		base.Column{Name: "STATE"}, base.Column{Name: "SANDBOX"}, base.Column{Name: "START", Least: 20}).Print(cells...)
	return nil
}

// Unknown is the error about a server that does not exist.
func Unknown(name string) error {
	return failure.New(failure.Usage, fmt.Errorf("server %q: no such server is accepted", name), "myc server list shows them")
}
