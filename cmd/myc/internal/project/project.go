// Package project has the commands about a whole project: they set it up, trust it, check it and show its state.
package project

import (
	"github.com/spf13/cobra"

	"mycelium/cmd/myc/internal/base"
)

// app is the program with the commands of this family.
type app struct{ *base.App }

// Init is `myc init`. It puts the hook into an agent as `myc hook install` does, which is install.
func Init(a *base.App, install InstallHook) *cobra.Command { return (&app{a}).initCmd(install) }

// Status is `myc status`.
func Status(a *base.App) *cobra.Command { return (&app{a}).statusCmd() }

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
