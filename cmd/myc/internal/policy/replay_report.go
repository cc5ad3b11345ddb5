package policy

import (
	"fmt"

	"github.com/go-json-experiment/json"

	"mycelium/cmd/myc/internal/base"
	"mycelium/internal/node/replay"
	"mycelium/internal/text"
)

func (a *app) printReplay(r replay.Report) error {
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

func (a *app) printGroups(groups []replay.Group) {
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
