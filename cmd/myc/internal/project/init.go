// Package project has the commands about a whole project: they set it up, trust it, check it and show its state.
package project

import (
	"github.com/spf13/cobra"

	"mycelium/cmd/myc/internal/base"
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
