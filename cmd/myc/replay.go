package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/spf13/cobra"

	"mycelium/internal/audit"
	"mycelium/internal/config"
	"mycelium/internal/policy"
)

func (a *app) policyReplay() *cobra.Command {
	var since, dir string
	c := &cobra.Command{
		Use: "replay", Short: "Past calls against another policy: what would change, and for whom", Args: noArgs,
		Example: "  myc policy replay --since 7d --policy ./next\n  myc policy replay            the files as they are now against what was decided then",
		RunE: func(c *cobra.Command, _ []string) error {
			from, err := parseTime(since)
			if err != nil {
				return usageError("policy replay: --since: %w", err)
			}
			return a.replay(c.Context(), from, dir)
		},
	}
	c.Flags().StringVar(&since, "since", "", "calls not older than: 24h, 7d, or a time (RFC 3339); default: all")
	c.Flags().StringVar(&dir, "policy", "", "folder with mycelium.yaml, skills/, roles/ and rules.yaml (default: the project's own files)")
	return c
}

// replayReport is `myc policy replay --json`.
type replayReport struct {
	Calls     int           `json:"calls"`     // that were decided again
	Unchanged int           `json:"unchanged"` // of them
	Skipped   int           `json:"skipped"`   // records that no policy decided: limits, faults, ended sessions
	Partial   int           `json:"partial"`   // calls whose arguments or facts were too long for the log: decided on what is left of them
	Changes   []replayGroup `json:"changes"`   // most calls first
}

// replayGroup are the calls of one role and tool that change in the same way.
type replayGroup struct {
	Role    string        `json:"role"`
	Tool    string        `json:"tool"`
	From    string        `json:"from"` // allow, ask, deny or unknown
	To      string        `json:"to"`
	Rule    string        `json:"rule"` // that decides now
	Was     string        `json:"was"`  // the rule that decided then
	Reason  string        `json:"reason"`
	Calls   int           `json:"calls"`
	Example replayExample `json:"example"` // the newest of them
}

type replayExample struct {
	ID   string         `json:"id"`
	Time time.Time      `json:"time"`
	Args jsontext.Value `json:"args,omitempty"`
}

// replay decides the recorded calls again, on the facts of their day.
func (a *app) replay(ctx context.Context, since time.Time, dir string) error {
	if err := a.needPerson("replay the audit log"); err != nil {
		return err
	}
	v, err := a.lookWith(dir)
	if err != nil {
		return err
	}
	defer v.close()
	if v.project.Broken.All != "" {
		return configError(fmt.Errorf("policy replay: the policy does not load: %s", v.project.Broken.All), "myc -C DIR config validate says where")
	}
	o, err := auditOptions(v.project)
	if err != nil {
		return err
	}
	if _, err := os.Stat(o.Dir); err != nil {
		return hinted(fmt.Errorf("policy replay: there is no audit log yet in %s", o.Dir), "calls are recorded as soon as an agent makes some")
	}
	r := &replaying{policy: v.policy, groups: map[replayKey]*replayGroup{}}
	for line, err := range audit.Read(ctx, o, audit.Position{}, false) {
		if err != nil {
			return err
		}
		if line.Kind == audit.Decided && !line.Time.Before(since) {
			r.take(&line)
		}
	}
	return a.printReplay(r.report())
}

// lookWith is look with the policy of another folder; empty: the project's own.
func (a *app) lookWith(dir string) (*view, error) {
	v, err := a.look()
	if err != nil || dir == "" {
		return v, err
	}
	abs, err := filepath.Abs(dir)
	if err == nil {
		var st os.FileInfo
		if st, err = os.Stat(abs); err == nil && !st.IsDir() {
			err = fmt.Errorf("%s is not a folder", abs)
		}
	}
	if err != nil {
		v.close()
		return nil, hinted(fmt.Errorf("policy folder: %w", err), "name a folder that holds rules.yaml, skills/ or roles/")
	}
	p, err := config.Load(config.Options{Dir: v.project.Dir, Policy: abs, Environ: a.environ, Logger: a.logger()})
	if err != nil {
		v.close()
		return nil, err
	}
	v = v.with(p)
	v.compile()
	return v, nil
}

// replaying gathers what changes.
type replaying struct {
	policy *policy.Policy
	sum    replayReport
	groups map[replayKey]*replayGroup
}

type replayKey struct{ role, tool, from, to, rule string }

// notByPolicy are the words in a record's rule for what no policy decided.
var notByPolicy = []string{"session", "request", "arguments", "fault", "audit"}

