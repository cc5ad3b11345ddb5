package policy

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"mycelium/cmd/myc/internal/base"
	"mycelium/internal/config/meaning"
	"mycelium/internal/text"
)

// replayReport is `myc policy replay --json`.
type replayReport struct {
	Calls     int           `json:"calls"`     // how many were decided again
	Unchanged int           `json:"unchanged"` // how many of them are decided as before
	Skipped   int           `json:"skipped"`   // records that no policy decided: limits, faults, ended sessions
	Partial   int           `json:"partial"`   // calls whose arguments or facts were too long for the log, decided on the part that it has
	Changes   []replayGroup `json:"changes"`   // most calls first

	// what the files of another folder would mean, whatever was called; absent for the project's own
	Meaning []meaning.Change `json:"meaning,omitzero"`
}

// replayGroup are the calls of one role and tool that change in the same way.
type replayGroup struct {
	Role    string        `json:"role"`
	Tool    string        `json:"tool"`
	From    string        `json:"from"` // allow, ask, deny or unknown
	To      string        `json:"to"`
	Rule    string        `json:"rule"` // decides now
	Was     string        `json:"was"`  // decided then
	Reason  string        `json:"reason"`
	Calls   int           `json:"calls"`
	Example replayExample `json:"example"` // the newest of these calls
}

type replayExample struct {
	ID   string         `json:"id"`
	Time time.Time      `json:"time"`
	Args jsontext.Value `json:"args,omitempty"`
}

// report returns the groups, those with most calls first.
func (r *replaying) report() replayReport {
	r.sum.Changes = []replayGroup{}
	for _, g := range r.groups {
		r.sum.Changes = append(r.sum.Changes, *g)
	}
	slices.SortFunc(r.sum.Changes, func(x, y replayGroup) int {
		return cmp.Or(cmp.Compare(y.Calls, x.Calls), cmp.Compare(x.Role, y.Role), cmp.Compare(x.Tool, y.Tool),
			cmp.Compare(x.To, y.To), cmp.Compare(x.Rule, y.Rule))
	})
	return r.sum
}

func (a *app) printReplay(r replayReport) error {
	if a.JSON {
		return a.PrintJSON(r)
	}
	fmt.Fprintf(a.Out, "%s decided again: %d as before, %d otherwise", text.Count(r.Calls, "call"), r.Unchanged, r.Calls-r.Unchanged)
	if r.Skipped > 0 {
		fmt.Fprintf(a.Out, "; %d that no policy decided are left out", r.Skipped)
	}
	if r.Partial > 0 {
		fmt.Fprintf(a.Out, "; for %d the log has only part of the arguments", r.Partial)
	}
	fmt.Fprintln(a.Out)
	if len(r.Changes) > 0 {
		a.printGroups(r.Changes)
	}
	if r.Meaning != nil {
		fmt.Fprintln(a.Out, "\nWhat these files would mean:")
		base.ShowMeaning(a.Out, r.Meaning)
	}
	return nil
}

func (a *app) printGroups(groups []replayGroup) {
	fmt.Fprintln(a.Out)
	var rows [][]string
	for _, g := range groups {
		rows = append(rows, []string{fmt.Sprint(g.Calls), base.OrDash(g.Role), g.Tool, g.From, g.To, base.OrDash(g.Rule),
			exampleText(g.Example.Args)})
	}
	a.Table(base.Column{Name: "CALLS"}, base.Column{Name: "ROLE", Least: 8, Drop: 3}, base.Column{Name: "TOOL", Least: 16},
		base.Column{Name: "WAS", Paint: base.ByEffect}, base.Column{Name: "WOULD BE", Paint: base.ByEffect},
		base.Column{Name: "BY", Least: 10, Drop: 2}, base.Column{Name: "FOR EXAMPLE", Least: 16, Drop: 1}).Print(rows...)
}

// exampleText returns the argument that says most about a call, in one line.
func exampleText(raw []byte) string {
	var args map[string]any
	if json.Unmarshal(raw, &args) != nil {
		return "-"
	}
	for _, key := range []string{"command", "file_path", "path", "url", "pattern"} {
		if s, ok := args[key].(string); ok {
			return text.TruncateCells(text.Flatten(s), 60)
		}
	}
	return text.TruncateCells(text.Flatten(string(raw)), 60)
}
