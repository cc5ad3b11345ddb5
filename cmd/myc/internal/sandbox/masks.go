package sandbox

import (
	"fmt"
	"strings"

	"mycelium/internal/node/failure"
	"mycelium/internal/node/project"
	"mycelium/internal/sandbox"
	"mycelium/internal/sandbox/proxy"
	"mycelium/internal/secret"
	"mycelium/internal/text"
)

// reach sets the hosts and masks of a command.
func (a *app) reach(r request, c *sandbox.Command) error {
	for _, h := range r.hosts {
		if _, err := proxy.ParseHost(h); err != nil {
			return notHost(err)
		}
	}
	if c.Profile.Network && len(r.hosts)+len(r.masks) > 0 {
		return text.Hinted(failure.Usagef("--host and --mask need a profile without the network of the machine"),
			"leave --allow-network out, or take the profile standard or project")
	}
	c.Hosts = r.hosts
	for _, s := range r.masks {
		m, err := a.mask(s)
		if err != nil {
			return err
		}
		c.Masks = append(c.Masks, m)
	}
	return nil
}

// notHost says how a host is written.
func notHost(err error) error {
	return text.Hinted(failure.Usagef("%w", err),
		"write a name, *. and a domain, or an address, and :PORT for a port of its own: example.com:8443")
}

// mask reads NAME@HOST[,HOST]... and finds the secret of that name.
func (a *app) mask(s string) (proxy.Mask, error) {
	name, hosts, ok := strings.Cut(s, "@")
	if !ok || hosts == "" || !secret.IsName(name) {
		return proxy.Mask{}, text.Hinted(failure.Usagef("--mask %q is not NAME@HOST", s), "for example --mask GITHUB_TOKEN@api.github.com")
	}
	m := proxy.Mask{Name: name, Hosts: strings.Split(hosts, ",")}
	for _, h := range m.Hosts {
		if _, err := proxy.ParseHost(h); err != nil {
			return m, notHost(err)
		}
	}
	var from secret.Options
	if a.Find(project.NeedsProject) == nil {
		p, err := a.Load()
		if err != nil {
			return m, fmt.Errorf("find the secret %s: %w", name, err)
		}
		from = p.SecretOptions()
	}
	value, err := secret.New(from).Lookup(secret.Any, name, func(name string) (string, bool) {
		v := a.Getenv(name)
		return v, v != ""
	})
	if err != nil {
		return m, text.Hinted(fmt.Errorf("--mask: %w", err), "put it into the environment, or where docs/secrets.md says")
	}
	m.Value = value
	return m, nil
}
