package swarmed

import (
	"errors"
	"fmt"

	"mycelium/internal/config/source"
	"mycelium/internal/harness"
	"mycelium/internal/op/failure"
	"mycelium/internal/swarm/runner"
)

// Present says what a runner lacks on this machine; nil: nothing.
func Present(environ []string, name string) error {
	if name == runner.API && source.Variable(environ, keyVar) == "" {
		return failure.Hint(errors.New("the runner api has no key: "+keyVar+" is not set"),
			"export "+keyVar+"=…, or use --runner claude, which also works with a subscription")
	}
	known, ok := harness.Named(runner.Program(name))
	if !ok {
		return nil
	}
	if _, err := known.Find(environ); err != nil {
		return failure.Hint(fmt.Errorf("the runner %s: %w", name, err), "install it: npm install -g "+known.Package)
	}
	return nil
}

// Affordable refuses a budget that a runner cannot keep, because it does not tell what it costs.
func Affordable(name string, budget float64) error {
	if budget > 0 && !runner.Prices(name) {
		return failure.Hint(fmt.Errorf("the runner %s does not tell what it costs, so no budget can stop it", name),
			"leave out the budget, or use --runner claude")
	}
	return nil
}
