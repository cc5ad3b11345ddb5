package modes

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"mycelium/cmd/myc/internal/base"
	"mycelium/cmd/myc/internal/engine"
	"mycelium/cmd/myc/internal/question"
	"mycelium/internal/agent"
	"mycelium/internal/agent/fleet"
	"mycelium/internal/approval"
	"mycelium/internal/op/failure"
	"mycelium/internal/text"
)

// runs are the flags of the command run.
type runs struct {
	fleet.Run
	schema string
	most   int // agents
}

// Run is the command run.
func Run(b *base.App) *cobra.Command {
	a := &app{App: b}
	var r runs
	c := &cobra.Command{Use: "run [PROMPT …]", Short: "Run one agent or several: all at once, or in a pipeline",
		Long: "Each prompt is the task of an agent of its own. With --mode parallel they run at once. With --mode pipeline they run one after\n" +
			"the other, each with the result of the one before it as JSON, up to the first that is not completed. Ctrl-C ends all of them.",
		Example: "  myc run -p \"list the public functions\" -p \"which of them have no test?\" --mode pipeline --role guest\n" +
			"  myc run --mode parallel -p \"review internal/a\" -p \"review internal/b\" --budget 2.50 --json",
		RunE: func(c *cobra.Command, args []string) error {
			if err := a.NeedPerson("run agents"); err != nil {
				return err
			}
			r.Tasks = append(r.Tasks, args...)
			return a.run(c.Context(), &r)
		}}
	r.flags(c.Flags(), &a.options)
	return c
}

func (r *runs) flags(f *pflag.FlagSet, o *engine.Options) {
	f.StringArrayVarP(&r.Tasks, "prompt", "p", nil, "the task of an agent; once for each agent")
	f.StringVar(&r.Mode, "mode", fleet.Single, "single, parallel (all at once) or pipeline (one after the other)")
	f.Float64Var(&r.Total, "budget", fleet.DefaultTotal, "stop when all agents together have cost this many `USD`; 0: no limit")
	f.Float64Var(&r.Each, "agent-budget", fleet.DefaultBudget, "stop an agent when it has cost this many `USD`; 0: no limit")
	f.IntVar(&r.most, "max-agents", fleet.DefaultAgents, "more agents at once than this are an error")
	f.IntVar(&o.MaxTurns, "max-turns", agent.DefaultMaxTurns, "stop an agent after this many questions to the model")
	f.StringVar(&r.schema, "schema", "", "each result is JSON that fits the JSON Schema in this `FILE`")
	f.StringVar(&o.Role, "role", "", "role of the agents (default: session.defaultRole)")
	f.StringSliceVar(&o.Skills, "skill", nil, "active skills (default: those that are active at the start)")
	f.StringVarP(&o.Model, "model", "m", "", "model: opus, sonnet, haiku, or a full id")
	f.StringVar(&o.Engine, "engine", "", "api or claude (default: api with ANTHROPIC_API_KEY, else an installed Claude Code)")
	f.BoolVarP(&o.Continue, "continue", "c", false, "go on with the last conversation; one agent only")
	f.StringVar(&o.Resume, "resume", "", "go on with the agent of this `ID`; one agent only")
	engine.ClaudeFlags(f, o)
	base.AskFlag(f, &o.Ask)
}

// check refuses what does not fit together.
func (r *runs) check(o engine.Options) error {
	switch {
	case !slices.Contains([]string{fleet.Single, fleet.Parallel, fleet.Pipeline}, r.Mode):
		return failure.Usagef("--mode: %q is not one of single, parallel, pipeline", r.Mode)
	case len(r.Tasks) == 0:
		return failure.Usagef("there is no task: name one with -p \"…\"")
	case slices.Contains(r.Tasks, ""):
		return failure.Usagef("a task is empty")
	case r.Mode == fleet.Single && len(r.Tasks) > 1:
		return failure.Usagef("there are %d tasks: name --mode parallel or --mode pipeline", len(r.Tasks))
	case r.Mode == fleet.Parallel && len(r.Tasks) > r.most:
		return failure.Usagef("there are %d agents, and --max-agents is %d", len(r.Tasks), r.most)
	case r.Total < 0 || r.Each < 0 || o.MaxTurns < 0:
		return failure.Usagef("--budget, --agent-budget and --max-turns are not negative")
	case len(r.Tasks) > 1 && (o.Continue || o.Resume != ""):
		return failure.Usagef("--continue and --resume are for one agent")
	}
	return nil
}

