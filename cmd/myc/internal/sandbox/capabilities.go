package sandbox

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"mycelium/cmd/myc/internal/base"
	"mycelium/internal/hook/install"
	"mycelium/internal/node/project"
	"mycelium/internal/node/sandboxed"
	"mycelium/internal/op/failure"
	"mycelium/internal/policy"
	"mycelium/internal/sandbox"
	"mycelium/internal/sandbox/cause"
	"mycelium/internal/sandbox/jail"
	"mycelium/internal/sandbox/quarantine"
	"mycelium/internal/text"
)

func (a *app) capabilitiesCmd() *cobra.Command {
	apparmor, backend := false, ""
	c := &cobra.Command{
		Use: "capabilities", Short: "Build every wall on this machine, now, and say which ones stand", Args: base.NoArgs,
		Long:    "Exit 0: all stand, and commands may run in the sandbox. Exit 1: one of them cannot be built, so that the sandbox refuses.",
		Example: "  myc sandbox capabilities\n  myc sandbox capabilities --apparmor | sudo tee /etc/apparmor.d/myc",
		RunE: func(c *cobra.Command, _ []string) error {
			self, err := sandboxed.Self()
			if err != nil {
				return err
			}
			if apparmor {
				_, err := fmt.Fprint(a.Out, cause.AppArmor(self.Argv[0]))
				return err
			}
			if backend == "" {
				backend = a.backend()
			} else if err := checkBackend(backend); err != nil {
				return err
			}
			found := sandbox.Probe(c.Context(), self, jail.Backend(backend))
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
	c.Flags().StringVar(&backend, "backend", "", backendUsage)
	c.Flags().BoolVar(&apparmor, "apparmor", false, "print a profile of AppArmor that lets this program make the walls")
	return c
}

const backendUsage = "who makes the walls: own, bubblewrap, container, or seatbelt (macOS, not tried on a Mac); default: sandbox.backend of " +
	"your own mycelium.yaml"

// checkBackend looks whether there is a back end of a name.
func checkBackend(name string) error {
	all := sandbox.Backends()
	if slices.Contains(all, name) {
		return nil
	}
	return text.Hinted(failure.Usagef("there is no back end %q of the sandbox", name), "there are "+strings.Join(all, ", "))
}

// backend is the back end of the files that are in force; where they cannot be read, that of ours.
func (a *app) backend() string {
	in, err := a.config(a.Find(project.NeedsProject) != nil)
	if err != nil {
		return string(jail.Own)
	}
	return string(in.File.Sandbox.Backend)
}

func (a *app) printCapabilities(c *sandbox.Capabilities) {
	facts := [][]string{{"system", c.System + ", kernel " + base.OrDash(c.Kernel)}, {"user", c.User}, {"back end", string(c.Backend)}}
	if c.Untried != "" {
		facts = append(facts, []string{"note", c.Untried})
	} else {
		facts = append(facts, []string{"Landlock ABI", number(uint64(c.ABI))}) //nolint:gosec // a small number
	}
	a.Facts(facts)
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

// doctor tells whether the sandbox holds here, and what is in quarantine. That it refuses is a problem only where the files want it.
func (a *app) doctor(ctx context.Context, v *project.View, add base.Report) {
	self, err := sandboxed.Self()
	if err != nil {
		add("problem", "sandbox", err.Error(), "")
		return
	}
	const more = "myc sandbox capabilities shows every layer"
	found := sandbox.Probe(ctx, self, v.Project.File.Sandbox.Backend)
	failed, bad := found.Failed()
	if found.Untried != "" {
		add("warning", "sandbox", found.Untried, "docs/sandbox.md, Back ends, names the limits")
	}
	switch {
	case found.Holds && v.Project.Walled():
		add("ok", "sandbox", "holds: every wall stands; commands of Claude Code, and of other agents that myc starts, run in it, with the profile "+
			v.Project.File.Policy.Wall, "")
	case found.Holds && slices.ContainsFunc(v.Project.Rules, func(r policy.Rule) bool { return !r.Sandbox.None() }):
		add("ok", "sandbox", "holds: every wall stands; rules run commands of Claude Code in it", "")
	case found.Holds:
		add("ok", "sandbox", "holds: every wall stands; agents' commands run with your rights: policy.wall names no profile of it (docs/sandbox.md)", "")
	case !bad:
		add("warning", "sandbox", "refuses: no program can be run in it", more)
	default:
		level := "warning"
		if sandboxed.Wanted(v.Project) {
			level = "problem"
		}
		hint := more
		if failed.Mend != "" {
			hint = failed.Mend + "; " + more
		}
		add(level, "sandbox", fmt.Sprintf("refuses: layer %s: %s: %s", failed.Layer, failed.Doing, failed.Cause), hint)
	}
	for _, own := range install.InOwnSandboxes(v.Project.Dir, a.Environ) {
		add("warning", "sandbox", own, "to have its commands in Mycelium's, switch off the other one")
	}
	waiting, err := quarantine.Waiting(v.Project.State.Sandbox("quarantine"))
	switch {
	case err != nil:
		add("problem", "quarantine", err.Error(), "look into the folder, and move away what is no entry")
	case len(waiting) > 0:
		add("warning", "quarantine", text.Count(len(waiting), "file")+" that would govern agents, the first is "+waiting[0].Path,
			"look at each: myc sandbox quarantine; restore or drop it")
	}
}
