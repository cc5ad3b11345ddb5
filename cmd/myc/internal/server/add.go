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
	"mycelium/internal/op/failure"
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
	if n.login = wantsLogin(probe.Err); probe.Err != nil && !n.login {
		return failed(s, probe)
	}
	a.showPlan(n, probe)
	run, whole := servers.Governing(s, p.Dir)
	if !whole {
		return failure.Hint(fmt.Errorf("server add: the server runs more files of the project than can be kept"),
			"install it outside of the project, or write its entry by hand and accept it: myc trust")
	}
	for _, file := range run {
		fmt.Fprintf(a.Out, "accepted with it, because the server runs it: %s\n", text.Visible(file))
	}
	if write, err := a.consent(n); !write {
		return err
	}
	all, err := n.write(p, s, probe, run)
	if err != nil {
		return fmt.Errorf("server add: %w", err)
	}
	all.tellShipped(a.Out)
	return a.added(ctx, p, n, s)
}

// added makes a server known that was written, and says what comes next.
func (a *app) added(ctx context.Context, p *config.Project, n addition, s backend.Server) error {
	if err := a.inForce(ctx, n); err != nil {
		return err
	}
	if n.login {
		fmt.Fprintf(a.Out, "added %s; log in next: myc mcp login %s; and then make a skill of its tools: myc skill add %s --from %s --role %s\n",
			n.name, n.name, n.skill, n.name, n.role)
		return nil
	}
	if !n.yes { // the answer came after the first start, so its catalog was not kept
		_ = a.Probe(ctx, p, s, true, nil) // a client learns it otherwise
	}
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

// consent reports whether a person wants the plan. Without --dry-run it is an error if not.
func (a *app) consent(n addition) (write bool, err error) {
	switch {
	case n.dry:
		fmt.Fprintln(a.Out, "no file was changed (--dry-run)")
		return false, nil
	case n.yes:
		return true, nil
	case !base.StdinIsTerminal(a.In):
		return false, failure.Hint(fmt.Errorf("%s: no file was changed", n.act()), "add --yes to write this")
	case !a.Confirm("Write and accept it? [y/N] "):
		return false, failure.New(failure.Denied, fmt.Errorf("%s: no file was changed", n.act()), "")
	}
	return true, nil
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
	return n.complete(p)
}

// complete fills in what was left out.
func (n *addition) complete(p *config.Project) error {
	n.skill = cmp.Or(n.skill, n.name)
	n.role = cmp.Or(n.role, p.File.Session.RoleOfAgent())
	if n.role == "" {
		return failure.Usagef("%s: session: names no role: name one with --role", n.act())
	}
	for _, word := range []string{n.skill, n.role} {
		if word != filepath.Base(word) || strings.HasPrefix(word, ".") {
			return failure.Usagef("%s: %q is no name of a skill or role", n.act(), word)
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
		if len(n.command) > 1 || len(env) > 0 || n.sandbox != "" {
			return s, failure.Usagef("server add: a URL takes --header, no arguments, no --env and no --sandbox")
		}
		s.Type, s.URL, s.Headers = "http", first, headers
		return s, nil
	}
	if len(headers) > 0 {
		return s, failure.Usagef("server add: --header is for a URL; a command takes --env")
	}
	s.Command, s.Args, s.Env, s.Sandbox = first, n.command[1:], env, n.sandbox
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
