// Package policy decides what an agent may see and call.
//
// It is pure and total. [New] compiles what people declared into an immutable [Policy]; [Policy.Decide] and [Policy.Visible] are
// functions of their arguments only. They do no I/O, read no clock, never fail and never panic. Whatever cannot be evaluated denies,
// and the zero value of every answer denies.
//
// The package also has the vocabulary of the whole program: items, principals, scopes, calls, facts, effects.
package policy

import (
	"time"

	"mycelium/internal/policy/arguments"
	"mycelium/internal/policy/box"
)

// Kind says what an [Item] is. The zero kind is a tool.
type Kind uint8

// The kinds of things that a server offers.
const (
	Tool     Kind = iota
	Resource      // Name is a URI
	Prompt
)

// Item names one thing that can be granted: a tool, a resource or a prompt of a server.
// An agent's own tools belong to the reserved server "agent": agent__Bash, agent__Edit.
type Item struct {
	Kind   Kind
	Server string // matches [a-z0-9][a-z0-9-]*
	Name   string // tool or prompt name as the server spells it ([A-Za-z0-9_.-]{1,128}), or a resource's URI
}

// The servers that always exist, whatever the configuration says. The name "agent" and names that begin with "mycelium-" are
// reserved: no configured server may take one.
const (
	AgentServer   = "agent"            // an agent's own tools, decided here, never listed by the gateway
	RouterServer  = "mycelium-router"  // control tools: roles, active skills, context
	SkillsServer  = "mycelium-skills"  // control tools: skills, their resources and commands
	SandboxServer = "mycelium-sandbox" // runs commands behind walls
	MemoryServer  = "mycelium-memory"  // its tools are granted by grants.memory of a skill and by nothing else
)

// Bash is the tool whose argument is a shell command.
var Bash = Item{Server: AgentServer, Name: "Bash"}

// Principal is who makes a call. It is derived from a credential; a caller cannot claim one.
type Principal struct {
	ID     string     `json:"id"`
	Role   string     `json:"role,omitempty"`   // the current role; empty for no role
	Roles  []string   `json:"roles,omitempty"`  // the only roles that it may switch to
	Parent *Principal `json:"parent,omitempty"` // a child never exceeds its parent
}

// Scope is everything that decides visibility.
type Scope struct {
	Principal Principal `json:"principal"`
	Skills    []string  `json:"skills,omitempty"` // the names of the active skills; see [Policy.StartSkills]
	Stage     string    `json:"stage,omitempty"`  // the workflow stage; empty for no stage
	// Folder is the working tree to which it is bound: built-in servers work there, and no call changes a file elsewhere. It is absolute, with
	// links resolved. Empty: it is bound to none.
	Folder string `json:"folder,omitempty"`
	// Only is the one file that calls of the scope may change, absolute, with links resolved. Empty: the rules say.
	Only string `json:"only,omitempty"`
	// Profile is the profile of the sandbox in which the scope's commands run where no rule names another one: none of them ever runs outside.
	// Empty: they may.
	Profile string `json:"profile,omitempty"`
}

// Call is a request to use an item.
type Call struct {
	Scope Scope     `json:"scope"`
	Item  Item      `json:"item"`
	Args  Args      `json:"args,omitempty"`
	Facts Facts     `json:"facts,omitzero"`
	Time  time.Time `json:"time"` // when the call is made; the policy reads no clock
}

// Args are the decoded arguments of a call; see [ParseArgs] for the Go types of the values.
type Args map[string]any

// Number is a JSON number that no Go type holds exactly. A rule about such a number cannot be evaluated: a deny or ask rule denies, an
// allow rule does not match.
type Number = arguments.Number

// ParseArgs decodes the arguments of a call, as [arguments.Parse] does.
func ParseArgs(raw []byte) (Args, error) { return arguments.Parse(raw) }

// Facts are what a call would do. The gate makes them once for each call. A shell command of several simple commands has a Part for each
// of them; any other call has exactly one part. The log keeps the facts, so that a replay decides on the facts of that day.
type Facts struct {
	Dir   string `json:"dir,omitempty"` // the working directory, absolute
	Parts []Part `json:"parts,omitempty"`

	// Worktrees are folders that belong to the project besides its own, with the same files in them: those of git's linked working trees. A
	// pattern that begins at the project holds below each. The gate names those that the call concerns, absolute and with links resolved.
	Worktrees []string `json:"worktrees,omitempty"`

	Walls Walls `json:"walls,omitzero"` // whether a sandbox can hold the call
}

