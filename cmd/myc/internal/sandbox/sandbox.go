// Package sandbox has the commands of the sandbox.
package sandbox

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"mycelium/cmd/myc/internal/base"
	"mycelium/internal/node/failure"
	"mycelium/internal/sandbox"
	"mycelium/internal/sandbox/jail"
	"mycelium/internal/text"
)

// app is the program with the commands of this family.
type app struct{ *base.App }

// childName is the command that the sandbox starts this program with.
const childName = "sandbox-child"

// Child runs the child of the sandbox if the arguments ask for it, before anything else is set up.
func Child(args []string) (code int, ok bool) {
	if len(args) != 1 || args[0] != childName {
		return 0, false
	}
	return jail.Main(), true
}

// Command is `myc sandbox`.
func Command(a *base.App) *cobra.Command {
	s := &app{a}
	c := &cobra.Command{
		Use: "sandbox", Short: "Run a command where it reaches only what it needs", Args: base.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(s.execCmd(), s.profilesCmd(), s.capabilitiesCmd())
	return c
}

// self is the argument vector of the child.
func self() ([]string, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find this program: %w", err)
	}
	return []string{program, childName}, nil
}

// request is what `myc sandbox exec` was asked for.
type request struct {
	profile     string
	network     bool
	read, write []string
	timeout     time.Duration
}

func (a *app) execCmd() *cobra.Command {
	var r request
	c := &cobra.Command{
		Use: "exec [flags] -- COMMAND [ARGUMENT]...", Short: "Run a command in the sandbox",
		Long: "The command finds the system's programs, an empty home folder with your tools, and this folder; nothing else is there.\n" +
			"If a wall cannot be built on this machine, nothing runs. Its exit code is the command's; 128 and the signal if one ended it.",
		Example: "  myc sandbox exec -- python3 script.py\n  myc sandbox exec --profile project -- go test ./...",
		Args:    cobra.MinimumNArgs(1),
		RunE:    func(c *cobra.Command, args []string) error { return a.exec(c, r, args) },
	}
	c.Flags().StringVar(&r.profile, "profile", "standard", "strict, standard, permissive or project")
	c.Flags().BoolVar(&r.network, "allow-network", false, "with the network of this machine")
	c.Flags().StringArrayVar(&r.read, "read", nil, "a further file or folder that it may read")
	c.Flags().StringArrayVar(&r.write, "write", nil, "a file or folder that it may write")
	c.Flags().DurationVar(&r.timeout, "timeout", 0, "end it after this time; default: that of the profile")
	return c
}

func (a *app) exec(c *cobra.Command, r request, args []string) error {
	if err := a.NeedPerson("run a command in the sandbox"); err != nil {
		return err
	}
	command, err := a.command(r, args)
	if err != nil {
		return err
	}
	argv, err := self()
	if err != nil {
		return err
	}
	result, err := sandbox.Run(c.Context(), argv, command)
	if result != nil {
		a.say(command, result.Left)
	}
	if err != nil {
		return err
	}
	if result.TimedOut {
		fmt.Fprintf(a.Err, "myc: the command was ended after %s\n", command.Profile.Timeout)
	}
	if result.ExitCode != 0 {
		return base.Exit{Code: result.ExitCode}
	}
	return nil
}

// command makes the command of the sandbox.
func (a *app) command(r request, args []string) (*sandbox.Command, error) {
	p, ok := sandbox.Find(r.profile)
	if !ok {
		var names []string
		for _, p := range sandbox.Profiles() {
			names = append(names, p.Name)
		}
		err := failure.Usagef("there is no profile %q", r.profile)
		if near := text.Nearest(r.profile, names); near != "" {
			return nil, text.Hinted(err, "did you mean "+near+"?")
		}
		return nil, text.Hinted(err, "myc sandbox profiles lists them")
	}
	p.Network = p.Network || r.network
	if r.timeout > 0 {
		p.Timeout = r.timeout
	}
	dir, err := resolve(".")
	if err != nil {
		return nil, err
	}
	out := &sandbox.Command{Argv: args, Dir: dir, Project: dir, Profile: p, Environ: a.Environ, In: a.In, Out: a.Out, Err: a.Err}
	if home := a.Getenv("HOME"); home != "" {
		if out.Home, err = resolve(home); err != nil {
			return nil, err
		}
	}
	if p.Project {
		if err := a.ofProject(out); err != nil {
			return nil, err
		}
	}
	for _, list := range []struct {
		to   *[]string
		from []string
	}{{&out.Read, r.read}, {&out.Write, r.write}} {
		for _, name := range list.from {
			path, err := resolve(name)
			if err != nil {
				return nil, err
			}
			*list.to = append(*list.to, path)
		}
	}
	return out, nil
}

