// Package project has the commands about a whole project: they set it up, trust it, check it and show its state.
package project

import (
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"mycelium/cmd/myc/internal/base"
	"mycelium/internal/config/trust"
)

// app is the program with the commands of this family.
type app struct{ *base.App }

// Init is `myc init`.
func Init(a *base.App) *cobra.Command { return (&app{a}).initCmd() }

// Status is `myc status`.
func Status(a *base.App) *cobra.Command { return (&app{a}).statusCmd() }

// Config is `myc config`.
func Config(a *base.App) *cobra.Command { return (&app{a}).configCmd() }

// Watch is `myc watch`.
func Watch(a *base.App) *cobra.Command { return (&app{a}).watchCmd() }

// Version is `myc version`.
func Version(a *base.App) *cobra.Command { return (&app{a}).versionCmd() }

// Completion is `myc completion`.
func Completion(a *base.App) *cobra.Command { return (&app{a}).completionCmd() }

// Doctor is `myc doctor` with the checks of other families.
func Doctor(a *base.App, more ...base.Check) *cobra.Command { return (&app{a}).doctorCmd(more...) }

// Trust is `myc trust`.
func Trust(a *base.App) *cobra.Command { return (&app{a}).trustCmd() }

func (a *app) initCmd() *cobra.Command {
	var minimal bool
	var template string
	c := &cobra.Command{
		Use: "init [DIR]", Short: "Write mycelium.yaml, skills/, roles/ and rules.yaml; existing files are kept",
		Example: "  myc init my-project\n  myc init --minimal", Args: base.ArgRange(0, 1, "at most one folder"),
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 1 {
				a.Dir = args[0]
			}
			return a.SetUp(minimal, template)
		},
	}
	c.Flags().BoolVar(&minimal, "minimal", false, "only mycelium.yaml, rules.yaml and empty folders")
	c.Flags().StringVar(&template, "template", "", "also add a skill from this template (myc skill templates)")
	return c
}

func (a *app) trustCmd() *cobra.Command {
	var revoke bool
	c := &cobra.Command{
		Use: "trust [DIR]", Short: "Trust a folder, so that its servers, skills and rules take effect",
		Long: "A folder that you cloned may bring its own servers, skills, roles and rules. Until you trust the folder, its servers do\n" +
			"not start and its files grant no tool.",
		Example: "  myc trust\n  myc trust --revoke", Args: base.ArgRange(0, 1, "at most one folder"),
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 1 {
				a.Dir = args[0]
			}
			return a.trust(revoke)
		},
	}
	c.Flags().BoolVar(&revoke, "revoke", false, "stop trusting the folder")
	return c
}

func (a *app) trust(revoke bool) error {
	if err := a.NeedPerson("trust a folder"); err != nil {
		return err
	}
	dir, err := a.ProjectDir()
	if err != nil {
		return err
	}
	if revoke {
		was, err := trust.Remove(dir)
		if err != nil {
			return err
		}
		if !was {
			fmt.Fprintf(a.Out, "%s was not trusted\n", dir)
			return nil
		}
		fmt.Fprintf(a.Out, "%s is no longer trusted: its servers, skills and rules have no effect\n", dir)
		return nil
	}
	p, err := a.Load()
	if err != nil {
		return err
	}
	if err := trust.Add(dir); err != nil {
		return err
	}
	fmt.Fprintf(a.Out, "%s is trusted\n", dir)
	for _, f := range p.Untrusted {
		if rel, err := filepath.Rel(dir, f); err == nil {
			f = rel
		}
		fmt.Fprintf(a.Out, "  takes effect: %s\n", f)
	}
	return nil
}
