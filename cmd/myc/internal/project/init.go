// Package project has the commands about a whole project: they set it up, trust it, check it and show its state.
package project

import (
	"fmt"

	"github.com/spf13/cobra"

	"mycelium/cmd/myc/internal/base"
	"mycelium/internal/config/fromclaude"
	"mycelium/internal/config/scaffold"
	"mycelium/internal/node/failure"
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
	var o scaffold.Options
	var from string
	c := &cobra.Command{
		Use: "init [DIR]", Short: "Write mycelium.yaml, skills/, roles/ and rules.yaml; existing files are kept",
		Example: "  myc init my-project\n  myc init --minimal\n  myc init --from claude", Args: base.ArgRange(0, 1, "at most one folder"),
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 1 {
				a.Dir = args[0]
			}
			if from == "" {
				return a.SetUp(o)
			}
			if from != "claude" || o.Minimal {
				return failure.Usagef("init: --from takes claude, and not with --minimal")
			}
			plan, err := fromclaude.Read(a.Dir, "developer")
			if err != nil {
				return fmt.Errorf("init --from claude: %w", err)
			}
			o.Import = plan
			return a.SetUp(o)
		},
	}
	c.Flags().BoolVar(&o.Minimal, "minimal", false, "only mycelium.yaml, rules.yaml and empty folders")
	c.Flags().StringVar(&o.Template, "template", "", "also add a skill from this template (myc skill templates)")
	c.Flags().StringVar(&from, "from", "", "claude: also write what .claude/ and .mcp.json mean: rules, skills and roles")
	return c
}
