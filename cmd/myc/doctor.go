package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"mycelium/internal/audit"
	"mycelium/internal/backend"
	"mycelium/internal/policy"
	"mycelium/internal/skill"
)

// finding is one line of `myc doctor`.
type finding struct {
	Level   string `json:"level"` // ok, warning or problem
	What    string `json:"what"`
	Message string `json:"message"`
	Hint    string `json:"hint,omitempty"`
}

func (a *app) doctorCmd() *cobra.Command {
	return &cobra.Command{Use: "doctor", Short: "What is wrong here, and how to mend it", Example: "  myc doctor --json", Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error { return a.doctor(c.Context()) }}
}

func (a *app) doctor(ctx context.Context) error {
	v, err := a.look()
	if err != nil {
		return err
	}
	defer v.close()
	var found []finding
	add := func(level, what, message, hint string) { found = append(found, finding{level, what, message, hint}) }
	v.doctorTrust(add)
	v.doctorFiles(add)
	v.doctorSkills(add)
	v.doctorHeld(add)
	v.doctorServed(add)
	v.doctorRoles(add)
	a.doctorRules(ctx, v, add)
	v.doctorSchemas(add)
	a.doctorDaemon(ctx, v, add)
	a.doctorHooks(ctx, v, add)
	doctorAudit(v, add)
	bad := slices.ContainsFunc(found, func(f finding) bool { return f.Level == "problem" })
	if a.json {
		if err := a.printJSON(found); err != nil {
			return err
		}
	} else {
		for _, f := range found {
			mark := map[string]string{"ok": "✓", "warning": "!", "problem": "✗"}[f.Level]
			fmt.Fprintf(a.out, "%s %s: %s\n", mark, f.What, visible(f.Message))
			if f.Hint != "" {
				fmt.Fprintf(a.out, "    → %s\n", visible(f.Hint))
			}
		}
	}
	if bad {
		return configError(fmt.Errorf("doctor: something is wrong"), "")
	}
	return nil
}

type report func(level, what, message, hint string)

func (v *view) doctorTrust(add report) {
	switch {
	case v.project.Trusted:
		add("ok", "trust", v.project.Dir+" is trusted", "")
	case len(v.project.Untrusted) > 0:
		add("warning", "trust", fmt.Sprintf("the folder is not trusted: %d file(s) of it take no effect", len(v.project.Untrusted)), "read them, then run: myc trust")
	default:
		add("ok", "trust", "the folder brings nothing of its own", "myc init sets one up")
	}
}

func (v *view) doctorFiles(add report) {
	bad := 0
	for _, p := range append(slices.Clone(v.problems), v.project.LeftOut...) {
		level := "warning"
		if !p.Warning && !slices.Contains(v.project.LeftOut, p) {
			level = "problem"
			bad++
		}
		if v.ofSkill(p) {
			continue // told with its skill
		}
		p.Hint, p.Warning = "", false
		add(level, "files", problemText(p), v.hintFor(p))
	}
	if bad == 0 {
		add("ok", "files", "every file loads", "")
	}
}

// ofSkill reports whether a problem is one that doctorSkills tells of.
func (v *view) ofSkill(p policy.Problem) bool {
	return slices.ContainsFunc(v.skills.All(), func(s skill.Checked) bool {
		return slices.ContainsFunc(s.Problems, func(q policy.Problem) bool {
			return q.File == p.File && q.Line == p.Line && q.Message == p.Message
		})
	})
}

// hintFor finds the hint again that the problem's one-line form leaves to a line of its own.
func (v *view) hintFor(p policy.Problem) string {
	for _, q := range append(slices.Clone(v.problems), v.project.LeftOut...) {
		if q.File == p.File && q.Line == p.Line && q.Message == p.Message {
			return q.Hint
		}
	}
	return ""
}

