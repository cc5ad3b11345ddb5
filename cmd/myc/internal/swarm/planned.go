package swarm

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"mycelium/cmd/myc/internal/base"
	"mycelium/cmd/myc/internal/swarm/open"
	"mycelium/internal/node/swarmed"
	"mycelium/internal/op/failure"
	"mycelium/internal/swarm/book"
	"mycelium/internal/swarm/ground"
	"mycelium/internal/swarm/material"
	"mycelium/internal/swarm/ops"
	"mycelium/internal/swarm/plan"
	"mycelium/internal/swarm/planning"
	"mycelium/internal/swarm/runner"
	"mycelium/internal/text"
)

func planCompeteCmd(a *app) *cobra.Command {
	var o planning.Competition
	c := &cobra.Command{Use: "compete FEATURE", Short: "Have two planners compete for a feature before its worker begins",
		Args: base.ArgRange(1, 1, "a feature"),
		Long: "Each planner reads the project in a worktree of its own and writes a plan. The better one is given to the worker. This is done\n" +
			"for every feature whose complexity reaches --plan-threshold of myc swarm init; here it is asked for, or done anew.",
		Example: "  myc swarm plan compete parser --force\n  myc swarm plan compete parser --judge model",
		RunE: func(c *cobra.Command, args []string) error {
			return a.With(c.Context(), "have planners compete", func(on *open.Swarm, s *book.Session) error {
				return on.Compete(c.Context(), s.ID, args[0], o)
			})
		}}
	c.Flags().BoolVar(&o.Force, "force", false, "also for a feature that is not complex")
	c.Flags().StringVar(&o.Prompts[0], "prompt-a", "", "what planner A is told besides")
	c.Flags().StringVar(&o.Prompts[1], "prompt-b", "", "what planner B is told besides")
	c.Flags().StringVar(&o.Judge, "judge", "", "rubric, or model: who says which plan is better (default: as at init)")
	return c
}

func planChooseCmd(a *app) *cobra.Command {
	var reason string
	c := &cobra.Command{Use: "choose FEATURE A|B|none", Short: "Choose the plan that the worker of a feature is given",
		Args:    base.ArgRange(2, 2, "a feature, and A, B or none"),
		Example: "  myc swarm plan choose parser B --reason \"it keeps the old format\"",
		RunE: func(c *cobra.Command, args []string) error {
			return a.With(c.Context(), "choose a plan", func(o *open.Swarm, s *book.Session) error {
				return o.Choose(c.Context(), s.ID, args[0], args[1], reason)
			})
		}}
	c.Flags().StringVar(&reason, "reason", "", "why; it is kept with the choice")
	return c
}

func planShowCmd(a *app) *cobra.Command {
	return &cobra.Command{Use: "show FEATURE", Short: "Show how complex a feature is, and the plans for it", Args: base.ArgRange(1, 1,
		"a feature"),
		RunE: func(c *cobra.Command, args []string) error {
			return a.With(c.Context(), "see a plan", func(_ *open.Swarm, s *book.Session) error {
				f, err := ops.Find(s, args[0])
				if err != nil {
					return err
				}
				return a.showPlans(s, f)
			})
		}}
}

// showPlans prints the plans for a feature.
func (a *app) showPlans(s *book.Session, f *book.Feature) error {
	score := plan.Score(f.Feature)
	if a.JSON {
		return a.PrintJSON(struct {
			ID         string          `json:"id"`
			Complexity plan.Complexity `json:"complexity"`
			Advice     plan.Advice     `json:"advice"`
			Planning   *book.Planning  `json:"planning"`
		}{f.ID, score, score.Advise(plan.Threshold), f.Planning})
	}
	rows := [][]string{{"complexity", fmt.Sprintf("%d of 100", score.Total)}}
	if planning.Planned(s, f) {
		rows[0][1] += ": two planners compete for it before a worker begins"
	}
	if p := f.Planning; p != nil && p.Winner != "" {
		rows = append(rows, []string{"chosen", p.Winner + ", by the " + p.By}, []string{"because", text.Flatten(p.Reason)})
	}
	a.Facts(rows)
	if f.Planning == nil {
		return nil
	}
	for _, p := range f.Planning.Planners {
		fmt.Fprintf(a.Out, "\n%s", planning.Told(p))
	}
	return nil
}

