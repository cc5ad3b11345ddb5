package sandbox

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"mycelium/internal/registry"
	"mycelium/internal/sandbox/jail"
	"mycelium/internal/sandbox/proxy"
)

// Profile says how much a command may use.
type Profile struct {
	Name string `json:"name"`
	Says string `json:"says"`           // one sentence for people
	Base string `json:"base,omitempty"` // of a profile that people wrote: the shipped one that it was made of

	// Backend makes the namespaces and the root of every command, whatever the profile: what the user's own file says.
	Backend jail.Backend `json:"backend,omitzero"`

	Network bool    `json:"network"` // the network of the machine; otherwise there is a loopback of its own
	Fork    bool    `json:"fork"`    // it may start processes
	Project bool    `json:"project"` // it may write the project; otherwise only the paths that are named
	Procs   uint64  `json:"processes,omitzero"`
	Files   uint64  `json:"files,omitzero"`          // open files of one process
	Memory  uint64  `json:"memory,omitzero"`         // bytes of data of one process
	Seconds float64 `json:"timeoutSeconds,omitzero"` // after which it is ended; 0: never

	// Read and Write are further files and folders, as people wrote them: absolute, in ~, or in the project. See Unfit.
	Read  []string `json:"read,omitempty"`
	Write []string `json:"write,omitempty"`

	// Hosts are what it may reach by the proxy, as [proxy.ParseHost] reads them. Masks are secrets that it may use and does not have: the
	// hosts of each, by its name.
	Hosts []string            `json:"hosts,omitempty"`
	Masks map[string][]string `json:"masks,omitempty"`

	// Registries are those from which it may fetch packages, and Packages further ones that a person gave, as [registry.ParsePackage] reads
	// them.
	Registries []registry.Registry `json:"registries,omitempty"`
	Packages   []string            `json:"packages,omitempty"`
}

const mib = 1 << 20

// profiles are the shipped profiles. The numbers of the first three are those of requirements A42. There, standard has the machine's name
// servers and loopback too: a name server carries data out, and a local service may do anything, so that here both are closed.
var profiles = []Profile{
	{Name: "strict", Says: "One program, without network and without other processes; it reads the folder and writes nothing that stays.",
		Procs: 1, Files: 64, Memory: 256 * mib, Seconds: 30},
	{Name: "standard", Says: "A few processes with a loopback of their own; they read the folder and write where --write says.",
		Fork: true, Procs: 10, Files: 256, Memory: 512 * mib, Seconds: 60},
	{Name: "permissive", Says: "As standard, with the network of the machine and larger limits.",
		Fork: true, Network: true, Procs: 50, Files: 1024, Memory: 1024 * mib, Seconds: 300},
	{Name: "project", Says: "For work on the project: it is writable, and what governs agents is not; no network.",
		Fork: true, Project: true, Procs: 4096, Files: 65536},
}

// Timeout is the time after which the command is ended; 0: never.
func (p Profile) Timeout() time.Duration { return time.Duration(p.Seconds * float64(time.Second)) }

// Within reports whether a command may do nothing under this profile that it may not under the other one.
func (p Profile) Within(other Profile) bool {
	return p.Beyond(other) == nil
}

// Profiles returns the shipped profiles, the narrowest first.
func Profiles() []Profile { return append([]Profile(nil), profiles...) }

// Find returns the shipped profile of a name.
func Find(name string) (Profile, bool) {
	for _, p := range profiles {
		if p.Name == name {
			return p, true
		}
	}
	return Profile{}, false
}

