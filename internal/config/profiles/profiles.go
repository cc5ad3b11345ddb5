// Package profiles has the sandbox section of mycelium.yaml: the profiles that people write besides the shipped ones.
//
// A profile is a shipped one, its base, with changes. A shipped profile itself can only be narrowed. If the user's file and a project's
// have a profile of the same name, a command has what both allow. The back end is the user's choice.
package profiles

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"mycelium/internal/config/source"
	"mycelium/internal/registry"
	"mycelium/internal/sandbox"
	"mycelium/internal/sandbox/jail"
)

// Section is the sandbox: section.
type Section struct {
	Profiles map[string]Profile `yaml:"profiles" json:"profiles,omitempty" about:"by name"`
	Backend  jail.Backend       `yaml:"backend" json:"backend,omitempty" about:"of the user's file only"`

	Registries map[string]Registry `yaml:"registries" json:"registries,omitempty" about:"besides the shipped ones"`
}

// Profile is a profile as it stands in a file. What it does not say is as in its base.
type Profile struct {
	Base      string           `yaml:"base" json:"base,omitempty" about:"a shipped profile; absent: standard, and for a shipped name that profile"`
	Network   *bool            `yaml:"network" json:"network,omitzero" about:"true: the network of the machine"`
	Processes *int             `yaml:"processes" json:"processes,omitzero" about:"0: no limit"`
	Files     *int             `yaml:"files" json:"files,omitzero" about:"open files of one process; 0: no limit"`
	Memory    *Size            `yaml:"memory" json:"memory,omitzero" about:"data of one process; 0: no limit"`
	Timeout   *source.Duration `yaml:"timeout" json:"timeout,omitzero" about:"0: never"`
	Read      []string         `yaml:"read" json:"read,omitempty" about:"further files and folders: absolute, in ~, or in the project"`
	Write     []string         `yaml:"write" json:"write,omitempty" about:"further files and folders that it may change"`

	Hosts []string            `yaml:"hosts" json:"hosts,omitempty" about:"what it may reach by the proxy"`
	Masks map[string][]string `yaml:"masks" json:"masks,omitempty" about:"by the name of a secret, the hosts for which it may be used"`

	Registries []string `yaml:"registries" json:"registries,omitempty" about:"from which it may fetch the packages of the lock files"`
	Packages   []string `yaml:"packages" json:"packages,omitempty" about:"further packages of them, as npm:left-pad"`
}

// DefaultBase is the base of a profile that names none.
const DefaultBase = "standard"

// named reports whether a profile may have a name: 1 to 64 of a-z, 0-9 and, not at the beginning, the hyphen.
func named(name string) bool {
	return name != "" && len(name) <= 64 && name[0] != '-' && strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789-") == ""
}

// mostLimit bounds the limits of processes and files. Linux has no more of either.
const mostLimit = 1 << 22

// Check reports what is wrong with the section.
func (s *Section) Check(bad source.Report) {
	if all := sandbox.Backends(); s.Backend != "" && !slices.Contains(all, string(s.Backend)) {
		bad("sandbox.backend", "sandbox.backend is "+strconv.Quote(string(s.Backend)), source.Suggest(string(s.Backend), all))
	}
	s.checkRegistries(bad)
	var shipped []string
	for _, p := range sandbox.Profiles() {
		shipped = append(shipped, p.Name)
	}
	for _, name := range slices.Sorted(maps.Keys(s.Profiles)) {
		p, key := s.Profiles[name], "sandbox.profiles."+source.Key(name)
		if !named(name) {
			bad(key, "sandbox.profiles has the name "+strconv.Quote(name), "use 1 to 64 of the characters a-z 0-9 -, such as with-docs")
		}
		if p.Base != "" && !slices.Contains(shipped, p.Base) {
			bad(key+".base", key+".base is "+strconv.Quote(p.Base), source.Suggest(p.Base, shipped))
			continue
		}
		for at, n := range map[string]*int{"processes": p.Processes, "files": p.Files} {
			if n != nil && (*n < 0 || *n > mostLimit) {
				bad(key+"."+at, fmt.Sprintf("%s.%s is %d", key, at, *n), "write a number from 1 to 4194304; 0 is no limit")
			}
		}
		for at, paths := range map[string][]string{"read": p.Read, "write": p.Write} {
			for i, path := range paths {
				if why := sandbox.Unfit(path, at == "write"); why != "" {
					bad(fmt.Sprintf("%s.%s[%d]", key, at, i), fmt.Sprintf("%s.%s names %q: %s", key, at, path, why),
						"name a folder by itself: /data/models, ~/data, or docs in the project")
				}
			}
		}
		s.checkReach(p, name, key, bad)
		if first, ok := sandbox.Find(name); ok {
			if wider := s.resolved(name, p).Beyond(first); wider != nil {
				bad(key+"."+wider[0], fmt.Sprintf("%s: %s would be wider than in the shipped profile", key, strings.Join(wider, ", ")),
					"a shipped profile can only be narrowed; give yours a name of its own, with base: "+name)
			}
		}
	}
}