func planRouteCmd(a *app) *cobra.Command {
	var r plan.Route
	c := &cobra.Command{Use: "route FEATURE", Short: "Say who may work on a feature, and beside whom", Args: base.ArgRange(1, 1, "a feature"),
		Long: "What is not named is not asked for any more. What could not be obeyed is refused. A level of isolation changes nothing: each\n" +
			"worker has a process, a session and a worktree of its own.",
		Example: "  myc swarm plan route migrate --parallel 1\n  myc swarm plan route schema --group database",
		RunE: func(c *cobra.Command, args []string) error {
			return a.With(c.Context(), "route a feature", func(o *open.Swarm, s *book.Session) error {
				rights, err := a.Rights(o)
				if err != nil {
					return err
				}
				return o.Route(c.Context(), s.ID, args[0], r, rights)
			})
		}}
	f := c.Flags()
	f.StringVar(&r.Worker, "runner", "", strings.Join(runner.Names(), ", ")+" (default: that of the session)")
	f.StringSliceVar(&r.Require, "require", nil, "`SKILLS` that are active in its session")
	f.StringSliceVar(&r.Exclude, "exclude", nil, "`SKILLS` that its role may not have")
	f.IntVar(&r.MaxParallel, "parallel", 0, "workers at once while it is worked on, 1 to "+strconv.Itoa(plan.MaxParallel)+"; 0: any number")
	f.StringVar(&r.Affinity, "group", "", "features of one `GROUP` are worked on one after another")
	f.StringVar(&r.Isolation, "isolation", "", strings.Join(plan.Isolations(), ", "))
	return c
}

func planContextCmd(a *app) *cobra.Command {
	b := material.Defaults()
	var set string
	var replace bool
	c := &cobra.Command{Use: "context FEATURE", Short: "Show, or add to, what the worker of a feature is given to read",
		Args: base.ArgRange(1, 1, "a feature"),
		Long: "Its worker is given the documents of the project, the files that the feature is about, and what you give it with --set: a file\n" +
			"with {documentation: [{type: file|url|snippet, path, title, relevance, section}], prepared: [{key, content, source,\n" +
			"priority: required|recommended|optional, tokenEstimate}]} as JSON. Files that the role of the worker may not read, files that\n" +
			"govern agents, and secrets are left out.",
		Example: "  myc swarm plan context parser\n  myc swarm plan context parser --set context.json",
		RunE: func(c *cobra.Command, args []string) error {
			return a.With(c.Context(), "see what a worker is given", func(o *open.Swarm, s *book.Session) error {
				if set != "" {
					return a.setContext(c, o, s, args[0], set, !replace)
				}
				rights, err := a.Rights(o)
				if err != nil {
					return err
				}
				m, err := o.Material(c.Context(), s, args[0], rights, func(g *ground.Repo, path string) bool {
					return swarmed.Governs(g.Prefix(), path)
				}, b)
				if err != nil {
					return err
				}
				return a.showMaterial(m)
			})
		}}
	f := c.Flags()
	f.StringVar(&set, "set", "", "a `FILE` with what its worker is given besides; - reads the input")
	f.BoolVar(&replace, "replace", false, "with --set: in place of what was given before")
	f.IntVar(&b.Doc, "doc", b.Doc, "characters of a document")
	f.IntVar(&b.Code, "code", b.Code, "characters of another file")
	f.IntVar(&b.Total, "total", b.Total, "characters of all together")
	f.IntVar(&b.Files, "files", b.Files, "files besides the documents")
	return c
}

// setContext gives a feature what a file says.
func (a *app) setContext(c *cobra.Command, o *open.Swarm, s *book.Session, feature, file string, merge bool) error {
	data, err := a.input(file)
	if err != nil {
		return err
	}
	given, err := material.Parse(data)
	if err != nil {
		return failure.New(failure.Config, fmt.Errorf("%s: %w", file, err), text.HintOf(err))
	}
	return o.SetContext(c.Context(), s.ID, feature, given, merge)
}

// showMaterial prints what a worker is given.
func (a *app) showMaterial(m material.Material) error {
	if a.JSON {
		return a.PrintJSON(m)
	}
	var rows [][]string
	for _, p := range m.Pieces {
		rows = append(rows, []string{text.Flatten(cmp.Or(p.Path, p.Title)), strconv.Itoa(len([]rune(p.Text))), text.Flatten(p.Why)})
	}
	for _, l := range m.Left {
		rows = append(rows, []string{text.Flatten(l.What), "-", "left out: " + text.Flatten(l.Why)})
	}
	a.Table(base.Column{Name: "WHAT"}, base.Column{Name: "LENGTH"}, base.Column{Name: "WHY", Least: 20}).Print(rows...)
	fmt.Fprintf(a.Out, "\n%d characters; the folders look like: %s\n", m.Length, base.OrDash(strings.Join(m.Patterns, ", ")))
	return nil
}