// Beyond returns what a profile allows beyond another one, by the keys of mycelium.yaml; nil: it allows nothing more.
func (p Profile) Beyond(o Profile) (keys []string) {
	more := func(a, b uint64) bool { return b != 0 && (a == 0 || a > b) } // 0 is no limit
	for _, k := range []struct {
		key   string
		wider bool
	}{
		{"base", p.Fork && !o.Fork || p.Project && !o.Project},
		{"network", p.Network && !o.Network},
		{"processes", more(p.Procs, o.Procs)},
		{"files", more(p.Files, o.Files)},
		{"memory", more(p.Memory, o.Memory)},
		{"timeout", o.Seconds != 0 && (p.Seconds == 0 || p.Seconds > o.Seconds)},
		{"read", len(belowAny(p.Read, slices.Concat(o.Read, o.Write))) < len(p.Read)},
		{"write", len(belowAny(p.Write, o.Write)) < len(p.Write)},
		{"hosts", !o.Network && len(proxy.Within(p.Hosts, o.reach())) < len(p.Hosts)},
		{"masks", !o.uses(p.Masks)},
		{"registries", !o.Network && slices.ContainsFunc(p.Registries, func(r registry.Registry) bool { return !r.In(o.Registries) })},
		{"packages", !o.Network && slices.ContainsFunc(p.Packages, func(s string) bool { return !slices.Contains(o.Packages, s) })},
	} {
		if k.wider {
			keys = append(keys, k.key)
		}
	}
	return keys
}

// And returns a profile that allows what both do. It has the name of the first.
func (p Profile) And(o Profile) Profile {
	less := func(a, b uint64) uint64 {
		if a == 0 || b == 0 {
			return max(a, b)
		}
		return min(a, b)
	}
	out := p
	out.Network, out.Fork, out.Project = p.Network && o.Network, p.Fork && o.Fork, p.Project && o.Project
	out.Procs, out.Files, out.Memory = less(p.Procs, o.Procs), less(p.Files, o.Files), less(p.Memory, o.Memory)
	if out.Seconds = min(p.Seconds, o.Seconds); out.Seconds == 0 {
		out.Seconds = max(p.Seconds, o.Seconds)
	}
	out.Read = append(belowAny(p.Read, slices.Concat(o.Read, o.Write)), belowAny(o.Read, slices.Concat(p.Read, p.Write))...)
	out.Write = append(belowAny(p.Write, o.Write), belowAny(o.Write, p.Write)...)
	out.reachBoth(p, o)
	for _, list := range []*[]string{&out.Read, &out.Write, &out.Hosts, &out.Packages} {
		slices.Sort(*list)
		*list = slices.Compact(*list)
	}
	if out.Base != "" {
		out.Base = base(out)
	}
	return out
}

// base is the narrowest shipped profile with the rights that no key sets.
func base(p Profile) string {
	for _, b := range profiles {
		if b.Fork == p.Fork && b.Project == p.Project {
			return b.Name
		}
	}
	return profiles[0].Name
}

// belowAny returns the paths that are among others or lie below one.
func belowAny(paths, others []string) (out []string) {
	for _, p := range paths {
		if slices.ContainsFunc(others, func(o string) bool { return below(p, strings.TrimSuffix(o, "/")) }) {
			out = append(out, p)
		}
	}
	return out
}

// Summary says in a few words what a profile allows.
func (p Profile) Summary() string {
	var out []string
	out = append(out, p.network()...)
	if p.Project {
		out = append(out, "it writes the project")
	}
	if !p.Fork {
		out = append(out, "one process")
	} else {
		out = append(out, limit("processes", p.Procs))
	}
	out = append(out, limit("open files", p.Files), limit("MiB of memory", p.Memory/mib))
	if p.Seconds > 0 {
		out = append(out, "ended after "+p.Timeout().String())
	}
	if len(p.Read) > 0 {
		out = append(out, "reads "+strings.Join(p.Read, " "))
	}
	if len(p.Write) > 0 {
		out = append(out, "writes "+strings.Join(p.Write, " "))
	}
	return strings.Join(out, ", ")
}

func limit(what string, n uint64) string {
	if n == 0 {
		return "any number of " + what
	}
	return fmt.Sprintf("%d %s", n, what)
}
