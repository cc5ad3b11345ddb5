package box

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Project is the profile for work on the project. It is neither narrower nor wider than the other shipped ones: they do not write the
// project, and it has no limits.
const Project = "project"

// Known is a profile as rules see it.
type Known struct {
	Name    string
	Writes  bool     // it may write the project
	Network bool     // it has the network of the machine, so that no host can be granted
	Within  []string // the profiles under which a command may do all that it may do under this one, and that write the project as it does
}

// Profiles are all profiles that rules may name.
type Profiles []Known

// Shipped returns the shipped profiles. Package sandbox says what each allows; a test of config/profiles compares the two.
func Shipped() Profiles {
	return Profiles{
		{Name: "strict", Within: []string{"standard", "permissive"}},
		{Name: "standard", Within: []string{"permissive"}},
		{Name: "permissive", Network: true},
		{Name: Project, Writes: true},
	}
}

// Alone returns the profiles for a look at a single rule: the shipped ones, and the one that the rule names, whatever it is.
func Alone(b Box) Profiles {
	all := Shipped()
	if _, ok := all.find(b.Profile); !ok && !b.None() {
		all = append(all, Known{Name: b.Profile})
	}
	return all
}

func (p Profiles) find(name string) (Known, bool) {
	if i := slices.IndexFunc(p, func(k Known) bool { return k.Name == name }); i >= 0 {
		return p[i], true
	}
	return Known{}, false
}

// Names lists the profiles.
func (p Profiles) Names() []string {
	out := make([]string, len(p))
	for i, k := range p {
		out[i] = k.Name
	}
	return out
}

// Check refuses the box of a rule if there is no profile of that name, if the profile leaves nothing to grant, or if the rule denies: then
// no call runs.
func (p Profiles) Check(b Box, denies bool) error {
	k, ok := p.find(b.Profile)
	switch {
	case b.None() && !b.Grants():
		return nil
	case b.None():
		return errors.New("sandbox: it names no profile, and there is no policy.wall whose profile is meant; write {profile: project, …}")
	case !ok:
		return fmt.Errorf("sandbox: there is no profile %q; write one of %s", b.Profile, strings.Join(p.Names(), ", "))
	case denies:
		return errors.New("sandbox: a call that is denied does not run; write it in a rule that allows or asks")
	case k.Network && len(b.Hosts)+len(b.Registries)+len(b.Packages) > 0:
		return fmt.Errorf("sandbox: the profile %s has the network of the machine, so that hosts and registries have no meaning; name one without it",
			k.Name)
	}
	return nil
}

// Narrower returns the narrower of two profiles; "" is no sandbox, which is the widest. ok is false where neither is: then the profile is
// the one that does not write the project, or has no network, or comes first by its name.
func (p Profiles) Narrower(a, b string) (profile string, ok bool) {
	switch {
	case a == b || b == "":
		return a, true
	case a == "":
		return b, true
	}
	x, _ := p.find(a)
	y, _ := p.find(b)
	within, above := slices.Contains(x.Within, b), slices.Contains(y.Within, a)
	switch {
	case within && above: // they allow the same
		return min(a, b), true
	case within:
		return a, true
	case above:
		return b, true
	case x.Writes != y.Writes:
		return pick(y.Writes, a, b), false
	case x.Network != y.Network:
		return pick(y.Network, a, b), false
	}
	return min(a, b), false
}

func pick(first bool, a, b string) string {
	if first {
		return a
	}
	return b
}
