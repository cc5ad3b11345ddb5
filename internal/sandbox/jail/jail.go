// Package jail is the inside of the sandbox: what the re-executed child does before the command runs, and while it runs.
//
// The parent ([Begin]) starts this program again in namespaces of its own, or a small program of the same [Build]. The child ([Main])
// builds a root of what the [Spec] names and nothing else, gives up every privilege on the thread that starts the command, and waits for
// it. Restrictions of Linux belong to a thread: they are made on a locked thread, and the command is started from that very thread, so it
// has all of them.
package jail

import "fmt"

// Spec is a command and all that it finds. The parent sends it to the child as JSON.
type Spec struct {
	Build string // of the parent: the child is of the same, or refuses

	Argv  []string // the program and its arguments; the program is found in the PATH of Env, inside
	Env   []string // all of the environment
	Dir   string   // the working directory, inside
	Host  string   // the host name that the command sees
	Binds []Bind   // what the root has, in order: a later one covers an earlier one
	Masks []string // absolute paths that exist in the root and are covered: a file by an empty one, a folder by an empty one

	Network bool   // the command has the network of the machine; otherwise it has a loopback of its own
	Listen  bool   // the parent gets a listener at [ListenAddr], on the loopback of the command ([Jailed.Listener])
	Ports   []int  // the parent gets listeners at these ports of it too, unless the command has them already ([Jailed.Local]); at most 64
	Fork    bool   // the command may start processes
	Procs   uint64 // most processes at once; 0: no limit
	Files   uint64 // most open files of one process; 0: no limit
	Memory  uint64 // most bytes of data of one process; 0: no limit

	Backend Backend // who makes the namespaces and the root
	Program string  // of another one than Own: its path
	Outside Outside // likewise: what the child compares with; [Start] sets it
	Scratch string  // of Container and Seatbelt: a folder in which they may make one for the time of the command; empty: that of the machine
	Guards  []Guard // of Seatbelt: names that the command does not make. Elsewhere they are looked for after it only
	Unseen  string  // likewise: characters that are in no name that the command makes

	Without []Layer // layers that are left out: for the test of escapes, which takes each away in turn
}

// Backend is a program that makes the namespaces and mounts the parts of the root. The rest is always the child's.
type Backend string

// The back ends.
const (
	Own        Backend = "own"        // this program; so is the empty one
	Bubblewrap Backend = "bubblewrap" // bwrap(1)
	Container  Backend = "container"  // crun(1), with which engines of containers make them
	Seatbelt   Backend = "seatbelt"   // sandbox-exec(1) of macOS, which has none of them: see [Seat]
)

// Other reports whether it is another program than this one. It is started with the description of the root.
func (b Backend) Other() bool { return b == Bubblewrap || b == Container || b == Seatbelt }

// Layers lists the layers that the back end has, in the order in which they are built.
func (b Backend) Layers() []Layer {
	if b == Seatbelt {
		return []Layer{Rules}
	}
	return Layers()
}

// Outside tells the child how the machine looks from outside, so that it can tell whether another program built what it was told to.
type Outside struct {
	Spaces map[string]string   // the namespaces that must be others, by their names in /proc/self/ns, with what these links say
	Files  map[string]Identity // the sources of the trees, by their path
}

// Identity is the file that a path leads to.
type Identity struct{ Dev, Ino uint64 }

// Bind is a part of the root.
type Bind struct {
	Kind   Kind
	Source string // of Tree: the path outside; of Link: what the link says
	Target string // absolute and clean, inside
	Write  bool   // the command may write there
	Data   []byte // of File: its content
	Strict bool   // of Tree: it must exist, and no folder above it may be a link
}

// Kind says what a part of the root is.
type Kind string

// The kinds of parts.
const (
	Tree Kind = "tree" // a file or folder of the machine with all below it; what does not exist is left out
	Temp Kind = "temp" // an empty folder in memory
	Link Kind = "link" // a symbolic link
	File Kind = "file" // a file in memory
)

// ChildName is the argument with which a program that can be the child becomes it.
const ChildName = "sandbox-child"

// IsChild reports whether the arguments of a program are those of the child.
func IsChild(args []string) bool { return len(args) == 1 && args[0] == ChildName }

// ListenAddr is where the command finds the parent, on a loopback that has nobody else. Proxies are usually at this port.
const ListenAddr = "127.0.0.1:3128"

// Layer is one of the walls. Each is there for what the others let through.
type Layer string

// The layers, in the order in which they are built.
const (
	User      Layer = "user"      // user namespace: no privilege outside
	Mount     Layer = "mount"     // mount namespace and a root of its own: what is not named is not there
	PID       Layer = "pid"       // process namespace: no other process is seen, and all end together
	Net       Layer = "network"   // network namespace: no host, no local service, no abstract socket
	Privilege Layer = "privilege" // no capability, and none by setuid programs
	Landlock  Layer = "landlock"  // the kernel's own check of every path and signal, which does not depend on mounts
	Seccomp   Layer = "seccomp"   // no system call with which walls were broken before
)

// Rules is the one layer of [Seatbelt]: the rules of a profile over the operations of a process.
const Rules Layer = "rules"

// Layers lists every layer of Linux in order.
func Layers() []Layer { return []Layer{User, Mount, PID, Net, Privilege, Landlock, Seccomp} }

// StageError says at which layer the wall could not be built. Nothing of the command has run.
type StageError struct {
	Layer Layer  `json:"layer"`
	Doing string `json:"doing"` // what was tried: "mount proc"
	Errno int    `json:"errno,omitzero"`
	Cause string `json:"cause"` // in the words of the system
}

// Steps whose failure has causes of its own.
const (
	MakeSpaces = "make the namespaces"
	ChangeRoot = "change the root"
	MountProc  = "mount /proc"
	LimitData  = "limit the memory of a process"
)

// StartIn is the step in which another program starts the child.
func StartIn(b Backend) string { return "start the program in the back end " + string(b) }

func (e *StageError) Error() string {
	return fmt.Sprintf("the sandbox cannot be built here: %s: %s (layer %s)", e.Doing, e.Cause, e.Layer)
}
