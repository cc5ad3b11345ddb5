package fleet

import (
	"context"
	"errors"
	"strings"
	"testing"

	"mycelium/internal/agent"
	"mycelium/internal/agent/structured"
)

// engine answers as a function says.
type engine struct {
	say func(ctx context.Context, said string, tell func(agent.Event)) (agent.Turn, error)
}

func (engine) Name() string { return "test" }
func (engine) ID() string   { return "c-1" }
func (engine) Close() error { return nil }
func (e engine) Say(ctx context.Context, said string, tell func(agent.Event)) (agent.Turn, error) {
	return e.say(ctx, said, tell)
}

// opens returns the engines in order, and the budgets with which they were opened.
func opens(budgets *[]float64, say ...func(context.Context, string, func(agent.Event)) (agent.Turn, error)) func(context.Context, int,
	float64) (Opened, error) {
	return func(_ context.Context, n int, budget float64) (Opened, error) {
		if budgets != nil {
			*budgets = append(*budgets, budget)
		}
		return Opened{engine{say[n]}, "s"}, nil
	}
}

// costs is an agent that answers with what it was told, and costs so much.
func costs(usd float64) func(context.Context, string, func(agent.Event)) (agent.Turn, error) {
	return func(_ context.Context, said string, tell func(agent.Event)) (agent.Turn, error) {
		tell(agent.Event{Spent: &agent.Spent{Cost: usd}})
		return agent.Turn{Text: said, Stop: agent.StopEnd, Cost: usd, Turns: 1}, nil
	}
}

func states(list []Agent) string {
	var out []string
	for _, a := range list {
		out = append(out, a.State)
	}
	return strings.Join(out, ",")
}

// TestFleetPipeline hands each result on as data, and stops at the first agent that is not completed.
func TestFleetPipeline(t *testing.T) {
	var second string
	r := Run{Mode: Pipeline, Tasks: []string{"one", "two", "three"}, Open: opens(nil, costs(0.5),
		func(_ context.Context, said string, tell func(agent.Event)) (agent.Turn, error) {
			second = said
			for _, effect := range []string{"deny", "allow", "deny", "deny"} {
				tell(agent.Event{Done: &agent.Done{Effect: effect}})
			}
			return agent.Turn{Stop: agent.StopTurns, Turns: 50}, nil
		}, costs(1))}
	got := r.Do(t.Context())
	if states(got) != "completed,errored,not run" || got[1].Denials != 3 || got[1].InARow != 2 || got[0].Cost != 0.5 || Cost(got) != 0.5 {
		t.Errorf("%+v", got)
	}
	if !strings.Contains(second, "is data from the agent before you") || !strings.Contains(second, `"one"`) ||
		!strings.HasSuffix(second, "two") {
		t.Errorf("the second was told %s", second)
	}
	schema, err := structured.Parse([]byte(`{"type":"object"}`))
	if err != nil {
		t.Fatal(err)
	}
	answer := func(text string) func(context.Context, string, func(agent.Event)) (agent.Turn, error) {
		return func(context.Context, string, func(agent.Event)) (agent.Turn, error) {
			return agent.Turn{Text: text, Stop: agent.StopEnd}, nil
		}
	}
	r = Run{Mode: Pipeline, Tasks: []string{"one", "two", "three"}, Schema: schema,
		Open: opens(nil, answer(`{"n": 1}`), answer("no"), costs(0))}
	if got = r.Do(t.Context()); states(got) != "completed,errored,not run" || string(got[0].Result) != `{"n": 1}` {
		t.Errorf("with a schema: %+v", got)
	}
}

// TestFleetBudgets: an agent gets its own budget or what is left of that of the run; nothing begins when that is spent.
func TestFleetBudgets(t *testing.T) {
	var budgets []float64
	r := Run{Mode: Pipeline, Tasks: []string{"1", "2", "3"}, Total: 1.5, Each: 1, Open: opens(&budgets, costs(1), costs(0.5), costs(1))}
	if got := r.Do(t.Context()); states(got) != "completed,completed,not run" || got[2].Error != spentAll ||
		len(budgets) != 2 || budgets[0] != 1 ||
		budgets[1] != 0.5 {
		t.Errorf("%+v %v", got, budgets)
	}
	// All at once: the one that spends the rest ends the others.
	begun := make(chan struct{})
	r = Run{Mode: Parallel, Tasks: []string{"1", "2"}, Total: 1, Open: opens(nil,
		func(ctx context.Context, _ string, _ func(agent.Event)) (agent.Turn, error) {
			close(begun)
			<-ctx.Done()
			return agent.Turn{Stop: agent.StopAborted}, nil
		},
		func(ctx context.Context, _ string, tell func(agent.Event)) (agent.Turn, error) {
			<-begun
			tell(agent.Event{Spent: &agent.Spent{Cost: 1}})
			return agent.Turn{Stop: agent.StopAborted, Cost: 1}, ctx.Err()
		})}
	if got := r.Do(t.Context()); states(got) != "aborted,aborted" || got[0].Error != spentAll ||
		got[1].Error != spentAll || Cost(got) != 1 {
		t.Errorf("at once: %+v", got)
	}
}

// TestFleetAbort: when the run is aborted, all of its agents are, and no other begins.
func TestFleetAbort(t *testing.T) {
	for _, mode := range []string{Parallel, Pipeline} {
		ctx, cancel := context.WithCancel(t.Context())
		wait := func(ctx context.Context, _ string, _ func(agent.Event)) (agent.Turn, error) {
			cancel()
			<-ctx.Done()
			return agent.Turn{Stop: agent.StopAborted}, nil
		}
		r := Run{Mode: mode, Tasks: []string{"1", "2"}, Open: opens(nil, wait, wait)}
		want := map[string]string{Parallel: "aborted,aborted", Pipeline: "aborted,not run"}[mode]
		if got := r.Do(ctx); states(got) != want {
			t.Errorf("%s: %+v", mode, got)
		}
	}
	r := Run{Mode: Single, Tasks: []string{"1"}, Open: func(context.Context, int, float64) (Opened, error) {
		return Opened{}, errors.New("no daemon")
	}}
	if got := r.Do(t.Context()); states(got) != Errored || got[0].Error != "no daemon" {
		t.Errorf("%+v", got)
	}
}
