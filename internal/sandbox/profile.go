package sandbox

import "time"

// Profile says how much a command may use.
type Profile struct {
	Name string `json:"name"`
	Says string `json:"says"` // one sentence for people

	Network bool    `json:"network"` // the network of the machine; otherwise there is a loopback of its own
	Fork    bool    `json:"fork"`    // it may start processes
	Project bool    `json:"project"` // it may write the project; otherwise only the paths that are named
	Procs   uint64  `json:"processes,omitzero"`
	Files   uint64  `json:"files,omitzero"`          // open files of one process
	Memory  uint64  `json:"memory,omitzero"`         // bytes of data of one process
	Seconds float64 `json:"timeoutSeconds,omitzero"` // after which it is ended; 0: never
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
	less := func(a, b uint64) bool { return b == 0 || a != 0 && a <= b }
	return (!p.Network || other.Network) && (!p.Fork || other.Fork) && (!p.Project || other.Project) &&
		less(p.Procs, other.Procs) && less(p.Files, other.Files) && less(p.Memory, other.Memory) &&
		(other.Seconds == 0 || p.Seconds != 0 && p.Seconds <= other.Seconds)
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