func (v *view) doctorSkills(add report) {
	for _, s := range v.skills.All() {
		for _, p := range s.Problems {
			level := "problem"
			if p.Warning || s.State == skill.Pending {
				level = "warning"
			}
			hint := p.Hint
			p.Hint, p.Warning = "", false
			add(level, "skill "+s.Name, problemText(p), hint)
		}
	}
	for _, s := range v.skills.All() {
		if why := v.closed(s); why != "" {
			add("warning", "skill "+s.Name, why, "name the skill there, or remove it")
		}
	}
	add("ok", "skills", fmt.Sprintf("%d valid", len(v.skills.Grants())), "")
}

func (v *view) doctorRoles(add report) {
	conf := v.project.File.Session
	if conf.DefaultRole == "" {
		add("warning", "roles", "session.defaultRole is not set: a client without a role sees control tools only", "set it in mycelium.yaml, or start clients with --role")
	}
	for _, role := range v.policy.Roles() {
		if c, _ := v.check(role); len(c.Tools) == 0 {
			add("warning", "role "+role, "it sees no tool", "myc policy check --role "+role)
		}
	}
}

// doctorSchemas checks the schemas of the tools that servers offer. A tool whose schema does not compile works all the same.
func (v *view) doctorSchemas(add report) {
	for _, d := range v.catalog.Definitions {
		if d.Item.Kind != policy.Tool {
			continue
		}
		for _, why := range backend.SchemaProblems(d.Raw) {
			add("warning", "tool "+d.Item.String(), visible(why), "its server has to mend it; clients that check schemas may refuse the tool")
		}
	}
}

func (a *app) doctorDaemon(ctx context.Context, v *view, add report) {
	c, _, err := a.running(ctx)
	if err != nil {
		add("problem", "daemon", err.Error(), "myc stop -f ends it")
		return
	}
	if c == nil {
		add("ok", "daemon", "none runs; a client starts it", "")
		return
	}
	defer c.Close()
	var s statusReply
	if err := answered(c.Call(ctx, "status", nil, &s)); err != nil {
		add("problem", "daemon", err.Error(), "myc stop -f ends it")
		return
	}
	add("ok", "daemon", fmt.Sprintf("runs, pid %d, %d session(s)", s.Daemon.PID, s.Sessions), "")
	if s.Problem != "" {
		add("problem", "daemon", "the files on disk are not in force: "+s.Problem, "mend them; the daemon reloads by itself")
	}
	for _, b := range s.Backends {
		hint := "try its command by hand; myc tools sync starts it again"
		if b.Log != "" {
			hint += "; its stderr is in " + b.Log
		}
		if slices.ContainsFunc(v.project.Servers, func(s backend.Server) bool { return s.Name == b.Name && s.URL != "" }) {
			hint = "see whether its address is right and answers; myc tools sync tries it again"
		}
		switch {
		case b.State == backend.StateFailed:
			text, own, ok := strings.Cut(b.Error, " (hint: ")
			if ok {
				hint = strings.TrimSuffix(own, ")")
			}
			add("problem", "server "+b.Name, text, hint)
		case b.Breaker != "" && b.Breaker != "closed":
			hint = "calls are tried again by themselves; myc tools sync tries it now"
			if b.Log != "" {
				hint += "; its stderr is in " + b.Log
			}
			add("problem", "server "+b.Name, "its breaker is "+b.Breaker+": "+b.Error, hint)
		}
	}
}

// doctorAudit checks the log.
func doctorAudit(v *view, add report) {
	o, err := auditOptions(v.project)
	if err != nil {
		add("problem", "audit", err.Error(), "")
		return
	}
	if _, err := os.Stat(o.Dir); err != nil {
		add("ok", "audit", "no record yet", "")
		return
	}
	r, err := audit.Verify(o)
	switch {
	case err != nil:
		add("problem", "audit", err.Error(), "")
	case r.Broken != nil:
		add("problem", "audit", fmt.Sprintf("the log is broken at %s:%d: %s", r.Broken.Segment, r.Broken.Line, r.Broken.Why), "keep "+filepath.Clean(o.Dir)+" as it is: what stands before that line is sound")
	default:
		add("ok", "audit", fmt.Sprintf("%d records, the chain is whole", r.Records), "")
	}
}
