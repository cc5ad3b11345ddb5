package sandbox

import (
	"cmp"
	"context"
	"errors"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"
	"syscall"

	"mycelium/internal/sandbox/jail"
)

// Capabilities say what holds here, now: the whole chain was built in a child, and a program ran in it.
type Capabilities struct {
	Holds   bool         `json:"holds"` // every layer stands: a command may run in the sandbox
	System  string       `json:"system"`
	Backend jail.Backend `json:"backend"`
	Kernel  string       `json:"kernel,omitzero"`
	ABI     int          `json:"landlockABI,omitzero"`
	User    string       `json:"user"` // root or ordinary
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
// except for those that depend on it: all depend on the user namespace, and what bubblewrap makes is made as a whole.
func Probe(ctx context.Context, self []string, backend jail.Backend) *Capabilities {
	out := &Capabilities{System: runtime.GOOS + "/" + runtime.GOARCH, Kernel: kernel(), User: "ordinary",
		Backend: cmp.Or(backend, jail.Own)}
	if os.Getuid() == 0 {
		out.User = "root"
	}
	profile, _ := Find("standard")
	profile.Backend = backend
	c := &Command{Argv: []string{"true"}, Dir: "/", Profile: profile, Environ: []string{"PATH=/usr/bin:/bin"}}
	spec, err := c.spec(&work{guarded: &Guarded{}}, nil)
	failed := map[jail.Layer]Capability{}
	for {
		said := &beginning{}
		if err == nil {
			out.ABI, err = attempt(ctx, self, spec, said)
		}
		var stage *jail.StageError
		if !errors.As(err, &stage) {
			break
		}
		failed[stage.Layer] = Capability{Layer: stage.Layer, Tried: true, Doing: stage.Doing, Cause: cmp.Or(said.line(), stage.Cause),
			Mend: mend(stage)}
		if stage.Layer == jail.User || backend == jail.Bubblewrap || slices.Contains(spec.Without, stage.Layer) {
			break
		}
		spec.Without, err = append(spec.Without, stage.Layer), nil
	}
	out.Holds = err == nil && len(failed) == 0
	_, none := failed[jail.User]
	none = none || backend == jail.Bubblewrap && len(failed) > 0
	for _, l := range jail.Layers() {
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
func attempt(ctx context.Context, self []string, spec *jail.Spec, errs io.Writer) (abi int, err error) {
	j, err := jail.Start(ctx, self, spec, jail.Streams{Err: errs})
	if err != nil {
		return 0, err
	}
	_, _, err = j.Wait()
	return j.ABI, err
}

// beginning keeps the beginning of what a program says on its standard error.
type beginning struct{ said []byte }

func (b *beginning) Write(p []byte) (int, error) {
	const most = 4096
	b.said = append(b.said, p[:min(len(p), most-len(b.said))]...)
	return len(p), nil
}

// line is the first line.
func (b *beginning) line() string {
	line, _, _ := strings.Cut(string(b.said), "\n")
	return strings.TrimSpace(line)
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

// settings are settings of the kernel that forbid user namespaces, each with the value that does and what to do.
var settings = []struct{ file, bad, mend string }{
	{"/proc/sys/kernel/apparmor_restrict_unprivileged_userns", "1",
		"AppArmor forbids user namespaces to programs without a profile (Ubuntu 23.10 and later): " +
			"myc sandbox capabilities --apparmor prints one for myc"},
	{"/proc/sys/kernel/unprivileged_userns_clone", "0", "user namespaces are switched off: sysctl kernel.unprivileged_userns_clone=1"},
	{"/proc/sys/user/max_user_namespaces", "0", "user namespaces are switched off: sysctl user.max_user_namespaces=10000"},
}

// mend says what makes a layer possible.
func mend(e *jail.StageError) string {
	switch e.Layer {
	case jail.User:
		if e.Doing == findBubblewrap {
			return "install it: apt-get install bubblewrap"
		}
		for _, s := range settings {
			if value, err := os.ReadFile(s.file); err == nil && strings.TrimSpace(string(value)) == s.bad {
				return s.mend
			}
		}
		if filtered() {
			return filterMend
		}
		if inContainer() {
			return "this is a container, whose own profile forbids namespaces: run myc outside of it, or give the container that right"
		}
	case jail.Mount, jail.PID, jail.Net:
		if filtered() {
			return filterMend
		}
		if inContainer() {
			return "this is a container, whose own profile forbids mounts: run myc outside of it, or give the container that right"
		}
		return "user namespaces are there and have no rights: AppArmor or another security module forbids it"
	case jail.Privilege, jail.Seccomp: // every kernel that has the layers before them has them
	case jail.Landlock:
		if syscall.Errno(e.Errno) == syscall.ENOSYS && filtered() {
			return filterMend + "; or the kernel has no Landlock, and then it is Linux 6.2 or later that is needed"
		}
		return "Linux 6.2 or later, with Landlock among the security modules (lsm=landlock,… on the kernel's command line)"
	}
	return ""
}

// filterMend says what to do about a filter of system calls that this program was started under.
const filterMend = "this program was started under a filter of system calls, as engines of containers and some services set, which may " +
	"refuse this: run myc outside of it, or widen the filter"

// filtered reports whether this program runs under a filter of system calls (proc_pid_status(5), Seccomp).
func filtered() bool {
	status, err := os.ReadFile("/proc/self/status")
	return err == nil && strings.Contains(string(status), "\nSeccomp:\t2\n")
}

// inContainer reports whether this machine is a container, as far as engines say so.
func inContainer() bool {
	for _, mark := range []string{"/.dockerenv", "/run/.containerenv"} {
		if _, err := os.Stat(mark); err == nil {
			return true
		}
	}
	return os.Getenv("container") != ""
}

// kernel returns the release of the kernel; "" where it is not to be had.
func kernel() string {
	release, err := os.ReadFile("/proc/sys/kernel/osrelease")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(release))
}
