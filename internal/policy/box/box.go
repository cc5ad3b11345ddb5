// Package box has the sandbox that a rule wants for a call: a profile, and what a person grants beyond it. It knows which of two profiles
// is the narrower one, and what becomes of a call whose parts want different sandboxes.
package box

import (
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
)

// Box is a sandbox: a profile by its name, and the grants beyond it. Without a profile, the grants belong to the profile of the wall. The zero
// value is no sandbox. In files it is the name of a profile, or a map with these keys.
type Box struct {
	Profile string   `yaml:"profile" json:"profile"`
	Read    []string `yaml:"read" json:"read,omitempty"`   // further files and folders, as in a profile: absolute, in ~, or in the project
	Write   []string `yaml:"write" json:"write,omitempty"` // likewise
	Hosts   []string `yaml:"hosts" json:"hosts,omitempty"` // hosts that it reaches by the proxy, as --host names them

	// Registries are the names of registries from which it fetches the packages of the lock files, and Packages further packages of them, as
	// npm:left-pad.
	Registries []string `yaml:"registries" json:"registries,omitempty"`
	Packages   []string `yaml:"packages" json:"packages,omitempty"`
}

// List is one of the lists of what a box grants beyond its profile, under its key.
type List struct {
	Key  string
	Says []string
}

// lists are the lists of a box, in the order in which people read them.
func (b *Box) lists() []struct {
	key string
	of  *[]string
} {
	return []struct {
		key string
		of  *[]string
	}{{"hosts", &b.Hosts}, {"registries", &b.Registries}, {"packages", &b.Packages}, {"read", &b.Read}, {"write", &b.Write}}
}

// Lists returns what is granted beyond the profile.
func (b Box) Lists() (out []List) {
	for _, l := range b.lists() {
		if len(*l.of) > 0 {
			out = append(out, List{l.key, *l.of})
		}
	}
	return out
}

// Each returns the box with every list of what it grants replaced by what change makes of it.
func (b Box) Each(change func([]string) []string) Box {
	for _, l := range b.lists() {
		*l.of = change(*l.of)
	}
	return b
}

// Of is the sandbox of a profile, with nothing granted beyond it.
func Of(profile string) Box { return Box{Profile: profile} }

// None reports whether there is no sandbox.
func (b Box) None() bool { return b.Profile == "" }

// Grants reports whether something is granted beyond the profile.
func (b Box) Grants() bool { return len(b.Lists()) > 0 }

// With is the box with what another one grants, whatever its profile.
func (b Box) With(more Box) Box {
	from := more.lists()
	for i, l := range b.lists() {
		if len(*from[i].of) > 0 {
			*l.of = union(*l.of, *from[i].of)
		}
	}
	return b
}

// Same reports whether two boxes are the same.
func (b Box) Same(o Box) bool {
	from := o.lists()
	for i, l := range b.lists() {
		if !slices.Equal(*l.of, *from[i].of) {
			return false
		}
	}
	return b.Profile == o.Profile
}

// String is the box for people: "project", or "project with hosts registry.npmjs.org; read /data".
func (b Box) String() string {
	if !b.Grants() {
		return b.Profile
	}
	return b.Profile + " with " + b.Granted()
}

// Granted says what is granted beyond the profile: "hosts registry.npmjs.org; read /data"; "" if nothing is.
func (b Box) Granted() string {
	var out []string
	for _, l := range b.Lists() {
		out = append(out, l.Key+" "+strings.Join(l.Says, " "))
	}
	return strings.Join(out, "; ")
}

// YAMLSchema is how people write a sandbox: the name of a profile, or a profile with what is granted beyond it.
func (Box) YAMLSchema() map[string]any { return map[string]any{"type": []string{"string", "object"}} }

// UnmarshalYAML reads the name of a profile, or a map.
func (b *Box) UnmarshalYAML(decode func(any) error) error {
	var name string
	if decode(&name) == nil {
		*b = Of(name)
		return nil
	}
	type keys Box
	var k keys
	if err := decode(&k); err != nil {
		return err
	}
	*b = Box(k)
	return nil
}

// MarshalJSON writes a box as files have it: the name of a profile, or a map.
func (b Box) MarshalJSON() ([]byte, error) {
	if !b.Grants() {
		return json.Marshal(b.Profile)
	}
	type keys Box
	return json.Marshal(keys(b))
}

// UnmarshalJSON reads what MarshalJSON writes.
func (b *Box) UnmarshalJSON(data []byte) error {
	var name string
	if json.Unmarshal(data, &name) == nil {
		*b = Of(name)
		return nil
	}
	type keys Box
	var k keys
	if err := json.Unmarshal(data, &k, json.RejectUnknownMembers(true)); err != nil {
		return fmt.Errorf("read a sandbox: %w", err)
	}
	*b = Box(k)
	return nil
}