// Part is one simple command, or a whole call that is not a command.
type Part struct {
	Program string   `json:"program,omitempty"` // the base name of the program that would run
	Argv    []string `json:"argv,omitempty"`    // with the program first
	Paths   []Path   `json:"paths,omitempty"`
	Hosts   []string `json:"hosts,omitempty"`
	Effects []string `json:"effects,omitempty"` // see [Effects]
	Unclear []string `json:"unclear,omitempty"` // what was not understood, for people

	// Branches are the branches of another repository that a forced push replaces or deletes. "HEAD" is the branch that is checked out
	// here, "*" may be any branch.
	Branches []string `json:"branches,omitempty"`

	// Trees say what git puts into the working tree, as "KIND REVISION": see TreeOf. The gate asks git which files that changes. Dir is
	// where git runs, if that is not Facts.Dir; "*" if it is not known.
	Trees []string `json:"trees,omitempty"`
	Dir   string   `json:"dir,omitempty"`

	// Moves are the files and folders that the part moves, or copies with their links as they are. The gate looks for links among them.
	Moves []Move `json:"moves,omitempty"`

	// Archives are what the part unpacks. The gate reads which names they have.
	Archives []Archive `json:"archives,omitempty"`
}

// Move is a file or a folder that comes to another place with its links as they are.
type Move struct {
	From    string `json:"from"`              // absolute; a glob if Pattern is set
	To      string `json:"to"`                // absolute: its new path, or the folder in which it comes to lie
	Pattern bool   `json:"pattern,omitempty"` // it may be anything that the glob matches
}

// Archive is a file with files in it that a call unpacks.
type Archive struct {
	Path    string   `json:"path"`              // absolute; a glob if Pattern is set
	Pattern bool     `json:"pattern,omitempty"` // it may be any archive that the glob matches
	Dir     string   `json:"dir"`               // where the members come to lie, absolute
	Strip   int      `json:"strip,omitempty"`   // folders that each name loses; -1 is all of them
	Only    []string `json:"only,omitempty"`    // globs of the members, or of folders in it; none is all
}

// The kinds of what stands in [Part.Trees].
const (
	TreeOf      = "tree"    // the files of a revision
	TreeMerge   = "merge"   // the changes that a revision has and HEAD has not
	TreePick    = "pick"    // the changes of revisions themselves, or their reverse
	TreeStash   = "stash"   // the changes in a stash
	TreePut     = "put"     // what is not committed goes away; with "all", files that git does not know too
	TreeTracked = "tracked" // any file that git knows
	TreeHistory = "history" // any revision
	TreeUnknown = "unknown" // what another machine has
	TreeNamed   = "named"   // the files of a branch, if there is one of that name
	TreeHead    = "head"    // no file yet: HEAD goes to a revision, and later commands of the same call bring its files
	TreeAdd     = "add"     // no file changes: git takes in the files of a pathspec that it does not know, and shows them later
	TreeLarge   = "large"   // the files whose contents git LFS has
	TreeModules = "modules" // the folders of submodules, with whatever the submodules have
)

// Access says what a call does to a path.
type Access string

// The accesses.
const (
	Read    Access = "read"
	Write   Access = "write"
	Delete  Access = "delete"
	Execute Access = "execute"
)

// Path is one path that a call touches, in each form in which a rule may name it.
type Path struct {
	Access   Access `json:"access"`
	Raw      string `json:"raw"`                // as written
	Clean    string `json:"clean,omitempty"`    // absolute, lexically cleaned
	Resolved string `json:"resolved,omitempty"` // with links resolved; empty if they cannot be
	Passed   bool   `json:"-"`                  // the call comes upon it and does not name it; asked of [Policy.Protects], never a fact
	Pattern  bool   `json:"pattern,omitempty"`  // the path is a glob, as package globs reads it: it may be any path that the glob means

	// The gate looks whether these hold; they are never facts of their own.
	Split bool `json:"-"` // the shell splits a name that the Pattern matches at its spaces: one with a space means other paths
	File  bool `json:"-"` // the path is taken for a file that ls lists: of a folder, ls lists the names in it

	Only    Only    `json:"only,omitempty"`    // how little the call does with the file; empty: it may read or change what is in it
	Content Content `json:"content,omitempty"` // whether the file holds a secret now; empty: nobody has looked

	// Except are globs of the paths that a Pattern leaves out, absolute unless they begin with "**".
	Except []string `json:"except,omitempty"`
}

// Effect is the answer of a decision. The zero value denies.
type Effect uint8

// The effects, from the strictest to the widest.
const (
	Deny Effect = iota
	Ask
	Allow
)

// Decision is an answer, the place where a command runs, and the reasons for both.
type Decision struct {
	Effect  Effect
	Unknown bool    // a Deny that must look to the caller like an item that does not exist
	Rule    string  // the rule, skill or constraint that decided; empty for the fallback
	Reason  string  // for people
	Guard   Guard   // what is done to the result before the caller reads it; empty for a Deny
	Sandbox box.Box // the sandbox in which the call runs; the zero value: it runs outside
	Outside string  // why a command runs outside although the policy has a wall, for people; empty for every other call
	Without Effect  // of a call that asks for what its command lacked in the sandbox: the effect without that; else Deny
}
