// Package box has the sandbox that a rule wants for a call: a profile, and what a person grants beyond it. It knows which of two profiles
// is the narrower one, and what becomes of a call whose parts want different sandboxes.
package box

import (
	"errors"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json"
)

// Box is a sandbox: a profile by its name, and what is granted beyond it. The zero value is no sandbox. In files it is the name of a
// profile, or a map with these keys.
type Box struct {
	Profile string   `yaml:"profile" json:"profile"`
	Read    []string `yaml:"read" json:"read,omitempty"`   // further files and folders, as in a profile: absolute, in ~, or in the project
	Write   []string `yaml:"write" json:"write,omitempty"` // likewise
	Hosts   []string `yaml:"hosts" json:"hosts,omitempty"` // hosts that it reaches by the proxy, as --host names them
}

// Of is the sandbox of a profile, with nothing granted beyond it.
func Of(profile string) Box { return Box{Profile: profile} }

// None reports whether there is no sandbox.
func (b Box) None() bool { return b.Profile == "" }

// Grants reports whether something is granted beyond the profile.
func (b Box) Grants() bool { return len(b.Read)+len(b.Write)+len(b.Hosts) > 0 }

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
	for _, l := range []struct {
		key  string
		list []string
	}{{"hosts", b.Hosts}, {"read", b.Read}, {"write", b.Write}} {
		if len(l.list) > 0 {
			out = append(out, l.key+" "+strings.Join(l.list, " "))
		}
	}
	return strings.Join(out, "; ")
}

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
	if k.Profile == "" {
		return errors.New("sandbox names no profile; write {profile: project, hosts: [registry.npmjs.org]}")
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
	if *b = Box(k); b.None() && b.Grants() {
		return errors.New("read a sandbox: it names no profile")
	}
	return nil
}
