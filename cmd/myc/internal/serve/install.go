package serve

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"

	"github.com/spf13/cobra"

	"mycelium/cmd/myc/internal/base"
	"mycelium/internal/hook/install"
	"mycelium/internal/op/failure"
	"mycelium/internal/state"
	"mycelium/internal/text"
)

// installCmd is `myc mcp install`.
func (a *app) installCmd() *cobra.Command {
	clients := install.Clients()
	names := make([]string, len(clients))
	for i, c := range clients {
		names[i] = c.Name
	}
	var user bool
	var name, role string
	var may []string
	c := &cobra.Command{
		Use: "install " + strings.Join(names, "|"), Short: "Put the gateway among the MCP servers of a client",
		Long: "Write an entry that starts myc mcp for this project into the client's configuration: the file of this folder if the client\n" +
			"reads one, else your own. Everything else in the file stays as it is. A second install changes nothing.",
		Example: "  myc mcp install cursor\n  myc mcp install zed --user --role developer",
		Args:    base.ArgRange(1, 1, "a client: "+strings.Join(names, ", ")), ValidArgs: names,
		RunE: func(_ *cobra.Command, args []string) error {
			for _, c := range clients {
				if c.Name == args[0] {
					return a.register(c, user, name, sessionArgs(role, may))
				}
			}
			near := ""
			if n := text.Nearest(args[0], names); n != "" {
				near = fmt.Sprintf(" (did you mean %s?)", n)
			}
			return failure.Usagef("mcp install: unknown client %q%s: the known clients are %s", args[0], near, strings.Join(names, ", "))
		},
	}
	c.Flags().BoolVar(&user, "user", false, "write your own configuration of the client, for every folder")
	c.Flags().StringVar(&name, "name", install.DefaultGateway, "name of the gateway among the client's servers")
	c.Flags().StringVar(&role, "role", "", "first role of the client's sessions (default: session.defaultRole)")
	c.Flags().StringSliceVar(&may, "may", nil, "further roles that the sessions may take")
	return c
}

// sessionArgs are the flags of myc mcp that describe the session.
func sessionArgs(role string, may []string) []string {
	args := []string{"mcp"}
	if role != "" {
		args = append(args, "--role", role)
	}
	for _, m := range may {
		args = append(args, "--may", m)
	}
	return args
}

// register writes the entry of the gateway into a client's configuration.
func (a *app) register(c install.Client, user bool, name string, mcp []string) error {
	if err := a.NeedPerson("change the configuration of " + c.Title); err != nil {
		return err
	}
	if err := a.CheckTrust(); err != nil {
		return err
	}
	project, err := a.Folder()
	if err != nil {
		return err
	}
	program, err := ownPath()
	if err != nil {
		return err
	}
	args := append([]string{"-C", project}, a.pin()...)
	args = append(args, mcp...)
	dir := project
	if user || !c.HasProjectFile(project, a.Environ) {
		dir = ""
	}
	change, err := c.Register(dir, a.Environ, name, program, args)
	if fe := (*install.FileError)(nil); errors.As(err, &fe) {
		return failure.Hint(err, fe.Hint)
	} else if err != nil {
		return err
	}
	if a.JSON {
		return a.PrintJSON(change)
	}
	fmt.Fprintf(a.Out, "%s %s\n", change.Did, text.Visible(change.File))
	fmt.Fprintf(a.Out, "%s starts %s %s\n", text.Visible(name), program, text.Visible(strings.Join(args, " ")))
	fmt.Fprintf(a.Out, "Next: %s\n", c.Next())
	return nil
}

// pin returns the flags that name the state folder: where it is not that of the account, in which the client's program would look.
func (a *app) pin() []string {
	paths, err := a.State()
	if err != nil {
		return nil // Folder has reported it
	}
	if account, err := state.OfAccount(); err == nil && account == paths.Root && a.ID == "" {
		return nil
	}
	return paths.Pin()
}

// ownPath returns the path by which people start this program, so that an update that replaces what it leads to is taken over; else that of
// the program itself.
func ownPath() (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("find own program: %w", err)
	}
	if found, err := exec.LookPath("myc"); err == nil {
		one, err1 := os.Stat(self)
		other, err2 := os.Stat(found)
		if err1 == nil && err2 == nil && os.SameFile(one, other) {
			return found, nil
		}
	}
	return self, nil
}
