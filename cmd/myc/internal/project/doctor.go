package project

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"mycelium/cmd/myc/internal/base"
	"mycelium/cmd/myc/internal/web"
	"mycelium/internal/audit"
	"mycelium/internal/backend"
	"mycelium/internal/config/restart"
	"mycelium/internal/node/api"
	"mycelium/internal/node/project"
	"mycelium/internal/op"
	"mycelium/internal/op/failure"
	"mycelium/internal/text"
)

// finding is one line of `myc doctor`.
type finding struct {
	Level   string `json:"level"` // ok, warning or problem
	What    string `json:"what"`
	Message string `json:"message"`
	Hint    string `json:"hint,omitempty"`
}

func (a *app) doctorCmd(more ...base.Check) *cobra.Command {
	return &cobra.Command{Use: "doctor", Short: "Check the project, and say how to fix what is wrong",
		Example: "  myc doctor --json", Args: base.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return a.doctor(c.Context(), more) }}
}

func (a *app) doctor(ctx context.Context, more []base.Check) error {
	v, err := a.OpenView()
	if err != nil {
		return err
	}
	defer v.Close()
	a.SayProject()
	var found []finding
	add := func(level, what, message, hint string) { found = append(found, finding{level, what, message, hint}) }
	a.doctorState(v.Project.State, add)
	doctorTrust(v, add)
	doctorFiles(v, add)
	doctorTracked(ctx, v, a.Getenv("HOME"), add)
	doctorSkills(v, add)
	doctorNeeds(ctx, v, add)
	doctorHeld(v, add)
	doctorServed(v, add)
	doctorRoles(v, add)
	doctorNames(v, add)
	a.doctorOnDisk(v, add)
	a.doctorRules(ctx, v, add)
	doctorSchemas(v, add)
	a.doctorDaemon(ctx, v, add, a.doctorServers(ctx, v, add))
	if said, _, problem := web.Where(v.Project.State.Root); problem {
		add("warning", "pages", said, "web.addr in ~/.config/mycelium/mycelium.yaml chooses another address; myc web tries again")
	} else if said != "" {
		add("ok", "pages", said, "")
	}
	for _, c := range more {
		c(ctx, v, add)
	}
	doctorAudit(v, add)
	problems := 0
	for _, f := range found {
		if f.Level == "problem" {
			problems++
		}
	}
	if a.JSON {
		if err := a.PrintJSON(found); err != nil {
			return err
		}
	} else {
		for _, f := range found {
			base.Hang(a.App, a.mark(f.Level)+" ", 2, f.What+": "+text.Flatten(f.Message))
			if f.Hint != "" {
				base.Hang(a.App, "    → ", 6, text.Flatten(f.Hint))
			}
		}
	}
	if problems > 0 {
		hint := "each line with ✗ names a problem, and the line with → below it says how to fix it"
		if a.JSON {
			hint = "each finding of level \"problem\" has a hint that says how to fix it"
		}
		return failure.New(failure.Config, fmt.Errorf("doctor: %s in this project", text.Count(problems, "problem")), hint)
	}
	return nil
}

// mark is the sign of a finding.
func (a *app) mark(level string) string {
	switch level {
	case "ok":
		return a.Paint(base.Green, "✓")
	case "warning":
		return a.Paint(base.Yellow, "!")
	}
	return a.Paint(base.Red, "✗")
}

// doctorDaemon reports how the daemon does. It leaves out the servers that doctorServers has reported.
func (a *app) doctorDaemon(ctx context.Context, v *project.View, add base.Report, reported []string) {
	c, err := a.Running(ctx)
	if err != nil {
		add("problem", "daemon", err.Error(), cmp.Or(text.HintOf(err), "myc stop -f ends it"))
		return
	}
	if c == nil {
		add("ok", "daemon", "not running; the next client starts it", "")
		for _, p := range v.Unworkable() {
			report(p, "settings", "", add)
		}
		return
	}
	defer c.Close()
	s, err := base.Call(ctx, c, api.Status, op.None{})
	if err != nil {
		add("problem", "daemon", err.Error(), "myc stop -f ends it")
		return
	}
	add("ok", "daemon", fmt.Sprintf("runs, pid %d, %s", s.Daemon.PID, text.Count(s.Sessions, "session")), "")
	if s.Problem != "" {
		add("problem", "daemon", "the daemon does not use the files on disk: "+s.Problem, "fix them; the daemon then reloads by itself")
	}
	if s.Database != "" {
		add("problem", "database", s.Database, "")
	}
	for _, u := range s.Unworkable { // by the variables that the daemon has, and not this command
		add("problem", "settings", u, "")
	}
	if len(s.Restart) > 0 {
		add("warning", "daemon", strings.Join(s.Restart, ", ")+": accepted, and without effect before a restart",
			restart.How(s.Daemon.Addr != ""))
	}
	for _, d := range s.Damage {
		add("problem", "daemon", "no call runs: "+d, "mend what it names; the daemon then goes on by itself, and myc status says so")
	}
	for _, w := range s.Environs {
		add("warning", "environment", w, "find out what sets it: the settings of the project, or the terminal in which the agent was started")
	}
	for _, b := range s.Backends {
		hint := "run its command by hand to see why; myc tools sync starts it again"
		if b.Log != "" {
			hint += "; its stderr is in " + b.Log
		}
		if slices.ContainsFunc(v.Project.Servers, func(s backend.Server) bool { return s.Name == b.Name && s.URL != "" }) {
			hint = "check that its address is right and answers; myc tools sync tries again"
		}
		switch {
		case slices.Contains(reported, b.Name):
		case b.State == backend.StateFailed:
			add("problem", "server "+b.Name, b.Error, cmp.Or(b.Hint, hint))
		case b.Breaker != "" && b.Breaker != "closed":
			hint = "Mycelium tries again by itself; myc tools sync tries now"
			if b.Log != "" {
				hint += "; its stderr is in " + b.Log
			}
			add("problem", "server "+b.Name, "its circuit breaker is "+b.Breaker+": "+b.Error, hint)
		}
	}
}

// acceptedText says how many breaks of the log a person accepted; "" without any.
func acceptedText(r audit.Report) string {
	if n := len(r.Accepted); n > 0 {
		return " but for " + text.Count(n, "break") + " that a person accepted: myc audit verify names " + text.Plural(n, "it", "them")
	}
	return ""
}

// doctorAudit checks the log.
func doctorAudit(v *project.View, add base.Report) {
	o, err := v.Project.AuditLog()
	if err != nil {
		add("problem", "audit", err.Error(), "")
		return
	}
	if err := audit.Problem(o); err != nil {
		add("problem", "audit", "no call runs: "+err.Error(), cmp.Or(text.HintOf(err), "make room, or mend what it names"))
	}
	r, err := audit.Verify(o)
	switch {
	case err != nil:
		add("problem", "audit", err.Error(), "")
	case r.Broken != nil:
		add("problem", "audit", fmt.Sprintf("the log is broken at %s:%d: %s", r.Broken.Segment, r.Broken.Line, r.Broken.Why),
			"the records before that line are valid; find out who changed it, then begin a new chain: "+
				`myc audit begin-again --because "TEXT"`)
	case r.Records == 0:
		add("ok", "audit", "no record yet", "")
	default:
		add("ok", "audit", text.Count(int(r.Records), "record")+", the chain is intact"+acceptedText(r), "")
	}
}
