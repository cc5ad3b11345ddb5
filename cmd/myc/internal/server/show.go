package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"mycelium/cmd/myc/internal/base"
	"mycelium/internal/backend"
	"mycelium/internal/backend/oauth"
	"mycelium/internal/config/toolindex"
	"mycelium/internal/node/project"
	"mycelium/internal/op/failure"
	"mycelium/internal/policy"
	"mycelium/internal/text"
)

// test is `myc server test`: the probe of doctor, in full.
func (a *app) test(ctx context.Context, name string) error {
	if err := a.NeedPerson("start a server"); err != nil {
		return err
	}
	p, err := a.Load()
	if err != nil {
		return err
	}
	for _, s := range p.Servers {
		if s.Name != name || s.Builtin != "" {
			continue
		}
		probe := a.Probe(ctx, p, s, false, p.MayStart)
		if probe.Err != nil {
			return failed(s, probe)
		}
		if a.JSON {
			return a.PrintJSON(toolRows(probe))
		}
		fmt.Fprintf(a.Out, "%s started in %v\n", name, probe.Elapsed.Round(time.Millisecond))
		a.show(probe)
		return nil
	}
	return Unknown(name)
}

// failed is the error of a server that did not start. What p.Err says begins with the server.
func failed(s backend.Server, p project.Probe) error {
	hint := "run its command by hand to see why"
	if s.URL != "" {
		hint = "check the address, and that the server runs"
	}
	return failure.Hint(fmt.Errorf("start: %w", p.Err), cmp.Or(text.HintOf(p.Err), hint))
}

// wantsLogin reports whether a server did not start because it wants a login. It has to be known before that.
func wantsLogin(err error) bool {
	login := (*oauth.AuthorizationError)(nil)
	return errors.As(err, &login)
}

// toolRow is one tool of a server in the shape of `myc server test --json`.
type toolRow struct {
	Name        string   `json:"name"`
	Description string   `json:"description"`
	Mutates     bool     `json:"mutates"`
	SaysReads   bool     `json:"saysReads,omitzero"` // see [toolindex.Entry]
	Findings    []string `json:"findings,omitempty"`
}

// reads reports whether the server says that a tool only reads, trusted or not.
func (r toolRow) reads() bool { return !r.Mutates || r.SaysReads }

// toolRows are the tools that a probe found, those that only read first.
func toolRows(p project.Probe) []toolRow {
	found := map[policy.Item][]string{}
	for _, r := range p.Review {
		for _, f := range r.Findings {
			found[r.Item] = append(found[r.Item], fmt.Sprintf("%s: %s", f.Family, f.Why))
		}
	}
	rows, writers := []toolRow{}, []toolRow{}
	for _, d := range p.Tools {
		said := (&toolindex.Categories{}).Describe(d)
		r := toolRow{d.Item.String(), said.Description, said.Mutates, said.SaysReads, found[d.Item]}
		if r.reads() {
			rows = append(rows, r)
		} else {
			writers = append(writers, r)
		}
	}
	return append(rows, writers...)
}

// show prints the tools of a server.
func (a *app) show(p project.Probe) {
	var rows [][]string
	list := toolRows(p)
	for _, r := range list {
		rows = append(rows, []string{toolindex.Does(r.Mutates, r.SaysReads), r.Name, text.Cell(r.Description, 70)})
	}
	a.Table(base.Column{Name: "DOES"}, base.Column{Name: "TOOL", Least: 32},
		base.Column{Name: "DESCRIPTION", Least: 20, Drop: 1}).Print(rows...)
	for _, r := range list {
		for _, f := range r.Findings {
			base.Hang(a.App, "  scan: ", 8, r.Name+": "+text.Flatten(f))
		}
	}
	if p.Status.Held > 0 {
		fmt.Fprintf(a.Out, "  %d in quarantine: myc tools diff shows them once the server is added\n", p.Status.Held)
	}
}
