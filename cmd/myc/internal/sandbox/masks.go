package sandbox

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"mycelium/internal/node/project"
	"mycelium/internal/op/failure"
	"mycelium/internal/registry"
	"mycelium/internal/sandbox"
	"mycelium/internal/sandbox/proxy"
	"mycelium/internal/secret"
	"mycelium/internal/text"
)

// reach sets the hosts and masks of a command, and checks its packages.
func (a *app) reach(r request, c *sandbox.Command) error {
	for _, h := range r.hosts {
		if _, err := proxy.ParseHost(h); err != nil {
			return notHost(err)
		}
	}
	for _, p := range r.packages {
		if _, err := registry.ParsePackage(p); err != nil {
			return failure.Usagef("--package: %w", err)
		}
	}
	if c.Profile.Network && len(r.hosts)+len(r.registries)+len(r.packages)+len(r.masks)+len(c.Profile.Masks) > 0 {
		return text.Hinted(failure.Usagef("--host, --registry, --package and masks need a profile without the network of the machine"),
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
	for _, name := range slices.Sorted(maps.Keys(c.Profile.Masks)) {
		if i := slices.IndexFunc(c.Masks, func(m proxy.Mask) bool { return m.Name == name }); i >= 0 {
			c.Masks[i].Hosts = append(c.Masks[i].Hosts, c.Profile.Masks[name]...)
			continue
		}
		m, err := a.valued(proxy.Mask{Name: name, Hosts: c.Profile.Masks[name]})
		if err != nil {
			return fmt.Errorf("profile %s: %w", c.Profile.Name, err)
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
	m, err := a.valued(m)
	if err != nil {
		err = fmt.Errorf("--mask: %w", err)
	}
	return m, err
}

// valued finds the secret of a mask.
func (a *app) valued(m proxy.Mask) (proxy.Mask, error) {
	name := m.Name
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
		return m, text.Hinted(err, "put it into the environment, or where docs/secrets.md says")
	}
	m.Value = value
	return m, nil
}
