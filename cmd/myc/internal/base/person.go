package base

import (
	"fmt"

	"mycelium/internal/node/fence"
	"mycelium/internal/op/failure"
)

// NeedPerson refuses an act of an operator to an agent.
func (a *App) NeedPerson(act string) error {
	if why := fence.AgentHere(a.Environ); why != "" {
		return failure.New(failure.Denied, fmt.Errorf("%s: only a person may do this, and %s", act, why),
			"run it in your own terminal, outside the agent")
	}
	return nil
}
