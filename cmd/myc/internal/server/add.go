package server

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"mycelium/cmd/myc/internal/base"
	"mycelium/internal/backend"
	"mycelium/internal/config"
	"mycelium/internal/config/servers"
	"mycelium/internal/credential"
	"mycelium/internal/node/failure"
	"mycelium/internal/node/project"
	"mycelium/internal/text"
)

func (a *app) add(ctx context.Context, n addition) error {
	if err := a.NeedPerson("add a server"); err != nil {
		return err
	}
	p, err := a.Load()
	if err != nil {
		return err
	}
	a.SayProject()
	if err := a.ready(p, &n); err != nil {
		return err
	}
	s, err := n.server()
	if err != nil {
		return err
	}
	a.warnSecrets(n)
	probe := a.Probe(ctx, p, s, n.yes, nil)
	if probe.Err != nil {
		return notAdded(s, probe)
	}
	a.show(probe)
	fmt.Fprintf(a.Out, "\nmycelium.yaml: entry mcpServers.%s\nskills/%s/SKILL.yaml, open to the role %s:\n\n%s\n", n.name, n.skill, n.role,
		n.skillText(probe))
	run, whole := servers.Governing(s, p.Dir)
	if !whole {
		return failure.Hint(fmt.Errorf("server add: the server runs more files of the project than can be kept"),
			"install it outside of the project, or write its entry by hand and accept it: myc trust")
	}
	for _, file := range run {
		fmt.Fprintf(a.Out, "accepted with it, because the server runs it: %s\n", text.Visible(file))
	}
	if err := a.consent(n); err != nil {
		return err
	}
	all, err := n.write(p, s, probe, run)
	if err != nil {
		return fmt.Errorf("server add: %w", err)
	}
	if !n.yes { // the answer came after the first start, so its catalog was not kept
		_ = a.Probe(ctx, p, s, true, nil) // a client learns it otherwise
	}
	all.tellShipped(a.Out)
	fmt.Fprintf(a.Out, "added %s: myc tools --role %s shows its tools\n", n.name, n.role)
	return nil
}

// warnSecrets warns of a literal secret, which mycelium.yaml would hold.
func (a *app) warnSecrets(n addition) {
	for _, v := range slices.Concat(n.env, n.header, n.command) {
		if len(credential.Find(v)) > 0 {
			fmt.Fprintf(a.Err, "myc: warning: %s looks like a secret, and mycelium.yaml would hold it\nhint: write ${VAR} or ${secret:NAME}\n",
				credential.Mask(v))
		}
	}
}

// consent returns an error unless a person wants the plan.
func (a *app) consent(n addition) error {
	switch {
	case n.yes:
		return nil
	case !base.StdinIsTerminal(a.In):
		return failure.Hint(fmt.Errorf("server add: no file was changed"), "add --yes to write this")
	case !a.Confirm("Write and accept it? [y/N] "):
		return failure.New(failure.Denied, fmt.Errorf("server add: no file was changed"), "")
	}
	return nil
}

// ready checks what can be checked before the server starts, and fills in what was left out.
func (a *app) ready(p *config.Project, n *addition) error {
	if !p.Trusted {
		return failure.New(failure.Conflict, fmt.Errorf("server add: nothing of %s is accepted", p.Dir),
			"look at it and accept it first: myc trust; or set up a project: myc init")
	}
	if p.ServersFrom != "" && p.ServersFrom != "mycelium.yaml" {
		return failure.Hint(fmt.Errorf("server add: the servers of this project stand in %s, and mcpServers in mycelium.yaml would replace them",
			p.ServersFrom), "move its entries to mycelium.yaml first")
	}
	for _, s := range p.Servers {
		if s.Name == n.name {
			return failure.Hint(fmt.Errorf("server add: %s exists", n.name), "choose another name, or: myc server remove "+n.name)
		}
	}
	n.skill = cmp.Or(n.skill, n.name)
	n.role = cmp.Or(n.role, p.File.Session.RoleOfAgent())
	if n.role == "" {
		return failure.Usagef("server add: session: names no role: name one with --role")
	}
	for _, word := range []string{n.skill, n.role} {
		if word != filepath.Base(word) || strings.HasPrefix(word, ".") {
			return failure.Usagef("server add: %q is no name of a skill or role", word)
		}
	}
	return nil
}

// server is the entry that the arguments describe.
func (n addition) server() (backend.Server, error) {
	s := backend.Server{Name: n.name}
	env, err := pairs("env", n.env)
	if err != nil {
		return s, err
	}
	headers, err := pairs("header", n.header)
	if err != nil {
		return s, err
	}
	first := n.command[0]
	if strings.HasPrefix(first, "http://") || strings.HasPrefix(first, "https://") {
		if len(n.command) > 1 || len(env) > 0 {
			return s, failure.Usagef("server add: a URL takes --header, no arguments and no --env")
		}
		s.Type, s.URL, s.Headers = "http", first, headers
		return s, nil
	}
	if len(headers) > 0 {
		return s, failure.Usagef("server add: --header is for a URL; a command takes --env")
	}
	s.Command, s.Args, s.Env = first, n.command[1:], env
	return s, nil
}

// pairs reads the values K=V of a flag.
func pairs(flag string, list []string) (map[string]string, error) {
	out := map[string]string{}
	for _, kv := range list {
		k, v, ok := strings.Cut(kv, "=")
		if !ok || k == "" {
			return nil, failure.Usagef("server add: --%s takes K=V", flag)
		}
		out[k] = v
	}
	if len(out) == 0 {
		return nil, nil
	}
	return out, nil
}

// skillText is the file of the proposed skill.
func (n addition) skillText(p project.Probe) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# Written by myc server add %s. A tool that this file does not list does not exist for an agent.\n", n.name)
	fmt.Fprintf(&b, "name: %s\ndescription: Uses the tools of the server %s.\nallowedRoles: [%s]\n", n.skill, n.name, n.role)
	rows := toolRows(p)
	head := "allowedTools:\n"
	if len(rows) == 0 || rows[0].Mutates {
		head = "# No tool of this server says that it only reads. Remove the # before a tool to grant it, and the [] here.\nallowedTools: []\n"
	}
	b.WriteString(head)
	said := false
	for _, r := range rows {
		if r.Mutates && !said && head == "allowedTools:\n" {
			b.WriteString("  # These may change something. Remove the # before a tool to grant it.\n")
			said = true
		}
		if r.Mutates {
			fmt.Fprintf(&b, "  # - %s\n", r.Name)
		} else {
			fmt.Fprintf(&b, "  - %s\n", r.Name)
		}
	}
	return b.String()
}
