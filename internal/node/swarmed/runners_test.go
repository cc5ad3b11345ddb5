package swarmed

import (
	"slices"
	"testing"

	"mycelium/internal/swarm/runner"
)

// TestRunnersThatFit: a budget needs a runner that tells its cost, and a program that is absent is named.
func TestRunnersThatFit(t *testing.T) {
	for _, name := range runner.Names() {
		if err := Affordable(name, 1); (err == nil) != slices.Contains([]string{runner.Claude, runner.Terminal, runner.API}, name) {
			t.Errorf("%s with a budget: %v", name, err)
		}
		if err := Present([]string{"PATH=/nowhere"}, name); (err == nil) != (name == runner.Command) {
			t.Errorf("%s without its program: %v", name, err)
		}
	}
	if err := Present([]string{"ANTHROPIC_API_KEY=k"}, runner.API); err != nil {
		t.Errorf("api with a key: %v", err)
	}
}
