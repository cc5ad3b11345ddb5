package sandbox

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"mycelium/cmd/myc/internal/base"
	"mycelium/internal/config"
	"mycelium/internal/config/profiles"
	"mycelium/internal/node/sandboxed"
	"mycelium/internal/op/failure"
	"mycelium/internal/policy/box"
	"mycelium/internal/sandbox"
	"mycelium/internal/sandbox/jail"
	"mycelium/internal/text"
)

// request is what `myc sandbox exec` was asked for.
type request struct {
	profile     string
	backend     string
	network     bool
	read, write []string
	hosts       []string
	registries  []string
	packages    []string
	masks       []string
	timeout     time.Duration
	print       bool
}

func (a *app) execCmd() *cobra.Command {
	var r request
	c := &cobra.Command{
		Use: "exec COMMAND [ARGUMENT]...", Short: "Run a command in the sandbox",
		Long: "The command finds the system's programs, an empty home folder with your tools, and this folder; nothing else is there.\n" +
			"If a wall cannot be built on this machine, nothing runs. Its exit code is the command's; 128 and the\n" +
			"signal if one ended it, 124 after the time-out, 127 if there is no such program.",
		Example: "  myc sandbox exec -- python3 script.py\n  myc sandbox exec --profile project -- go test ./...\n" +
			"  myc sandbox exec --profile project --registry npm -- npm ci\n" +
			"  myc sandbox exec --backend seatbelt --profile project --print -- true",
		Args: base.ArgRange(1, math.MaxInt, "a command"),
		RunE: func(c *cobra.Command, args []string) error { return a.exec(c, r, args) },
	}
	c.Flags().SetInterspersed(false) // what follows the command is its own
	c.Flags().StringVar(&r.profile, "profile", "standard", "strict, standard, permissive, project, or one of your own (myc sandbox profiles)")
	c.Flags().StringVar(&r.backend, "backend", "", backendUsage)
	c.Flags().BoolVar(&r.network, "allow-network", false, "with the network of this machine")
	c.Flags().StringArrayVar(&r.read, "read", nil, "a further file or folder that it may read")
	c.Flags().StringArrayVar(&r.write, "write", nil, "a file or folder that it may write")
	c.Flags().StringArrayVar(&r.hosts, "host", nil, "a host that it may reach, by a proxy: example.com, *.example.com, example.com:8443")
	c.Flags().StringArrayVar(&r.registries, "registry", nil,
		"a registry from which it may fetch the packages of the lock files at HEAD: npm, go, pypi, crates, rubygems, maven, or one of your own")
	c.Flags().StringArrayVar(&r.packages, "package", nil, "a further package of a registry: npm:left-pad")
	c.Flags().StringArrayVar(&r.masks, "mask", nil,
		"NAME@HOST[,HOST]...: a secret that only the proxy has, and puts into requests to these hosts")
	c.Flags().BoolVar(&r.print, "print", false,
		"print the profile that sandbox-exec of macOS would get (back end seatbelt), on any system, and run nothing")
	c.Flags().DurationVar(&r.timeout, "timeout", 0, "end it after this time; default: that of the profile")
	return c
}

func (a *app) exec(c *cobra.Command, r request, args []string) error {
	self, err := sandboxed.Self()
	if err != nil {
		return err
	}
	child := jail.Begin(c.Context(), self, jail.Options{Network: r.network}) // beside all that follows: it takes as long
	defer child.Close()
	if r.print && r.backend != string(jail.Seatbelt) {
		return text.Hinted(failure.Usagef("--print is about the back end seatbelt"), "the others take no text: add --backend seatbelt")
	}
	if err := a.NeedPerson("run a command in the sandbox"); err != nil {
		return err
	}
	command, in, err := a.command(r, args)
	if err != nil {
		return err
	}
	if r.print {
		profile, err := sandbox.SeatbeltText(c.Context(), command)
		if err == nil {
			_, err = fmt.Fprint(a.Out, profile)
		}
		return err
	}
	command.Child = child
	result, err := a.run(c.Context(), self, in, command)
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

// run runs a command, and records it if it is about a project.
func (a *app) run(ctx context.Context, self jail.Self, in *config.Project, command *sandbox.Command) (*sandbox.Result, error) {
	if in != nil {
		return sandboxed.Run(ctx, in, command)
	}
	return sandbox.Run(ctx, self, command)
}

// The exit codes with which env(1) and timeout(1) say the same.
const (
	exitNotFound = 127 // the program is not there, or cannot be executed
	exitTimedOut = 124
)

// command makes the command of the sandbox. in is the project that it is about; nil: there is none.
func (a *app) command(r request, args []string) (out *sandbox.Command, in *config.Project, err error) {
	dir, err := resolve(".")
	if err != nil {
		return nil, nil, err
	}
	out = &sandbox.Command{Project: dir, Environ: a.Environ}
	of, noProject := a.ofProject()
	if noProject == nil {
		out = &of
	} else if home := a.Getenv("HOME"); home != "" {
		if out.Home, err = resolve(home); err != nil {
			return nil, nil, err
		}
	}
	in, err = a.config(noProject != nil)
	if err != nil {
		return nil, nil, err
	}
	section := in.File.Sandbox
	p, err := r.of(section)
	if err != nil {
		return nil, nil, err
	}
	if noProject != nil {
		in = nil
		if p.Project {
			return nil, nil, noProject
		}
	}
	if dir != out.Project && !strings.HasPrefix(dir, out.Project+"/") {
		dir = out.Project // -C names another folder
	}
	out.Argv, out.Dir, out.Profile, out.In, out.Out, out.Err = args, dir, p, a.In, a.Out, a.Err
	if err := r.name(out); err != nil {
		return nil, nil, err
	}
	more, err := section.Granted(box.Box{Registries: r.registries})
	if err != nil {
		return nil, nil, text.Hinted(failure.Usagef("--registry: %w", err), "docs/sandbox.md, Registries, has the table")
	}
	out.Registries, out.Packages = more.Registries, r.packages
	return out, in, a.reach(r, out)
}

// name adds the paths of the command line.
func (r request) name(c *sandbox.Command) error {
	for _, list := range []struct {
		to   *[]string
		from []string
	}{{&c.Read, r.read}, {&c.Write, r.write}} {
		for _, name := range list.from {
			path, err := resolve(name)
			if err != nil {
				return err
			}
			*list.to = append(*list.to, path)
		}
	}
	return nil
}

// of is the profile that was asked for, with what the command line adds.
func (r request) of(section profiles.Section) (sandbox.Profile, error) {
	p, ok := section.Find(r.profile)
	if !ok {
		var names []string
		for _, p := range section.All() {
			names = append(names, p.Name)
		}
		err := failure.Usagef("there is no profile %q", r.profile)
		if near := text.Nearest(r.profile, names); near != "" {
			return p, text.Hinted(err, "did you mean "+near+"?")
		}
		return p, text.Hinted(err, "myc sandbox profiles lists them")
	}
	p.Network = p.Network || r.network
	if r.backend != "" {
		if err := checkBackend(r.backend); err != nil {
			return p, err
		}
		p.Backend = jail.Backend(r.backend)
	}
	if r.timeout > 0 {
		p.Seconds = r.timeout.Seconds()
	}
	return p, nil
}
