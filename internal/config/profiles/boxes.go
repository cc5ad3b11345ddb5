package profiles

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/go-json-experiment/json"

	"mycelium/internal/config/source"
	"mycelium/internal/policy"
	"mycelium/internal/policy/box"
	"mycelium/internal/registry"
	"mycelium/internal/sandbox"
	"mycelium/internal/sandbox/proxy"
	"mycelium/internal/secret"
)

// The hints for what a profile cannot say.
const (
	hostHint = "write a name, *. and a domain, or an address, and :PORT for a port of its own: example.com:8443"
	maskHint = "write the name of a secret and its hosts: {GITHUB_TOKEN: [api.github.com]}"
)

// checkReach reports what is wrong with the hosts and masks of a profile. key is that of the profile.
func (s Section) checkReach(p Profile, name, key string, bad source.Report) {
	if _, err := s.opened(p.Registries); err != nil {
		bad(key+".registries", key+".registries: "+err.Error(), registryHint)
	}
	for i, one := range p.Packages {
		if _, err := registry.ParsePackage(one); err != nil {
			bad(fmt.Sprintf("%s.packages[%d]", key, i), key+".packages: "+err.Error(), packageHint)
		}
	}
	for i, h := range p.Hosts {
		if _, err := proxy.ParseHost(h); err != nil {
			bad(fmt.Sprintf("%s.hosts[%d]", key, i), key+".hosts: "+err.Error(), hostHint)
		}
	}
	for _, of := range slices.Sorted(maps.Keys(p.Masks)) {
		at := key + ".masks." + source.Key(of)
		if !secret.IsName(of) || len(p.Masks[of]) == 0 {
			bad(at, at+" is not the name of a secret with its hosts", maskHint)
		}
		for i, h := range p.Masks[of] {
			if _, err := proxy.ParseHost(h); err != nil {
				bad(fmt.Sprintf("%s[%d]", at, i), at+": "+err.Error(), hostHint)
			}
		}
	}
	if s.resolved(name, p).Network && len(p.Hosts)+len(p.Masks)+len(p.Registries)+len(p.Packages) > 0 {
		bad(key, key+" has the network of the machine, so that its hosts and masks have no effect, and no registries or packages",
			"write network: false, or remove them")
	}
}

// Boxes returns the profiles as rules see them.
func (s Section) Boxes() box.Profiles {
	var out box.Profiles
	all := s.All()
	for _, p := range all {
		k := box.Known{Name: p.Name, Writes: p.Project, Network: p.Network}
		for _, o := range all {
			if p.Name != o.Name && p.Project == o.Project && p.Within(o) {
				k.Within = append(k.Within, o.Name)
			}
		}
		out = append(out, k)
	}
	return out
}

// Owner says whose a file is: that of one project, or the user's, which counts in every project.
type Owner bool

// The owners.
const (
	OfProject Owner = false
	OfUser    Owner = true
)

// Foreign says why a file may not name a profile; nil if it may. own is the section of the same owner, other that of the other one. A file
// names the shipped profiles and those of its own owner: whoever else has the project does not have the user's, and in another project a
// profile of the same name may allow more.
func Foreign(name string, own, other Section, whose Owner) error {
	_, shipped := sandbox.Find(name)
	_, ours := own.Profiles[name]
	_, theirs := other.Profiles[name]
	switch {
	case name == "" || shipped || ours || !theirs:
		return nil // where there is none at all, whoever looks for it says so
	case whose == OfUser:
		return fmt.Errorf("the profile %s is one of this project, and your own files count in every project; "+
			"declare it in your own %s too", name, source.MainFile)
	}
	return fmt.Errorf("the profile %s is in your own %s only, and whoever else works on this project does not have it; "+
		"declare it in the project's %s", name, source.MainFile, source.MainFile)
}

// CheckRules sets what is wrong with the sandboxes of rules that one owner wrote.
func CheckRules(rules []policy.Rule, own, other Section, whose Owner) {
	for i := range rules {
		err := Foreign(rules[i].Sandbox.Profile, own, other, whose)
		if err == nil {
			err = grantable(rules[i].Sandbox, own)
		}
		if err != nil {
			rules[i].Fault = "sandbox: " + err.Error()
		}
	}
}

// grantable says why a rule may not grant what it does; nil if it may.
func grantable(b box.Box, own Section) error {
	if p, ok := own.Find(b.Profile); ok && len(p.Masks) > 0 {
		return fmt.Errorf("the profile %s has masks, and a command of an agent gets no secret; name one without masks", b.Profile)
	}
	if _, err := own.opened(b.Registries); err != nil {
		return fmt.Errorf("%w; %s", err, registryHint)
	}
	return Granted(b)
}

// Granted says why nobody may grant what a box grants beyond its profile; nil if a person may: hosts and paths are as those of a profile.
func Granted(b box.Box) error {
	for _, h := range b.Hosts {
		if _, err := proxy.ParseHost(h); err != nil {
			return fmt.Errorf("%w; %s", err, hostHint)
		}
	}
	for _, p := range b.Packages {
		if _, err := registry.ParsePackage(p); err != nil {
			return fmt.Errorf("%w; %s", err, packageHint)
		}
	}
	for _, list := range []struct {
		paths []string
		write bool
	}{{b.Read, false}, {b.Write, true}} {
		for _, path := range list.paths {
			if why := sandbox.Unfit(path, list.write); why != "" {
				return fmt.Errorf("it cannot grant %q: %s", path, why)
			}
		}
	}
	return nil
}

// Walls returns a profile as a text, from which [ReadWalls] makes it again.
func Walls(p sandbox.Profile) string {
	data, err := json.Marshal(p, json.Deterministic(true))
	if err != nil { // a name that is not UTF-8: ReadWalls refuses the empty text
		return ""
	}
	return string(data)
}

// ReadWalls reads what Walls wrote.
func ReadWalls(walls string) (p sandbox.Profile, err error) {
	if err = json.Unmarshal([]byte(walls), &p); err == nil && p.Name == "" {
		err = errors.New("it has no name")
	}
	if err != nil {
		return p, fmt.Errorf("read the profile of the sandbox: %w", err)
	}
	return p, nil
}
