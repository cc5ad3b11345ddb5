// Package replay decides recorded calls again, by another policy, with the facts that were recorded then.
package replay

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"mycelium/internal/audit"
	"mycelium/internal/audit/recorded"
	"mycelium/internal/config/meaning"
	"mycelium/internal/policy"
)

// Report is what would be otherwise, as `myc policy replay --json` prints it.
type Report struct {
	Calls     int     `json:"calls"`     // how many were decided again
	Unchanged int     `json:"unchanged"` // how many of them are decided as before
	Skipped   int     `json:"skipped"`   // records that no policy decided: limits, faults, ended sessions
	Partial   int     `json:"partial"`   // calls whose arguments or facts were too long for the log, decided on the part that it has
	Changes   []Group `json:"changes"`   // most calls first

	// what the files of another folder would mean, whatever was called; absent for the project's own
	Meaning []meaning.Change `json:"meaning,omitzero"`
}

// Group are the calls of one role and tool that change in the same way.
type Group struct {
	Role    string  `json:"role"`
	Tool    string  `json:"tool"`
	From    string  `json:"from"` // allow, ask, deny or unknown
	To      string  `json:"to"`
	Rule    string  `json:"rule"` // decides now
	Was     string  `json:"was"`  // decided then
	Reason  string  `json:"reason"`
	Calls   int     `json:"calls"`
	Example Example `json:"example"` // the newest of these calls
}

// Example is one recorded call.
type Example struct {
	ID   string         `json:"id"`
	Time time.Time      `json:"time"`
	Args jsontext.Value `json:"args,omitempty"`
}

// Replay collects the calls whose decision changes.
type Replay struct {
	policy *policy.Policy
	sum    Report
	groups map[key]*Group
}

type key struct{ role, tool, from, to, rule string }

// By returns a replay by a policy, which has looked at no call yet.
func By(p *policy.Policy) *Replay { return &Replay{policy: p, groups: map[key]*Group{}} }

// notByPolicy are the rules of records that no policy decided.
var notByPolicy = []string{"session", "request", "arguments", "fault", "audit"}

// Read takes the calls of a log from a position on that are not older than a time. It calls step with each of them. A log that is not
// there has no calls.
func (r *Replay) Read(ctx context.Context, o audit.Options, from audit.Position, since time.Time, step func()) error {
	for line, err := range audit.Read(ctx, o, from, false) {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		if line.Kind == audit.Decided && !line.Time.Before(since) {
			r.Take(&line)
			step()
		}
	}
	return nil
}

// Decide decides a recorded call by a policy; false if no policy decided it then.
func Decide(p *policy.Policy, line *audit.Line) (policy.Decision, bool) {
	if cmp.Or(line.DecidedBy, "policy") != "policy" || slices.Contains(notByPolicy, line.Rule) || strings.HasPrefix(line.Rule, "limit:") {
		return policy.Decision{}, false
	}
	call, _ := recorded.Call(line)
	return p.Decide(call), true
}

// Take decides one recorded call again.
func (r *Replay) Take(line *audit.Line) {
	d, ok := Decide(r.policy, line)
	if !ok {
		r.sum.Skipped++
		return
	}
	if _, whole := recorded.Call(line); !whole {
		r.sum.Partial++
	}
	r.sum.Calls++
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
	k := key{line.Role, line.Tool, was, is, d.Rule}
	g := r.groups[k]
	if g == nil {
		g = &Group{Role: line.Role, Tool: line.Tool, From: was, To: is, Rule: d.Rule, Was: line.Rule, Reason: d.Reason}
		r.groups[k] = g
	}
	g.Calls++
	g.Example = Example{ID: line.ID, Time: line.Time, Args: line.Args}
}

// Report returns what was found, the groups with most calls first.
func (r *Replay) Report() Report {
	r.sum.Changes = []Group{}
	for _, g := range r.groups {
		r.sum.Changes = append(r.sum.Changes, *g)
	}
	slices.SortFunc(r.sum.Changes, func(x, y Group) int {
		return cmp.Or(cmp.Compare(y.Calls, x.Calls), cmp.Compare(x.Role, y.Role), cmp.Compare(x.Tool, y.Tool),
			cmp.Compare(x.To, y.To), cmp.Compare(x.Rule, y.Rule))
	})
	return r.sum
}
