package sandbox

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"mycelium/cmd/myc/internal/base"
	"mycelium/internal/node/failure"
	"mycelium/internal/node/sandboxed"
	"mycelium/internal/sandbox"
	"mycelium/internal/sandbox/jail"
	"mycelium/internal/text"
)

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
		Use: "exec COMMAND [ARGUMENT]...", Short: "Run a command in the sandbox",
		Long: "The command finds the system's programs, an empty home folder with your tools, and this folder; nothing else is there.\n" +
			"If a wall cannot be built on this machine, nothing runs. Its exit code is the command's; 128 and the\n" +
			"signal if one ended it, 124 after the time-out, 127 if there is no such program.",
		Example: "  myc sandbox exec -- python3 script.py\n  myc sandbox exec --profile project -- go test ./...",
		Args:    base.ArgRange(1, math.MaxInt, "a command"),
		RunE:    func(c *cobra.Command, args []string) error { return a.exec(c, r, args) },
	}
	c.Flags().SetInterspersed(false) // what follows the command is its own
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
	argv, err := sandboxed.Self()
	if err != nil {
		return err
	}
	result, err := sandbox.Run(c.Context(), argv, command)
	if result != nil {
		result.Left.Say(a.Err, command.Quarantine)
	}
	var start *jail.StartError
	switch {
	case errors.As(err, &start):
		fmt.Fprintf(a.Err, "myc: %s\n", text.Visible(start.Error()))
		return base.Exit{Code: exitNotFound}
	case err != nil:
		return err
	case result.TimedOut:
		fmt.Fprintf(a.Err, "myc: the command was ended after %s\n", command.Profile.Timeout())
		return base.Exit{Code: exitTimedOut}
	case result.ExitCode != 0:
		return base.Exit{Code: result.ExitCode}
	}
	return nil
}

// The exit codes with which env(1) and timeout(1) say the same.
const (
	exitNotFound = 127 // the program is not there, or cannot be executed
	exitTimedOut = 124
)

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
		p.Seconds = r.timeout.Seconds()
	}
	dir, err := resolve(".")
	if err != nil {
		return nil, err
	}
	out := &sandbox.Command{Project: dir, Environ: a.Environ}
	if of, err := a.ofProject(); err == nil {
		out = &of
	} else if p.Project {
		return nil, err
	} else if home := a.Getenv("HOME"); home != "" {
		if out.Home, err = resolve(home); err != nil {
			return nil, err
		}
	}
	if dir != out.Project && !strings.HasPrefix(dir, out.Project+"/") {
		dir = out.Project // -C names another folder
	}
	out.Argv, out.Dir, out.Profile, out.In, out.Out, out.Err = args, dir, p, a.In, a.Out, a.Err
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
