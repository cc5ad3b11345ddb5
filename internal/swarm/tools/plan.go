package tools

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"mycelium/internal/swarm/book"
	"mycelium/internal/swarm/monitor"
	"mycelium/internal/swarm/ops"
	"mycelium/internal/swarm/plan"
	"mycelium/internal/swarm/schedule"
	"mycelium/internal/swarm/worker"
	"mycelium/internal/text"
)

func addFeature(ctx context.Context, c *call, a args) (string, error) {
	s, err := c.session(ctx)
	if err == nil {
		err = c.mayStart("a feature that is added", s.Settings.Role)
	}
	if err != nil {
		return "", err
	}
	id, err := c.Add(ctx, s.ID, plan.Feature{Description: a.Description}, a.InsertAfter)
	if err != nil {
		return "", err
	}
	return id + " was added. Next: set_dependencies says what it waits for.", nil
}

func depend(ctx context.Context, c *call, a args) (string, error) {
	s, err := c.session(ctx)
	if err == nil {
		err = c.Depend(ctx, s.ID, a.Feature, a.DependsOn)
	}
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%s waits for: %s.", a.Feature, cmp.Or(strings.Join(a.DependsOn, ", "), "nothing")), nil
}

func validate(ctx context.Context, c *call, a args) (string, error) {
	if err := between("featureIds", len(a.Features), 1, mostAtOnce); err != nil {
		return "", fmt.Errorf("the length of %w", err)
	}
	s, err := c.session(ctx)
	if err != nil {
		return "", err
	}
	var ready []plan.Feature
	var names []string
	var b strings.Builder
	for _, id := range slices.Compact(a.Features) {
		if err := ops.Startable(s, id); err != nil {
			fmt.Fprintf(&b, "not ready: %s\n", text.Describe(err))
			continue
		}
		f, err := s.Feature(id)
		if err != nil {
			return "", err
		}
		ready, names = append(ready, f.Feature), append(names, id)
	}
	fmt.Fprintf(&b, "ready: %s\n", cmp.Or(strings.Join(names, ", "), "none"))
	for _, x := range plan.Conflicts(ready) {
		fmt.Fprintf(&b, "conflict: %s and %s, %s: %s\n", x.A, x.B, x.Kind, some(x.What, commonShown))
	}
	if len(ready) > 0 {
		fmt.Fprintf(&b, "safe side by side: %s\n", strings.Join(plan.Apart(ready), ", "))
	}
	return b.String(), nil
}

func graph(ctx context.Context, c *call, a args) (string, error) {
	if a.Protocols {
		return "", errors.New("includeProtocols: " + plan.NoProtocols)
	}
	s, err := c.session(ctx)
	if err != nil {
		return "", err
	}
	if a.Format == asJSON {
		return graphJSON(s, or(a.Context, true))
	}
	state := func(id string) string {
		f, err := s.Feature(id)
		if err != nil {
			return ""
		}
		return "[" + f.State.Words() + "]"
	}
	var b strings.Builder
	if a.Format != compact {
		b.WriteString(schedule.Graph(s.Plan(), 100, state))
	}
	for _, f := range s.Features {
		switch {
		case a.Format == compact:
			fmt.Fprintf(&b, "%s %s < %s\n", f.ID, f.State, cmp.Or(strings.Join(f.DependsOn, ","), "-"))
		case or(a.Context, true) && (f.Details != "" || len(f.Files) > 0):
			fmt.Fprintf(&b, "%s: files %s; %s\n", f.ID, cmp.Or(some(f.Files, filesShown), "-"), text.Cell(text.Flatten(f.Details), 500))
		}
	}
	return b.String(), nil
}

// node is a feature in the graph as JSON.
type node struct {
	ID          string     `json:"id"`
	Description string     `json:"description"`
	State       book.State `json:"state"`
	DependsOn   []string   `json:"dependsOn"`
	Details     string     `json:"details,omitempty"`
	Files       []string   `json:"files,omitempty"`
}

func graphJSON(s *book.Session, context bool) (string, error) {
	nodes := []node{}
	for _, f := range s.Features {
		n := node{ID: f.ID, Description: f.Description, State: f.State, DependsOn: f.DependsOn}
		if context {
			n.Details, n.Files = text.Truncate(f.Details, 1000), f.Files
		}
		nodes = append(nodes, n)
	}
	said, err := jsonText(map[string]any{"session": s.ID, "state": s.State, "features": nodes})
	if err == nil && len(said) > maxAnswer {
		err = text.Hinted(errors.New("the graph is too large for one answer"), "includeContext false, or the format compact")
	}
	return said, err
}

func complexity(ctx context.Context, c *call, a args) (string, error) {
	threshold := or(a.Threshold, plan.Threshold)
	if err := between("threshold", threshold, 0, 100); err != nil {
		return "", err
	}
	s, err := c.session(ctx)
	if err != nil {
		return "", err
	}
	f, err := ops.Find(s, a.Feature)
	if err != nil {
		return "", err
	}
	x := plan.Score(f.Feature)
	return fmt.Sprintf("%s: %d of 100 (length %d, hard words %d, breadth %d, dependencies %d, places %d). Found: %s.\nAdvice: %s", f.ID,
		x.Total, x.Length, x.Keywords, x.Scope, x.Dependencies, x.TouchPoints, cmp.Or(strings.Join(x.Found, ", "), "nothing"),
		x.Advise(threshold)), nil
}

func confidenceOf(ctx context.Context, c *call, a args) (string, error) {
	s, err := c.session(ctx)
	if err != nil {
		return "", err
	}
	f, t, err := ops.Attempt(s, a.Feature)
	if err != nil {
		return "", err
	}
	j, err := monitor.Judge(s.Settings, worker.Folder(t.Folder))
	if err != nil {
		return "", err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s#%d: confidence %d of 100 (%s), %s: %s\n", f.ID, t.N, j.Score, j.Level, j.Verdict, j.Reason)
	fmt.Fprintf(&b, "activity %d, output %d, own report %s; the threshold is %d\n", j.Activity, j.Output, reported(j.Report),
		monitor.Threshold(s.Settings))
	for _, alert := range j.Alerts {
		fmt.Fprintf(&b, "alert: %s\n", alert.Message)
	}
	return b.String(), nil
}

// reported is the score that a worker gave itself.
func reported(score int) string {
	if score < 0 {
		return "none"
	}
	return fmt.Sprint(score)
}

func setThreshold(ctx context.Context, c *call, a args) (string, error) {
	s, err := c.session(ctx)
	if err == nil {
		err = c.Watch(ctx, s.ID, *a.Threshold, or(a.AutoAlert, true))
	}
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("A worker below %d is reported: %t. Next: get_progress_log has the alerts.", *a.Threshold,
		or(a.AutoAlert, true)), nil
}

func verify(ctx context.Context, c *call, a args) (string, error) {
	argv, err := plan.ParseCommand(a.Command)
	if err != nil {
		return "", err
	}
	s, err := c.session(ctx)
	if err != nil {
		return "", err
	}
	out, err := c.Verify(ctx, s, a.Feature, argv, c.host.Verify)
	if err != nil {
		return "", err
	}
	verdict := "It fails."
	if out.OK {
		verdict = "It passes."
	}
	return verdict + "\n" + text.Middle(out.Output, maxAnswer/2), nil
}
