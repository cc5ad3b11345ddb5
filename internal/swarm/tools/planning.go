package tools

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"mycelium/internal/swarm/book"
	"mycelium/internal/swarm/ground"
	"mycelium/internal/swarm/material"
	"mycelium/internal/swarm/ops"
	"mycelium/internal/swarm/plan"
	"mycelium/internal/swarm/planning"
	"mycelium/internal/swarm/proposal"
	"mycelium/internal/swarm/runner"
	"mycelium/internal/text"
)

// preparing are the tools that settle something about a feature before its worker begins.
func preparing() []row {
	return []row{
		{name: "start_competitive_planning", run: compete,
			about: "Have two planners plan a feature before its worker begins. They only read; the better plan is given to the worker. What was " +
				"planned before is void. Refused, with the score, for a feature that is not complex.",
			params: []param{feature, may("forceCompetitive", "boolean", "Also for a feature that is not complex."),
				may("customPromptA", "string", "What planner A is told besides."),
				may("customPromptB", "string", "What planner B is told besides.")}},
		{name: "evaluate_plans", run: evaluate,
			about: "The two plans for a feature, with their points, and which one is chosen: the better one by itself when both are there. With " +
				"manualSelection you choose, for a reason; it is recorded as your choice.",
			params: []param{feature, may("manualSelection", "string", "The plan that its worker is given.", proposal.A, proposal.B),
				may("selectionReason", "string", "Why. Needed with manualSelection.")}},
		{name: "set_feature_context", run: setContext,
			about: "Give the worker of a feature something to read besides what it finds by itself. Files that its role may not read, files that " +
				"govern agents, and secrets are left out.",
			params: []param{feature, objects("documentation", "Documents of the project, or addresses.",
				need("type", "string", "file, url (named, not fetched) or snippet (one section of a file).", material.Whole, material.URL,
					material.Snippet),
				need("path", "string", "Path in the project, or the address."), may("title", "string", "A title."),
				may("relevance", "string", "Why it matters."), may("section", "string", "Heading in Markdown, for a snippet.")),
				objects("prepared", "Texts.", need("key", "string", "Name of the text."), need("content", "string", "The text."),
					may("source", "string", "Where it comes from."),
					need("priority", "string", "What goes first when there is not room for all.", string(material.Required),
						string(material.Recommended), string(material.Optional)),
					may("tokenEstimate", "integer", "For people.")),
				objects("protocolBindings", "Refused: there are no protocols yet."),
				may("merge", "boolean", "Beside what it was given before (default), or in its place.")}},
		{name: "route_feature", run: route,
			about: "Say who may work on a feature, and beside whom. What is left out is not asked for any more. What would not be obeyed is " +
				"refused.",
			params: []param{feature, may("preferredWorkerType", "string", "The runner of its worker. Default: that of the session.",
				runner.Names()...),
				may("requiredCapabilities", "strings", "Skills that are active in its session."),
				may("excludeCapabilities", "strings", "Skills that its role may not have."),
				may("maxParallelism", "integer", "Workers at once while it is worked on, 1 to 10. Default: any number."),
				may("affinityGroup", "string", "Features of one group are worked on one after another."),
				may("isolationLevel", "string", "none, session or process, which each worker has anyway. container is refused.",
					append(plan.Isolations(), "container")...)}},
	}
}

// lookingAtPlans are the tools that show what a worker would begin with.
func lookingAtPlans() []row {
	return []row{{name: "enrich_feature", run: enrich,
		about: "Which documents and files the worker of a feature would be given to read if it began now, and why; and what is left out. Each " +
			"worker is given that by itself, within the defaults.",
		params: []param{feature, may("maxDocLength", "integer", "Characters of a document. Default: 4000."),
			may("maxCodeLength", "integer", "Characters of another file. Default: 2000."),
			may("maxTotalContext", "integer", "Characters of all together. Default: 16000."),
			may("maxRelatedFiles", "integer", "Files besides the documents. Default: 10."),
			may("detectPatterns", "boolean", "Say how the folders are built. Default: true.")}}}
}

func compete(ctx context.Context, c *call, a args) (string, error) {
	s, f, err := c.feature(ctx, a.Feature)
	if err == nil {
		err = c.Compete(ctx, s.ID, f.ID, planning.Competition{Force: a.Force, Prompts: [2]string{a.PromptA, a.PromptB}})
	}
	if err == nil {
		err = c.drive(ctx, s.ID)
	}
	if err != nil {
		return "", err
	}
	said := "Two planners begin as soon as workers are free and what " + f.ID + " depends on has landed."
	if s.Settings.Manual && f.Wanted.IsZero() {
		return said + " Its worker waits for start_worker. Next: evaluate_plans shows the plans.", nil
	}
	return said + " Its worker begins with the better plan." + others(s) + " Next: evaluate_plans shows the plans.", nil
}

