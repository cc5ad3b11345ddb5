package sandbox

import (
	"cmp"
	"context"
	"errors"
	"os"
	"runtime"
	"slices"
	"strings"

	"mycelium/internal/sandbox/cause"
	"mycelium/internal/sandbox/jail"
)

// Capabilities say what holds here, now: the whole chain was built in a child, and a program ran in it.
type Capabilities struct {
	Holds   bool         `json:"holds"` // every layer stands: a command may run in the sandbox
	System  string       `json:"system"`
	Backend jail.Backend `json:"backend"`
	Kernel  string       `json:"kernel,omitzero"`
	ABI     int          `json:"landlockABI,omitzero"`
	User    string       `json:"user"`             // root or ordinary
	Untried string       `json:"untried,omitzero"` // that nobody has tried the back end on the system that it is for
	Layers  []Capability `json:"layers"`
}

// Capability is one layer.
type Capability struct {
	Layer jail.Layer `json:"layer"`
	Holds bool       `json:"holds"`
	Tried bool       `json:"tried"` // false: a layer that it depends on failed
	Doing string     `json:"doing,omitzero"`
	Cause string     `json:"cause,omitzero"`
	Mend  string     `json:"mend,omitzero"`
}

// Probe builds the walls around a program that does nothing. A layer that fails is left out then, so that the later ones are tried too,
// except for those that depend on it: all depend on the user namespace, and what another program makes is made as a whole. Of Seatbelt it
// starts the program in the rules, and sees that they close one file.
func Probe(ctx context.Context, self jail.Self, backend jail.Backend) *Capabilities {
	out := &Capabilities{System: runtime.GOOS + "/" + runtime.GOARCH, Kernel: kernel(), User: "ordinary",
		Backend: cmp.Or(backend, jail.Own), Untried: Untried(backend)}
	if os.Getuid() == 0 {
		out.User = "root"
	}
	profile, _ := Find("standard")
	profile.Backend = backend
	if backend == jail.Seatbelt {
		profile.Memory, profile.Procs = 0, 0 // limits that it does not hold
	}
	c := &Command{Argv: []string{"true"}, Dir: "/", Profile: profile, Environ: []string{"PATH=/usr/bin:/bin"}}
	spec, err := c.spec(&work{guarded: &Guarded{}}, nil)
	failed := map[jail.Layer]Capability{}
	for {
		if err == nil {
			out.ABI, err = attempt(ctx, self, spec)
		}
		var stage *jail.StageError
		if !errors.As(err, &stage) {
			break
		}
		failed[stage.Layer] = Capability{Layer: stage.Layer, Tried: true, Doing: stage.Doing, Cause: stage.Cause,
			Mend: cause.Mend(stage)}
		if stage.Layer == jail.User || backend.Other() || slices.Contains(spec.Without, stage.Layer) {
			break
		}
		spec.Without, err = append(spec.Without, stage.Layer), nil
	}
	out.Holds = err == nil && len(failed) == 0
	_, none := failed[jail.User]
	none = none || backend.Other() && len(failed) > 0
	for _, l := range backend.Layers() {
		c, bad := failed[l]
		if !bad && none {
			c = Capability{Layer: l}
		} else if !bad {
			c = Capability{Layer: l, Tried: true, Holds: err == nil}
		}
		out.Layers = append(out.Layers, c)
	}
	return out
}

// attempt runs the program once. It returns the version of Landlock.
func attempt(ctx context.Context, self jail.Self, spec *jail.Spec) (abi int, err error) {
	j, err := jail.Start(ctx, self, spec, jail.Streams{})
	if err != nil {
		return 0, err
	}
	_, _, err = j.Wait()
	return j.ABI, err
}

// Failed returns the first layer that cannot be built; false if there is none.
func (c *Capabilities) Failed() (Capability, bool) {
	for _, l := range c.Layers {
		if l.Tried && !l.Holds && l.Cause != "" {
			return l, true
		}
	}
	return Capability{}, false
}

// kernel returns the release of the kernel; "" where it is not to be had.
func kernel() string {
	release, err := os.ReadFile("/proc/sys/kernel/osrelease")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(release))
}