func (a *app) run(ctx context.Context, r *runs) (err error) {
	if err := r.check(a.options); err != nil {
		return failure.Usagef("run: %w", err)
	}
	if r.schema != "" {
		if r.Schema, err = question.ReadSchema(r.schema); err != nil {
			return failure.Usagef("run: --schema: %w", err)
		}
	}
	if _, err := engine.Choose(a.App, a.options.Engine); err != nil {
		return err
	}
	if a.options.Ask == "" {
		a.options.Ask = approval.AskReached
	}
	r.Open = func(ctx context.Context, _ int, budget float64) (fleet.Opened, error) {
		o := a.options
		o.Budget = budget
		e, err := engine.Open(ctx, a.App, o)
		if err != nil {
			return fleet.Opened{}, err
		}
		return fleet.Opened{Engine: e, Session: e.Session}, nil
	}
	r.Tell = a.tell
	agents := r.Do(ctx)
	done := true
	for _, g := range agents {
		done = done && g.State == fleet.Completed
	}
	if err := a.summary(r.Mode, agents, done); err != nil {
		return err
	}
	if !done {
		return failure.Hint(errors.New("not every agent was completed"), resumed(agents))
	}
	return nil
}

// resumed says how an agent goes on that was not completed.
func resumed(agents []fleet.Agent) string {
	for _, g := range agents {
		if g.State != fleet.Completed && g.ID != "" {
			return "go on with an agent: myc run --resume " + g.ID + " -p \"go on\""
		}
	}
	return ""
}

// tell shows what an agent does, in a line on stderr.
func (a *app) tell(n int, g fleet.Agent, e agent.Event) {
	say := func(format string, args ...any) {
		fmt.Fprintf(a.Err, "%s\n", a.Paint(base.Faint, text.OneLine("["+strconv.Itoa(n+1)+"] "+fmt.Sprintf(format, args...))))
	}
	switch {
	case e.Waiting != nil:
		base.SayWaiting(a.Err, "a call of agent "+strconv.Itoa(n+1), e.Waiting.Request, e.Waiting.Deadline)
	case a.JSON:
	case e.Call != nil:
		say("● %s %s", e.Call.Tool, text.Cell(string(e.Call.Args), 100))
	case e.Done != nil && e.Done.Failed:
		say("  ✗ %s", text.Cell(e.Done.Text, 100))
	case e.Note != "":
		say("%s", e.Note)
	case e == agent.Event{}:
		say("%s: %s", g.State, text.Cell(g.Task, 70))
	}
}

// summary prints the results, and what came of each agent.
func (a *app) summary(mode string, agents []fleet.Agent, done bool) error {
	if a.JSON {
		return a.PrintJSON(struct {
			Success bool          `json:"success"`
			Mode    string        `json:"mode"`
			Agents  []fleet.Agent `json:"agents"`
			Cost    float64       `json:"costUSD"`
		}{done, mode, agents, fleet.Cost(agents)})
	}
	rows := [][]string{}
	for n, g := range agents {
		if last := n == len(agents)-1; g.State == fleet.Completed && (mode != fleet.Pipeline || last) {
			if mode == fleet.Parallel {
				fmt.Fprintf(a.Out, "%s\n", a.Paint(base.Bold, fmt.Sprintf("[%d] %s", n+1, text.Cell(g.Task, 70))))
			}
			fmt.Fprintf(a.Out, "%s\n", text.Visible(plain(g.Result)))
		}
		rows = append(rows, []string{strconv.Itoa(n + 1), g.State, strconv.Itoa(g.Turns), fmt.Sprintf("$%.4f", g.Cost), strconv.Itoa(g.Denials),
			base.OrDash(g.ID), text.Cell(g.Task, 60), base.OrDash(g.Error)})
	}
	errs := *a.App
	errs.Out = a.Err
	errs.Table(base.Column{Name: "AGENT"}, base.Column{Name: "STATE"}, base.Column{Name: "TURNS"}, base.Column{Name: "COST"},
		base.Column{Name: "DENIED"}, base.Column{Name: "ID", Drop: 2}, base.Column{Name: "TASK", Least: 20, Drop: 1},
		base.Column{Name: "WHY", Least: 20}).Print(rows...)
	fmt.Fprintf(a.Err, "%s, $%.4f in all\n", text.Count(len(agents), "agent"), fleet.Cost(agents))
	return nil
}

// plain is a result as people read it: a string without its quotes.
func plain(v jsontext.Value) string {
	var s string
	if json.Unmarshal(v, &s) == nil {
		return s
	}
	return string(v)
}