func evaluate(ctx context.Context, c *call, a args) (string, error) {
	if a.Selection != "" {
		return c.choose(ctx, a)
	}
	s, err := c.session(ctx)
	if err != nil {
		return "", err
	}
	f, err := ops.Find(s, a.Feature)
	if err != nil {
		return "", err
	}
	p := f.Planning
	if p == nil {
		return "", text.Hinted(fmt.Errorf("nobody plans feature %s", f.ID), "start_competitive_planning has two planners do it")
	}
	var b strings.Builder
	for _, one := range p.Planners {
		fmt.Fprintf(&b, "%s\n", text.Middle(planning.Told(one), maxAnswer/3))
	}
	switch {
	case p.Winner != "":
		fmt.Fprintf(&b, "Chosen: %s, by %s: %s\nNext: start_worker, if its worker does not begin by itself.", p.Winner, p.By,
			text.Flatten(p.Reason))
	case f.State == book.Waiting:
		fmt.Fprintf(&b, "Nothing is chosen: %s", text.Flatten(f.Reason))
	default:
		b.WriteString("Nothing is chosen yet: the planners are not done. Next: evaluate_plans again.")
	}
	return b.String(), nil
}

// choose takes a plan because the agent says so.
func (c *call) choose(ctx context.Context, a args) (string, error) {
	s, f, err := c.feature(ctx, a.Feature)
	if err == nil {
		err = c.Choose(ctx, s.ID, f.ID, a.Selection, a.Reason)
	}
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("The next worker of %s is given plan %s. Next: start_worker, if it does not begin by itself.", f.ID, a.Selection), nil
}

func setContext(ctx context.Context, c *call, a args) (string, error) {
	given := map[string]jsontext.Value{}
	for name, v := range map[string]jsontext.Value{"documentation": a.Documentation, "prepared": a.Prepared, "protocolBindings": a.Bindings} {
		if len(v) > 0 {
			given[name] = v
		}
	}
	raw, err := json.Marshal(given, json.Deterministic(true))
	if err != nil {
		return "", err
	}
	read, err := material.Parse(raw) // as the file of `myc swarm plan context --set` is read
	if err != nil {
		return "", err
	}
	s, f, err := c.feature(ctx, a.Feature)
	if err == nil {
		err = c.SetContext(ctx, s.ID, f.ID, read, or(a.Merge, true))
	}
	if err != nil {
		return "", err
	}
	return "The worker of " + f.ID + " is given it when it begins. Next: enrich_feature shows what else, and what is left out.", nil
}

func route(ctx context.Context, c *call, a args) (string, error) {
	if a.MaxParallel != nil {
		if err := between("maxParallelism", *a.MaxParallel, 1, plan.MaxParallel); err != nil {
			return "", err
		}
	}
	s, f, err := c.feature(ctx, a.Feature)
	if err == nil {
		err = c.Route(ctx, s.ID, f.ID, plan.Route{Worker: a.Worker, Require: a.Require, Exclude: a.Exclude,
			MaxParallel: or(a.MaxParallel, 0), Affinity: a.Affinity, Isolation: a.Isolation}, c.host.Rights())
	}
	if err != nil {
		return "", err
	}
	return "The next worker of " + f.ID + " is started as that says.", nil
}

// The material is shown by its names: what a worker may read is for the worker, whose role may read more than this session.
func enrich(ctx context.Context, c *call, a args) (string, error) {
	s, f, err := c.feature(ctx, a.Feature)
	if err != nil {
		return "", err
	}
	d := material.Defaults()
	m, err := c.Material(ctx, s, f.ID, c.host.Rights(), func(g *ground.Repo, path string) bool { return c.host.Governs(g.Prefix(), path) },
		material.Bounds{Doc: or(a.MaxDoc, d.Doc), Code: or(a.MaxCode, d.Code), Total: or(a.MaxTotal, d.Total), Files: or(a.MaxRelated, d.Files),
			Patterns: or(a.Patterns, d.Patterns)})
	if err != nil {
		return "", err
	}
	var b strings.Builder
	for _, p := range m.Pieces {
		fmt.Fprintf(&b, "given: %s (%d characters): %s\n", text.Flatten(cmp.Or(p.Path, p.Title)), len([]rune(p.Text)), text.Flatten(p.Why))
	}
	for _, l := range m.Left {
		fmt.Fprintf(&b, "left out: %s: %s\n", text.Flatten(l.What), text.Flatten(l.Why))
	}
	fmt.Fprintf(&b, "%d characters; the folders look like: %s\n", m.Length, cmp.Or(strings.Join(m.Patterns, ", "), "nothing that has a name"))
	if s.Settings.Bare {
		b.WriteString("The session gives its workers only what set_feature_context gave.\n")
	}
	return b.String(), nil
}
