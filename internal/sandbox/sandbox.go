// Package sandbox runs a command where the operating system keeps it from everything that its profile does not name: files, network,
// other processes, and the memory of the machine. It holds or it refuses; it never runs a command with a wall missing.
//
// What a command finds is a root of its own: the system's programs, read-only; an empty home with the tools of the user; the project; and
// private folders for temporary files. What is not named is not there.
package sandbox

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"time"

	"mycelium/internal/policy"
	"mycelium/internal/registry"
	"mycelium/internal/sandbox/jail"
	"mycelium/internal/sandbox/proxy"
	"mycelium/internal/sandbox/warm"
	"mycelium/internal/text"
)

// Command is a command and what it may touch.
type Command struct {
	Argv    []string
	Dir     string // absolute: the working directory, inside the project or one of the paths
	Profile Profile

	Project   string        // absolute and resolved: the folder that the command is about
	Read      []string      // absolute: further files and folders that it may read
	Write     []string      // absolute: and write
	Protect   []string      // absolute: further files and folders that stay as they are, although they lie in what may be written
	Hide      []string      // absolute: further files and folders that look empty
	Closed    policy.Closed // the names that the rules of the policy close to it, in the project and in its further files and folders
	Untrusted bool          // the repository of the project is the agent's, so that no git outside may run in it
	Worktree  *Worktree     // the repository of a linked worktree, outside of the project; nil: the project has its own, or none

	Files       fs.FS        `json:"-"` // a folder that the command finds at [Folder], as a copy that it cannot change; nil: there is none
	Hosts       []string     // as [proxy.ParseHost] reads them: what it may reach on the internet, by the proxy; none: it has no network
	Asks        bool         // without hosts too, a proxy that reaches none says which ones the command asked for
	Serves      string       // absolute: a folder for the ports of the servers that commands of a session start; empty: nobody reaches them
	ClosedPorts []int        // ports of that loopback that it does not get
	Masks       []proxy.Mask `json:"-"` // secrets that it uses and does not have; they are written nowhere

	// Registries are those from which it may fetch the packages that Locks has, and Packages, each as [registry.ParsePackage] reads it.
	Registries []registry.Registry
	Packages   []string
	Locks      Locks

	History    string     // absolute: a folder for what is known of the repository's history; empty: commits show the files that they have
	Caches     string     // absolute: a folder that is kept for the project, in which the command finds its ~/.cache; empty: nothing is kept
	Taken      warm.Taken // what it finds of the person's caches, because lock files of the project name it; empty: nothing
	Seeds      warm.Seeds // what Go's build cache in Caches begins with; empty: nothing
	Scratch    string     // absolute: a folder for the time of the command
	Temp       string     // absolute: a folder that the command finds at /tmp; empty: one in memory, of its own
	GitConfig  string     // absolute: a file that git reads for the one in the home folder; empty: none
	Quarantine string     // absolute: a folder for files that would govern; empty: the project has none and is not looked at
	Home       string     // absolute: the home folder of the user, which is empty inside
	Environ    []string   // of the caller; what is in it of secrets does not reach the command
	Env        []string   // further variables, which the command gets as they are

	Grace float64 // seconds from SIGTERM to SIGKILL when the context ends; 0: SIGKILL at once

	// Child is a child that the caller has begun, and closes; it is used if it fits, and ends with the run.
	Child *jail.Begun `json:"-"`
	// Session is shared by the runs of a process, so that later ones start faster; nil: nothing is kept.
	Session *Session `json:"-"`

	// Record is called beside the preparations; nil: nothing is called. If it fails, the command does not run.
	Record func() error `json:"-"`

	In       io.Reader `json:"-"`
	Out, Err io.Writer `json:"-"`

	outside  proxy.Outside // for tests: another internet
	seatbelt string        // for tests: a program in the place of sandbox-exec
}

// Locks names the commit whose lock files say what may be fetched. The zero value is the one that is checked out in the project when the
// command starts.
type Locks struct {
	Folder string // absolute: in the working tree of the repository; empty: the project
	Commit string // its name; empty: the one that is checked out; [NoCommit]: none, so that every package is asked for
}

// NoCommit stands for a repository without a commit.
const NoCommit = "none"

// Folder is where a command finds its Files.
const Folder = inside + "/files"

// Worktree names the two folders of git of a linked working tree. The caller has checked that they belong to it.
type Worktree struct {
	Own    string // absolute: its own part of the repository
	Common string // absolute: what all working trees share
}

// Result says how a command ended.
type Result struct {
	ExitCode int  `json:"exitCode"`
	TimedOut bool `json:"timedOut"`

	// MemoryExceeded: it failed, and its largest process came to nine tenths of the limit. A single large request for memory is refused
	// without a trace.
	MemoryExceeded bool `json:"memoryExceeded"`

	Left    Left    `json:"left,omitzero"`
	Seconds float64 `json:"seconds"`
}

// Run runs a command and waits for it. If a wall cannot be built, nothing runs and the error is a [*jail.StageError].
func Run(ctx context.Context, self jail.Self, c *Command) (*Result, error) {
	// What takes time is done at once: the record, the start of the child, and the look at the project.
	recorded := make(chan error, 1)
	go func(c *Command) { recorded <- c.record() }(c)
	c, err := c.named()
	if err != nil {
		return nil, errors.Join(err, <-recorded)
	}
	child := c.child(ctx, self)
	defer child.Close()
	defer context.AfterFunc(ctx, func() { child.End(context.Cause(ctx)) })()
	closed := make(chan []string, 1)
	go func() { closed <- hidden() }()
	w, err := c.prepare(ctx)
	if err != nil {
		return nil, errors.Join(err, <-recorded)
	}
	h := c.listen()
	looked, stop := w.watch(c)
	w.closed = <-closed
	out, err := c.run(ctx, self, child, recorded, w)
	stop()
	left, settleErr := w.settle(ctx, c)
	if out != nil {
		out.Left.Git = w.objects.why
		if out.ExitCode != 0 {
			out.Left.Lacks = c.lacks(w.spec, h.last)
		}
		out.Left.Quarantined, out.Left.Settings = append(<-looked, left.Quarantined...), left.Settings
	}
	return out, errors.Join(err, settleErr)
}

