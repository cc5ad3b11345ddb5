package modes

import (
	"github.com/spf13/cobra"

	"mycelium/cmd/myc/internal/base"
	"mycelium/cmd/myc/internal/question"
	"mycelium/internal/hook"
	"mycelium/internal/node/spawned"
	"mycelium/internal/op/failure"
)

// SubAgent is the command that the daemon starts for a call of spawn_sub_agent. Its session is that of the token in its environment, and
// its task is the input.
func SubAgent(b *base.App) *cobra.Command {
	a := &app{App: b}
	c := &cobra.Command{Use: spawned.Command, Short: "Do the task of a sub-agent (started by the daemon)", Hidden: true, Args: base.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if a.Getenv(hook.TokenVar) == "" {
				return failure.Usagef("the daemon starts sub-agents: " + hook.TokenVar + " is not set")
			}
			a.Agent, a.JSON = true, true // the daemon pins where the state is
			task, err := question.Said(a.App, nil)
			if err == nil && task == "" {
				err = failure.Usagef("the input has no task")
			}
			if err != nil {
				return err
			}
			return question.Work(c.Context(), a.App, a.options, task)
		}}
	f := c.Flags()
	f.StringVarP(&a.options.Model, "model", "m", "", "model: opus, sonnet, haiku, or a full id")
	f.Float64Var(&a.options.Budget, "budget", 0, "stop when it has cost this many `USD`")
	f.StringVar(&a.options.Above, "above", "", "`ID` of the session that started it")
	return c
}
