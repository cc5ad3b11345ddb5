package sandbox

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"mycelium/internal/registry"
	"mycelium/internal/sandbox/proxy"
	"mycelium/internal/text"
)

// reach lists the hosts that the profile opens, those of its masks included.
func (p Profile) reach() []string {
	out := slices.Clone(p.Hosts)
	for _, name := range slices.Sorted(maps.Keys(p.Masks)) {
		out = append(out, p.Masks[name]...)
	}
	return out
}

// uses reports whether masks allow no use of a secret that the profile does not allow.
func (p Profile) uses(masks map[string][]string) bool {
	for name, hosts := range masks {
		if len(proxy.Within(hosts, p.Masks[name])) < len(hosts) {
			return false
		}
	}
	return true
}

// reachBoth sets the hosts and masks that two profiles allow together.
func (p *Profile) reachBoth(a, b Profile) {
	switch x, y := a.reach(), b.reach(); {
	case a.Network && b.Network:
		p.Hosts = slices.Concat(x, y)
	case a.Network:
		p.Hosts = y
	case b.Network:
		p.Hosts = x
	default:
		p.Hosts = bothHosts(x, y)
	}
	p.fetchBoth(a, b)
	p.Masks = nil
	for name, hosts := range a.Masks {
		if both := bothHosts(hosts, b.Masks[name]); both != nil {
			if p.Masks == nil {
				p.Masks = map[string][]string{}
			}
			p.Masks[name] = both
		}
	}
}

// fetchBoth sets the registries and packages that two profiles allow together. The network of the machine has every one.
func (p *Profile) fetchBoth(a, b Profile) {
	switch {
	case a.Network && b.Network:
		p.Registries, p.Packages = nil, nil
	case a.Network:
		p.Registries, p.Packages = b.Registries, slices.Clone(b.Packages)
	case b.Network:
		p.Registries, p.Packages = a.Registries, slices.Clone(a.Packages)
	default:
		p.Registries = slices.DeleteFunc(slices.Clone(a.Registries), func(r registry.Registry) bool { return !r.In(b.Registries) })
		p.Packages = slices.DeleteFunc(slices.Clone(a.Packages), func(s string) bool { return !slices.Contains(b.Packages, s) })
	}
}

// bothHosts are the hosts that two lists allow, sorted.
func bothHosts(a, b []string) []string {
	out := append(proxy.Within(a, b), proxy.Within(b, a)...)
	slices.Sort(out)
	return slices.Compact(out)
}

// network says in words what the profile reaches.
func (p Profile) network() []string {
	out := []string{"no network"}
	switch {
	case p.Network:
		out[0] = "the network of the machine"
	case len(p.Hosts) > 0:
		out[0] = "no network but " + strings.Join(p.Hosts, " ")
	}
	if len(p.Registries) > 0 {
		out = append(out, "fetches packages from "+strings.Join(registry.Names(p.Registries), " "))
	}
	if len(p.Packages) > 0 {
		out = append(out, "also the packages "+strings.Join(p.Packages, " "))
	}
	for _, name := range slices.Sorted(maps.Keys(p.Masks)) {
		out = append(out, "uses the secret "+name+" at "+strings.Join(p.Masks[name], " "))
	}
	return out
}

// With returns the profile with what a person grants beyond it, in the fields of their names. One that has the network of the machine needs no
// hosts and registries.
func (p Profile) With(more Profile) Profile {
	p.Read, p.Write = slices.Concat(p.Read, more.Read), slices.Concat(p.Write, more.Write)
	if !p.Network {
		p.Hosts, p.Packages = slices.Concat(p.Hosts, more.Hosts), slices.Concat(p.Packages, more.Packages)
		p.Registries = registry.Join(p.Registries, more.Registries)
	}
	return p
}

// reached adds the hosts of the profile to those of the command. Each mask of the profile must have its secret.
func (c *Command) reached() error {
	for _, name := range slices.Sorted(maps.Keys(c.Profile.Masks)) {
		i := slices.IndexFunc(c.Masks, func(m proxy.Mask) bool { return m.Name == name })
		if i < 0 {
			return text.Hinted(fmt.Errorf("profile %s: nobody has given the secret %s, which it masks", c.Profile.Name, name),
				"secrets are given to commands of people and to servers, not to agents")
		}
	}
	if !c.Profile.Network { // a person opened it: myc sandbox exec --allow-network
		c.Hosts = slices.Concat(c.Hosts, c.Profile.Hosts)
		c.Registries = registry.Join(c.Registries, c.Profile.Registries)
		c.Packages = slices.Concat(c.Packages, c.Profile.Packages)
	}
	return nil
}