// child is the child that the command runs in: the one that the caller began, if it fits the profile.
func (c *Command) child(ctx context.Context, self jail.Self) *jail.Begun {
	o := c.options()
	if c.Child != nil && c.Child.Has(o) {
		return c.Child
	}
	if c.Session != nil {
		if child := c.Session.child(o); child != nil {
			return child
		}
	}
	return jail.Begin(ctx, self, o)
}

func (c *Command) options() jail.Options {
	return jail.Options{Network: c.Profile.Network, Backend: c.Profile.Backend, Grace: time.Duration(c.Grace * float64(time.Second))}
}

func (c *Command) record() error {
	if c.Record == nil {
		return nil
	}
	return c.Record()
}

// run starts the command in the child, and waits for it.
func (c *Command) run(ctx context.Context, self jail.Self, child *jail.Begun, recorded <-chan error, w *work) (*Result, error) {
	way, err := c.wayOut(ctx)
	if err == nil {
		err = c.warm(w)
	}
	if err == nil {
		w.spec, err = c.spec(w, way)
	}
	if err := errors.Join(err, <-recorded); err != nil {
		return nil, err
	}
	spec, began := w.spec, time.Now()
	if limit := c.Profile.Timeout(); limit > 0 {
		defer time.AfterFunc(limit, func() { child.End(context.DeadlineExceeded) }).Stop()
	}
	j, err := child.Start(spec, jail.Streams{In: c.In, Out: c.Out, Err: c.Err})
	if err != nil && errors.Is(child.Ended(), context.DeadlineExceeded) { // while the walls were built
		return &Result{ExitCode: killed, TimedOut: true, Seconds: time.Since(began).Seconds()}, nil
	}
	if err != nil {
		return nil, withHint(err)
	}
	refused, unpublish := serve(way, j.Listener), c.publish(ctx, j)
	if c.Session != nil {
		c.Session.begin(self, c.options())
	}
	code, most, err := j.Wait()
	unpublish()
	left := Left{Refused: refused()}
	if err != nil {
		return nil, err
	}
	return &Result{Left: left, ExitCode: code, MemoryExceeded: code != 0 && spec.Memory > 0 && most > spec.Memory/10*9,
		TimedOut: errors.Is(child.Ended(), context.DeadlineExceeded), Seconds: time.Since(began).Seconds()}, nil
}

// killed is the exit code of a command that SIGKILL ended, as shells say it.
const killed = 128 + 9

// withHint says how to find out what is wrong.
func withHint(err error) error {
	var stage *jail.StageError
	if errors.As(err, &stage) {
		return text.Hinted(err, "nothing was run; myc sandbox capabilities tells which layer fails and why")
	}
	return err
}

// spec is what the child is told.
func (c *Command) spec(w *work, way *proxy.Proxy) (*jail.Spec, error) {
	out, err := c.describe(w, way)
	if err != nil {
		return nil, err
	}
	if out.Backend == jail.Seatbelt && c.seatbelt != "" {
		out.Program = c.seatbelt
		return out, nil
	}
	out.Program, err = program(out.Backend)
	return out, err
}

// describe is spec without the program of another back end.
func (c *Command) describe(w *work, way *proxy.Proxy) (*jail.Spec, error) {
	if len(c.Argv) == 0 {
		return nil, errors.New("there is no command")
	}
	for _, p := range append([]string{c.Dir, c.Project, c.Home}, c.Read...) {
		if p != "" && !filepath.IsAbs(p) {
			return nil, fmt.Errorf("%s is not an absolute path", p)
		}
	}
	p := c.Profile
	binds, masks := c.root(w)
	if slices.ContainsFunc(binds, func(b jail.Bind) bool { return b.Target == "/" }) {
		return nil, text.Hinted(errors.New("/ is the whole machine, which a command in the sandbox does not see"),
			"nothing was run; go to a folder of the files that it needs (cd), or name them (--read)")
	}
	if w.closed == nil {
		w.closed = hidden()
	}
	masks = append(masks, w.closed...)
	var guards []jail.Guard
	never := "" // characters of names
	if p.Backend == jail.Seatbelt {
		guards, never = c.names(), unseen()
	} else if err := c.places(binds); err != nil { // mounts need places
		return nil, err
	}
	env := c.environ()
	if w.objects.lost != "" {
		env = append(env, "GIT_ALTERNATE_OBJECT_DIRECTORIES="+lostFolder)
	}
	if way != nil {
		env = c.javaEnviron(append(way.Conceal(env), way.Environ(jail.ListenAddr, authorities)...), way)
		files, err := trusted(way)
		if err != nil {
			return nil, err
		}
		binds = append(binds, files...)
	}
	return &jail.Spec{
		Backend: p.Backend, Scratch: w.folder, Guards: guards, Unseen: never,
		Argv: c.Argv, Env: env, Dir: c.Dir, Host: "sandbox", Binds: binds, Masks: masks,
		Network: p.Network, Listen: way != nil, Ports: c.ports(), Fork: p.Fork, Procs: p.Procs, Files: p.Files, Memory: p.Memory,
	}, nil
}
