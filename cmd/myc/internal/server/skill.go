package server

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"mycelium/cmd/myc/internal/base"
	"mycelium/internal/backend"
	"mycelium/internal/config"
	"mycelium/internal/node/project"
	"mycelium/internal/op/failure"
	"mycelium/internal/policy"
)

// Skill says which skill is made of the tools of a server.
type Skill struct {
	Name, Server string
	Role         string // that may use it; empty: the role of agents
	Yes, Dry     bool   // do not ask; change no file
}

// AddSkill is `myc skill add NAME --from SERVER`: the part of `myc server add` that is about the skill.
func AddSkill(ctx context.Context, b *base.App, k Skill) error {
	a := &app{b}
	if err := a.NeedPerson("add a skill"); err != nil {
		return err
	}
	p, err := a.Load()
	if err != nil {
		return err
	}
	n := addition{name: k.Server, skill: k.Name, role: k.Role, yes: k.Yes, dry: k.Dry, known: true}
	if err := n.complete(p); err != nil {
		return err
	}
	i := slices.IndexFunc(p.Servers, func(s backend.Server) bool { return s.Name == n.name })
	if i < 0 {
		return Unknown(n.name)
	}
	probe, err := a.offer(ctx, p, p.Servers[i])
	if err != nil {
		return err
	}
	a.showPlan(n, probe)
	if write, err := a.consent(n); !write {
		return err
	}
	var all changes
	err = p.Write(time.Now(), func(folders []string) error {
		where, err := foldersOf(p, folders)
		if err != nil {
			return err
		}
		for _, at := range where {
			if err := all.plan(at, n, p.Servers[i], probe, p.File.Session.DefaultSkills); err != nil {
				return err
			}
		}
		return all.write()
	})
	if err != nil {
		return fmt.Errorf("%s: %w", n.act(), err)
	}
	if err := a.inForce(ctx, n); err != nil {
		return err
	}
	all.tellShipped(a.Out)
	fmt.Fprintf(a.Out, "added the skill %s: myc tools --role %s shows its tools\n", n.skill, n.role)
	return nil
}

// inForce makes a running daemon take what was written.
func (a *app) inForce(ctx context.Context, n addition) error {
	if err := base.Reload(ctx, a.App); err != nil {
		return fmt.Errorf("%s: it was written, but is not in force: %w", n.act(), err)
	}
	return nil
}

// offer is what a server offers: one start tells it, or the catalog of a server that is part of this program.
func (a *app) offer(ctx context.Context, p *config.Project, s backend.Server) (project.Probe, error) {
	if s.Builtin == "" {
		probe := a.Probe(ctx, p, s, false, p.MayStart)
		if probe.Err != nil {
			return probe, failed(s, probe)
		}
		return probe, nil
	}
	v, err := a.OpenView()
	if err != nil {
		return project.Probe{}, err
	}
	defer v.Close()
	var probe project.Probe
	for _, d := range v.Pool.Catalog().Definitions {
		if d.Item.Server == s.Name && d.Item.Kind == policy.Tool {
			probe.Tools = append(probe.Tools, d)
		}
	}
	if len(probe.Tools) == 0 {
		return probe, failure.Usagef("the server %s offers no tools", s.Name)
	}
	return probe, nil
}

// act is the command that adds.
func (n addition) act() string {
	if n.known {
		return "skill add"
	}
	return "server add"
}

// showPlan prints what is added.
func (a *app) showPlan(n addition, p project.Probe) {
	if n.login {
		fmt.Fprintf(a.Out, "%s wants a login, so its tools are not known yet.\n\nmycelium.yaml: entry mcpServers.%s\n", n.name, n.name)
		return
	}
	a.show(p)
	fmt.Fprintln(a.Out)
	if !n.known {
		fmt.Fprintf(a.Out, "mycelium.yaml: entry mcpServers.%s\n", n.name)
	}
	fmt.Fprintf(a.Out, "skills/%s/SKILL.yaml, open to the role %s:\n\n%s\n", n.skill, n.role, n.skillText(p))
}

// skillText is the file of the proposed skill.
func (n addition) skillText(p project.Probe) string {
	var b strings.Builder
	by := n.act() + " " + n.name
	if n.known {
		by = n.act() + " " + n.skill + " --from " + n.name
	}
	fmt.Fprintf(&b, "# Written by myc %s. A tool that this file does not list does not exist for an agent.\n", by)
	fmt.Fprintf(&b, "name: %s\ndescription: Uses the tools of the server %s.\nallowedRoles: [%s]\n", n.skill, n.name, n.role)
	rows := toolRows(p)
	head := "allowedTools:\n"
	if len(rows) == 0 || !rows[0].reads() {
		head = "# No tool of this server says that it only reads. Remove the # before a tool to grant it, and the [] here.\nallowedTools: []\n"
	}
	b.WriteString(head)
	said := false
	for _, r := range rows {
		if !r.reads() && !said && head == "allowedTools:\n" {
			b.WriteString("  # These may change something. Remove the # before a tool to grant it.\n")
			said = true
		}
		if r.reads() {
			fmt.Fprintf(&b, "  - %s\n", r.Name)
		} else {
			fmt.Fprintf(&b, "  # - %s\n", r.Name)
		}
	}
	return b.String()
}