// resolve returns the absolute path of what exists, without links.
func resolve(name string) (string, error) {
	path, err := filepath.Abs(name)
	if err == nil {
		path, err = filepath.EvalSymlinks(path)
	}
	if err != nil {
		var at *os.PathError
		if errors.As(err, &at) {
			err = at.Err
		}
		return "", failure.Usagef("%s: %w", name, err)
	}
	return path, nil
}

func (a *app) profilesCmd() *cobra.Command {
	return &cobra.Command{
		Use: "profiles", Short: "List what the profiles allow", Example: "  myc sandbox profiles --json", Args: base.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			all := sandbox.Profiles()
			if a.JSON {
				return a.PrintJSON(all)
			}
			var rows [][]string
			for _, p := range all {
				rows = append(rows, []string{p.Name, yes(p.Network, "machine", "own loopback"), number(p.Procs), number(p.Files),
					number(p.Memory >> 20), yes(p.Timeout > 0, p.Timeout.String(), "-"), p.Says})
			}
			a.Table(base.Column{Name: "NAME"}, base.Column{Name: "NETWORK"}, base.Column{Name: "PROCESSES", Drop: 1},
				base.Column{Name: "FILES", Drop: 2}, base.Column{Name: "MEMORY MiB", Drop: 1}, base.Column{Name: "TIME", Drop: 1},
				base.Column{Name: "WHAT IT IS FOR", Least: 20}).Print(rows...)
			return nil
		},
	}
}

func (a *app) capabilitiesCmd() *cobra.Command {
	return &cobra.Command{
		Use: "capabilities", Short: "Build every wall on this machine, now, and say which ones stand", Args: base.NoArgs,
		Long:    "Exit 0: all stand, and commands may run in the sandbox. Exit 1: one of them cannot be built, so that the sandbox refuses.",
		Example: "  myc sandbox capabilities",
		RunE: func(c *cobra.Command, _ []string) error {
			argv, err := self()
			if err != nil {
				return err
			}
			found := sandbox.Probe(c.Context(), argv)
			if a.JSON {
				err = a.PrintJSON(found)
			} else {
				a.printCapabilities(found)
			}
			if err == nil && !found.Holds {
				return base.Exit{Code: 1}
			}
			return err
		},
	}
}

func (a *app) printCapabilities(c *sandbox.Capabilities) {
	a.Facts([][]string{{"system", c.System + ", Linux " + c.Kernel}, {"user", c.User}, {"Landlock ABI", number(uint64(c.ABI))}}) //nolint:gosec // small
	var rows [][]string
	for _, l := range c.Layers {
		why := l.Cause
		if l.Doing != "" {
			why = l.Doing + ": " + l.Cause
		}
		if l.Mend != "" {
			why += ". " + l.Mend
		}
		rows = append(rows, []string{string(l.Layer), yes(l.Holds, "holds", yes(l.Tried, "fails", "not tried")), base.OrDash(why)})
	}
	a.Table(base.Column{Name: "LAYER"}, base.Column{Name: "STATE"}, base.Column{Name: "WHY", Least: 20}).Print(rows...)
	fmt.Fprintln(a.Out, "\n"+yes(c.Holds, "The sandbox holds here.", "The sandbox refuses to run anything here."))
}

func yes(is bool, then, otherwise string) string {
	if is {
		return then
	}
	return otherwise
}

func number(n uint64) string {
	if n == 0 {
		return "-"
	}
	return strconv.FormatUint(n, 10)
}
