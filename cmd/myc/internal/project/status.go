package project

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"mycelium/cmd/myc/internal/base"
	"mycelium/cmd/myc/internal/web"
	"mycelium/internal/audit"
	"mycelium/internal/backend"
	"mycelium/internal/config/restart"
	"mycelium/internal/daemon"
	"mycelium/internal/node/api"
	"mycelium/internal/op"
	"mycelium/internal/state"
	"mycelium/internal/store"
	"mycelium/internal/text"
)

func (a *app) statusCmd() *cobra.Command {
	return &cobra.Command{
		Use: "status", Short: "Show the daemon, the servers and the sessions", Example: "  myc status --json",
		Args: base.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return a.status(c.Context()) },
	}
}

func (a *app) status(ctx context.Context) error {
	r, err := a.statusReply(ctx)
	if err != nil {
		return err
	}
	said, note, _ := web.Where(a.pagesRoot())
	if a.JSON {
		return a.PrintJSON(statusShape(r, note))
	}
	a.SayProject()
	state := "not running"
	if r.Daemon.Running {
		state = fmt.Sprintf("running since %s, pid %d", r.Daemon.Since.Local().Format("2006-01-02 15:04:05"), r.Daemon.PID)
		if r.Daemon.Addr != "" {
			state += ", http://" + r.Daemon.Addr + "/mcp"
		}
	}
	rows := [][]string{
		{"daemon", state},
		{"role", base.OrDash(r.Role)},
		{"skills", fmt.Sprintf("%s (valid %d, invalid %d, pending %d)", base.OrDash(strings.Join(r.Skills.Active, ", ")),
			r.Skills.Valid, r.Skills.Invalid, r.Skills.Pending)},
		{"tools", fmt.Sprintf("%d of %d visible, %.0f %% hidden", r.Tools.Visible, r.Tools.Catalog, 100*r.Tools.Concealment)},
		{"sessions", fmt.Sprint(r.Sessions)},
		{"asked", base.OrDash(r.Asked)},
		{"cost today", fmt.Sprintf("$%.2f", r.Cost)},
		{"state", text.Flatten(r.State)},
	}
	if said != "" {
		rows = append(rows, []string{"pages", said})
	}
	rows = slices.Concat(rows, savedTokens(r.Tools.Schemas), statusWaiting(r), statusWarnings(r))
	a.Facts(rows)
	a.printAgents(r)
	if len(r.Backends) == 0 {
		return nil
	}
	rows = nil
	for _, b := range r.Backends {
		since := "–"
		if !b.Since.IsZero() {
			since = b.Since.Local().Format(time.TimeOnly)
		}
		rows = append(rows, []string{b.Name, backendState(b), fmt.Sprint(b.Tools), since, backendCalls(b), restarts(b),
			base.OrDash(b.Error)})
	}
	fmt.Fprintln(a.Out)
	a.Table(base.Column{Name: "BACKEND", Least: 10}, base.Column{Name: "STATE", Paint: base.ByEffect}, base.Column{Name: "TOOLS", Drop: 1},
		base.Column{Name: "SINCE", Drop: 3}, base.Column{Name: "CALLS", Least: 10, Drop: 4}, base.Column{Name: "RESTARTS", Drop: 5},
		base.Column{Name: "ERROR", Least: 20}).Print(rows...)
	return nil
}

// pagesRoot is the state whose pages are looked for; "" if it cannot be told, and then none are found.
func (a *app) pagesRoot() state.Root {
	p, err := a.State()
	if err != nil {
		return ""
	}
	return p.Root
}

// statusWaiting are the rows about what waits for a person: files and calls.
func statusWaiting(r api.StatusReply) (rows [][]string) {
	var shipped []api.PendingFile
	for _, f := range r.Pending {
		if f.Shipped {
			shipped = append(shipped, f)
			continue
		}
		rows = append(rows, pendingRow(text.OneLine(f.File), f))
	}
	if n := len(shipped); n == 1 {
		rows = append(rows, pendingRow(text.OneLine(shipped[0].File)+" (shipped)", shipped[0]))
	} else if n > 0 {
		rows = append(rows, pendingRow(text.Count(n, "file")+" of the program", shipped[0]))
	}
	if len(rows) > 0 {
		rows[0][0] = "pending"
	}
	if r.Approvals > 0 {
		rows = append(rows, []string{"approvals", fmt.Sprintf("%d %s for an answer: myc approvals watch", r.Approvals,
			text.Plural(r.Approvals, "waits", "wait"))})
	}
	if n := len(r.Quarantined); n > 0 {
		rows = append(rows, []string{"quarantine", text.Count(n, "file") + " that would govern agents: myc sandbox quarantine"})
	}
	return rows
}

func pendingRow(what string, f api.PendingFile) []string {
	return []string{"", fmt.Sprintf("%s, since %s: no effect before myc trust", what, f.Since.Local().Format(time.DateTime))}
}

// statusWarnings are the rows about what is wrong.
func statusWarnings(r api.StatusReply) (rows [][]string) {
	for _, d := range r.Damage {
		rows = append(rows, []string{"damage", "no call runs: " + text.Flatten(d)})
	}
	if r.Problem != "" {
		rows = append(rows, []string{"problem", r.Problem})
	}
	if r.Database != "" {
		rows = append(rows, []string{"problem", text.Flatten(r.Database)})
	}
	for _, n := range r.Names {
		rows = append(rows, []string{"problem", text.Flatten(n)})
	}
	for _, u := range r.Unworkable {
		rows = append(rows, []string{"problem", text.Flatten(u)})
	}
	if len(r.Restart) > 0 {
		rows = append(rows, []string{"restart",
			strings.Join(r.Restart, ", ") + ": no effect before a restart: " + restart.How(r.Daemon.Addr != "")})
	}
	for _, w := range r.Hooks {
		rows = append(rows, []string{"hook", text.Flatten(w)})
	}
	for _, w := range r.Environs {
		rows = append(rows, []string{"environ", text.Flatten(w)})
	}
	return rows
}

// statusReply asks the node. Without one it returns what the files say.
func (a *app) statusReply(ctx context.Context) (api.StatusReply, error) {
	var r api.StatusReply
	c, err := a.Running(ctx)
	var stranger *daemon.StrangerError
	if err != nil && !errors.As(err, &stranger) {
		return r, err
	}
	if c != nil {
		defer c.Close()
		return base.Call(ctx, c, api.Status, op.None{})
	}
	v, err := a.OpenView()
	if err != nil {
		return r, err
	}
	defer v.Close()
	r = v.Status()
	for i := range r.Backends {
		if b := &r.Backends[i]; b.State == backend.StateIdle && b.Error == "" {
			b.Error, b.Hint = "not started by this command", "myc doctor starts each server once"
		}
	}
	r.Problem = v.Broken()
	if o, err := v.Project.AuditLog(); err == nil {
		if err := audit.Problem(o); err != nil {
			r.Damage = append(r.Damage, text.Describe(err))
		}
	}
	if _, err := os.Stat(v.Project.State.Database()); err == nil {
		db, err := store.Open(ctx, v.Project.StoreURL())
		if err != nil {
			r.Database = text.Describe(err)
		} else {
			_ = db.Close()
		}
	}
	if stranger != nil {
		r.Hooks = append(r.Hooks, stranger.Error()+": no daemon runs, and the accepted files decide")
	}
	return r, nil
}
