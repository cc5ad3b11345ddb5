package profiles

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"mycelium/internal/config/source"
	"mycelium/internal/policy/box"
	"mycelium/internal/registry"
	"mycelium/internal/sandbox"
	"mycelium/internal/sandbox/proxy"
)

// Registry is a registry of packages as it stands in a file: which shipped one it is like, and where it is.
type Registry struct {
	Like  registry.Kind `yaml:"like" json:"like" about:"the shipped registry that it is like, as npm"`
	Hosts []string      `yaml:"hosts" json:"hosts" about:"at which it is"`
}

// The hints for what registries and packages cannot be.
const (
	registryHint = "write the name of a registry that is shipped (npm, go, pypi, crates, rubygems, maven) or under sandbox.registries in mycelium.yaml"
	packageHint  = "write the registry and the name, in quotes: \"npm:left-pad\", or \"go:golang.org/x/text@v0.3.0\" for one version"
	ownHint      = "write which registry it is like and its hosts: corp: {like: npm, hosts: [npm.corp.example]}"
)

// own are the registries of the section, by name.
func (s Section) own() (out []registry.Registry) {
	for _, name := range slices.Sorted(maps.Keys(s.Registries)) {
		r := s.Registries[name]
		out = append(out, registry.Registry{Name: name, Like: r.Like, Hosts: slices.Clone(r.Hosts)})
	}
	return out
}

// opened returns the registries that names open. One that there is not has no hosts.
func (s Section) opened(names []string) (out []registry.Registry, err error) {
	for _, name := range names {
		found := registry.Find(name, s.own())
		if len(found) == 0 {
			found, err = []registry.Registry{{Name: name}}, fmt.Errorf("there is no registry %q", name)
		}
		out = registry.Join(out, found)
	}
	return out, err
}

// Granted returns what a box grants beyond its profile, in the fields of their names. Its registries are those of now.
func (s Section) Granted(b box.Box) (sandbox.Profile, error) {
	open, err := s.opened(b.Registries)
	return sandbox.Profile{Read: b.Read, Write: b.Write, Hosts: b.Hosts, Registries: open, Packages: b.Packages}, err
}

// checkRegistries reports what is wrong with the registries of the section.
func (s *Section) checkRegistries(bad source.Report) {
	for _, r := range s.own() {
		key := "sandbox.registries." + source.Key(r.Name)
		if !named(r.Name) {
			bad(key, key+" has no name for a registry", "use 1 to 64 of the characters a-z 0-9 -, such as corp")
		}
		if err := r.Check(func(host string) error { _, err := proxy.ParseHost(host); return err }); err != nil {
			bad(key, key+": "+err.Error(), ownHint)
		}
	}
}

// boundRegistries joins the registries of the user's file and of a project's. Of a name that both have, the user's counts, with the hosts
// that the project has as well.
func boundRegistries(user, project Section, ignored func(key string)) map[string]Registry {
	if len(user.Registries)+len(project.Registries) == 0 {
		return nil
	}
	out := map[string]Registry{}
	maps.Copy(out, project.Registries)
	for _, name := range slices.Sorted(maps.Keys(user.Registries)) {
		mine, theirs := user.Registries[name], project.Registries[name]
		if len(theirs.Hosts) > 0 {
			mine.Hosts = slices.DeleteFunc(slices.Clone(mine.Hosts), func(h string) bool { return !slices.Contains(theirs.Hosts, h) })
			if mine.Like != theirs.Like || len(mine.Hosts) < len(theirs.Hosts) {
				ignored("sandbox.registries." + source.Key(name) + ".hosts")
			}
		}
		out[name] = mine
	}
	return out
}

// ChangedRegistries says in words which registries of an earlier section are others now, and whether none has a host that it had not.
func ChangedRegistries(was, is Section) (changes []string, narrows bool) {
	before, narrows := was.own(), true
	for _, r := range is.own() {
		if !r.In(before) {
			changes, narrows = append(changes, "there is a registry "+r.Name+" like "+string(r.Like)+": "+strings.Join(r.Hosts, " ")), false
		}
	}
	for _, r := range before {
		if _, ok := is.Registries[r.Name]; !ok {
			changes = append(changes, "there is no registry "+r.Name+" any more")
		}
	}
	return changes, narrows
}
