package open

import (
	"context"
	"errors"
	"fmt"

	"github.com/go-json-experiment/json/jsontext"

	"mycelium/cmd/myc/internal/engine"
	"mycelium/internal/agent"
	"mycelium/internal/agent/structured"
	"mycelium/internal/approval"
	"mycelium/internal/swarm/planning"
)

// askBudget is what one question to a model may cost, in US dollars.
const askBudget = 2

// Ask asks the model of the engine that works here, in a session of a role, without any tools.
func (a *App) Ask(role, model string) planning.Ask {
	return func(ctx context.Context, schema, said string) (_ jsontext.Value, usd float64, err error) {
		form, err := structured.Parse([]byte(schema))
		if err != nil {
			return nil, 0, err
		}
		e, err := engine.Open(ctx, a.App, engine.Options{Role: role, Model: model, Ask: approval.AskReached, Toolless: true, Budget: askBudget,
			Anywhere: a.Anywhere, Wall: a.Wall})
		if err != nil {
			return nil, 0, err
		}
		defer func() { err = errors.Join(err, e.Close()) }()
		turn, answer, err := form.Say(ctx, e, said, func(agent.Event) {})
		if err == nil && turn.Stop != agent.StopEnd {
			err = fmt.Errorf("the model did not answer: %s", turn.Stop)
		}
		return answer, turn.Cost, err
	}
}