// take decides one record again.
func (r *replaying) take(line *audit.Line) {
	if cmp.Or(line.DecidedBy, "policy") != "policy" || slices.Contains(notByPolicy, line.Rule) || strings.HasPrefix(line.Rule, "limit:") {
		r.sum.Skipped++
		return
	}
	call, whole := callOf(line)
	if !whole {
		r.sum.Partial++
	}
	r.sum.Calls++
	d := r.policy.Decide(call)
	was, is := line.Effect, d.Effect.String()
	if line.Unknown {
		was = "unknown"
	}
	if d.Unknown {
		is = "unknown"
	}
	if was == is {
		r.sum.Unchanged++
		return
	}
	key := replayKey{line.Role, line.Tool, was, is, d.Rule}
	g := r.groups[key]
	if g == nil {
		g = &replayGroup{Role: line.Role, Tool: line.Tool, From: was, To: is, Rule: d.Rule, Was: line.Rule, Reason: d.Reason}
		r.groups[key] = g
	}
	g.Calls++
	g.Example = replayExample{ID: line.ID, Time: line.Time, Args: line.Args}
}

// callOf makes a call of its record. Facts are those of that day; what was recorded before there were facts, or was too long for the log,
// is judged by the arguments alone, and so is not whole. Of a parent principal the record has the id: it is taken to have the child's role.
func callOf(line *audit.Line) (call policy.Call, whole bool) {
	it, err := policy.ParseTool(line.Tool)
	if err != nil {
		it = policy.Item{Name: line.Tool}
	}
	switch line.ItemKind {
	case "resource":
		it.Kind = policy.Resource
	case "prompt":
		it.Kind = policy.Prompt
	}
	if it.Kind != policy.Tool && line.Server != "" {
		it.Server, it.Name = line.Server, strings.TrimPrefix(line.Tool, line.Server+"__")
	}
	args, err := policy.ParseArgs(line.Args)
	whole = err == nil && !isCut(args)
	call = policy.Call{Scope: policy.Scope{Principal: policy.Principal{ID: line.Principal, Role: line.Role}, Skills: line.Skills}, Item: it, Args: args, Time: line.Time}
	if line.Parent != "" {
		call.Scope.Principal.Parent = &policy.Principal{ID: line.Parent, Role: line.Role}
	}
	if line.Facts != nil {
		call.Facts = *line.Facts
	}
	return call, whole
}

// isCut reports whether the log kept no more than the beginning of the arguments.
func isCut(args policy.Args) bool {
	cut, _ := args["truncated"].(bool)
	_, sum := args["sha256"].(string)
	return cut && sum
}

// report sorts what was found: most calls first.
func (r *replaying) report() replayReport {
	r.sum.Changes = []replayGroup{}
	for _, g := range r.groups {
		r.sum.Changes = append(r.sum.Changes, *g)
	}
	slices.SortFunc(r.sum.Changes, func(x, y replayGroup) int {
		return cmp.Or(cmp.Compare(y.Calls, x.Calls), cmp.Compare(x.Role, y.Role), cmp.Compare(x.Tool, y.Tool), cmp.Compare(x.To, y.To), cmp.Compare(x.Rule, y.Rule))
	})
	return r.sum
}

func (a *app) printReplay(r replayReport) error {
	if a.json {
		return a.printJSON(r)
	}
	fmt.Fprintf(a.out, "%d calls decided again: %d as before, %d otherwise", r.Calls, r.Unchanged, r.Calls-r.Unchanged)
	if r.Skipped > 0 {
		fmt.Fprintf(a.out, "; %d that no policy decided are left out", r.Skipped)
	}
	if r.Partial > 0 {
		fmt.Fprintf(a.out, "; of %d the log has only a part", r.Partial)
	}
	fmt.Fprintln(a.out)
	if len(r.Changes) == 0 {
		return nil
	}
	fmt.Fprintln(a.out)
	rows := [][]string{{"CALLS", "ROLE", "TOOL", "WAS", "WOULD BE", "BY", "FOR EXAMPLE"}}
	for _, g := range r.Changes {
		rows = append(rows, []string{fmt.Sprint(g.Calls), orDash(g.Role), g.Tool, g.From, g.To, orDash(g.Rule), exampleText(g.Example.Args)})
	}
	table(a.out, rows)
	return nil
}

// exampleText is the one argument that says most about a call, in one line.
func exampleText(raw []byte) string {
	var args map[string]any
	if json.Unmarshal(raw, &args) != nil {
		return "-"
	}
	for _, key := range []string{"command", "file_path", "path", "url", "pattern"} {
		if s, ok := args[key].(string); ok {
			return cutText(visible(s), 60)
		}
	}
	return cutText(visible(string(raw)), 60)
}

// cutText cuts a text to n characters.
func cutText(s string, n int) string {
	if r := []rune(s); len(r) > n {
		return string(r[:n-1]) + "…"
	}
	return s
}