// resolved is the profile that a command gets.
func (s Section) resolved(name string, p Profile) sandbox.Profile {
	_, shipped := sandbox.Find(name)
	base := p.Base
	switch {
	case base == "" && shipped:
		base = name
	case base == "":
		base = DefaultBase
	}
	out, _ := sandbox.Find(base) // Check has found it; without it the profile is the narrowest, which is that of an unknown base
	if !shipped || base != name {
		out.Says = "Your own, made of " + base + "."
	}
	out.Name, out.Base = name, base
	if p.Network != nil {
		out.Network = *p.Network
	}
	if p.Processes != nil {
		out.Procs = uint64(max(*p.Processes, 0)) //nolint:gosec // not negative
	}
	if p.Files != nil {
		out.Files = uint64(max(*p.Files, 0)) //nolint:gosec // not negative
	}
	if p.Memory != nil {
		out.Memory = uint64(*p.Memory)
	}
	if p.Timeout != nil {
		out.Seconds = p.Timeout.Seconds()
	}
	out.Read, out.Write, out.Hosts, out.Masks = slices.Clone(p.Read), slices.Clone(p.Write), slices.Clone(p.Hosts), p.Masks
	out.Registries, _ = s.opened(p.Registries) // Check has found them
	out.Packages = slices.Clone(p.Packages)
	return out
}

// declared is the profile of a file that says all that a profile has.
func declared(p sandbox.Profile) Profile {
	procs, files, memory := int(p.Procs), int(p.Files), Size(p.Memory) //nolint:gosec // they come from a file, where they are bounded
	timeout := source.Seconds(p.Seconds)
	return Profile{Base: p.Base, Network: &p.Network, Processes: &procs, Files: &files, Memory: &memory, Timeout: &timeout,
		Read: p.Read, Write: p.Write, Hosts: p.Hosts, Masks: p.Masks,
		Registries: registry.Names(p.Registries), Packages: p.Packages}
}

// Bound joins the profiles of the user's file and of a project's. Of a name that both have, both bound the result; ignored gets the keys of
// the project that have no effect.
func Bound(user, project Section, ignored func(key string)) Section {
	out := Section{Backend: user.Backend, Registries: boundRegistries(user, project, ignored)}
	if len(user.Profiles)+len(project.Profiles) == 0 {
		return out
	}
	out.Profiles = maps.Clone(project.Profiles)
	if out.Profiles == nil {
		out.Profiles = map[string]Profile{}
	}
	for _, name := range slices.Sorted(maps.Keys(user.Profiles)) {
		mine, theirs := user.Profiles[name], project.Profiles[name]
		if _, both := project.Profiles[name]; !both {
			out.Profiles[name] = mine
			continue
		}
		u, w := user.resolved(name, mine), project.resolved(name, theirs)
		for _, key := range w.Beyond(u) {
			ignored("sandbox.profiles." + source.Key(name) + "." + key)
		}
		out.Profiles[name] = declared(u.And(w))
	}
	return out
}

// All returns the profiles that there are: the shipped ones, narrowed if the section says so, and then the others by name.
func (s Section) All() []sandbox.Profile {
	out := sandbox.Profiles()
	for i, p := range out {
		if own, ok := s.Profiles[p.Name]; ok {
			out[i] = p.And(s.resolved(p.Name, own))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(s.Profiles)) {
		if _, shipped := sandbox.Find(name); !shipped {
			out = append(out, s.resolved(name, s.Profiles[name]))
		}
	}
	for i := range out {
		out[i].Backend = s.Backend
	}
	return out
}

// Find returns the profile of a name.
func (s Section) Find(name string) (sandbox.Profile, bool) {
	for _, p := range s.All() {
		if p.Name == name {
			return p, true
		}
	}
	return sandbox.Profile{}, false
}

// Changed says what it means that a profile of an earlier section is another one now: "" if it is the same. narrows is true if a command
// has nothing that it had not before.
func Changed(was, is Section, name string) (change string, narrows bool) {
	before, had := was.Find(name)
	after, has := is.Find(name)
	switch {
	case had && !has:
		return "there is no profile " + name + " of the sandbox any more", false // what named it may get another one
	case !had:
		return "there is a profile " + name + " of the sandbox: " + after.Summary(), false
	}
	wider, narrower := after.Beyond(before), before.Beyond(after)
	if wider == nil && narrower == nil && before.Base == after.Base {
		return "", true
	}
	return "the profile " + name + " of the sandbox is another: " + after.Summary(), wider == nil
}
