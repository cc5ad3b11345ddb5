package sandbox

import (
	"fmt"
	"maps"
	"slices"
	"strings"

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
	for _, name := range slices.Sorted(maps.Keys(p.Masks)) {
		out = append(out, "uses the secret "+name+" at "+strings.Join(p.Masks[name], " "))
	}
	return out
}

// With returns the profile with what a person grants beyond it. A profile that has the network of the machine needs no hosts.
func (p Profile) With(read, write, hosts []string) Profile {
	p.Read, p.Write = slices.Concat(p.Read, read), slices.Concat(p.Write, write)
	if !p.Network {
		p.Hosts = slices.Concat(p.Hosts, hosts)
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
	}
	return nil
}
