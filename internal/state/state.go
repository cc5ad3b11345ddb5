// Package state has the paths of everything that the program keeps for a project. State lies outside of every project, in a folder of
// the user, so that nothing which is done to a project's files reaches it. In the project there are only views that can be made again.
package state

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
)

// FolderName is the name of the folder in a project that holds views which can be made again.
const FolderName = ".mycelium"

// Paths in a project, relative to its folder and with slashes, as people read and write them.
const (
	ToolIndex  = FolderName + "/tools/index.yaml"      // the generated index of tools
	Categories = FolderName + "/tools/categories.yaml" // the categories of tools, which people may edit
	Schemas    = FolderName + "/schema"                // JSON Schemas of the files that people write, for editors
	Contexts   = FolderName + "/context"               // what is known of scripts that failed in a workflow
)

// Names in the folder of a project's state, where no file of the configuration says otherwise.
const (
	AuditLog = "audit"       // the segments of the audit log
	Talks    = "talks"       // the conversations of our own agent
	Lines    = "chat-lines"  // what people wrote in the chat, one JSON string a line
	Database = "mycelium.db" // the database
)

// Root is the folder of a user in which the program keeps its state.
type Root string

// Trees returns the folder beside the state with the working trees of workers, by project.
func (r Root) Trees() string { return string(r) + "-trees" }

// OfPerson returns the folder for a command of a person: what `state:` in the person's mycelium.yaml names, else [UsualOfPerson].
func OfPerson(getenv func(string) string) (Root, error) {
	home := getenv("HOME")
	config := filepath.Join(home, ".config")
	if x := getenv("XDG_CONFIG_HOME"); filepath.IsAbs(x) {
		config = x
	}
	if root, err := configured(config, home); root != "" || err != nil {
		return root, err
	}
	return UsualOfPerson(getenv)
}

// UsualOfPerson returns $XDG_STATE_HOME/mycelium, else ~/.local/state/mycelium.
func UsualOfPerson(getenv func(string) string) (Root, error) {
	if x := getenv("XDG_STATE_HOME"); filepath.IsAbs(x) { // XDG specification: relative paths are ignored
		return Root(filepath.Join(x, "mycelium")), nil
	}
	home := getenv("HOME")
	if !filepath.IsAbs(home) {
		return "", errors.New("find state folder: HOME is not set to an absolute path")
	}
	return inHome(home), nil
}

// OfAccount returns the folder for what an agent starts: as [OfPerson], with the home that the password database has for this account.
// The agent's own settings can change every variable of the environment, so no variable counts.
func OfAccount() (Root, error) {
	home, err := AccountHome()
	if err != nil {
		return "", fmt.Errorf("find state folder: %w", err)
	}
	return OfPerson(func(name string) string { return map[string]string{"HOME": home}[name] })
}

// AccountHome returns the home folder that the password database has for the account of this process.
func AccountHome() (string, error) {
	account, err := user.LookupId(strconv.Itoa(os.Getuid()))
	if err != nil {
		return "", fmt.Errorf("find the home of this account: %w", err)
	}
	if !filepath.IsAbs(account.HomeDir) {
		return "", fmt.Errorf("find the home of this account: the password database has %q, which is no absolute path", account.HomeDir)
	}
	return account.HomeDir, nil
}

func inHome(home string) Root { return Root(filepath.Join(home, ".local", "state", "mycelium")) }

func (r Root) in(names ...string) string {
	return filepath.Join(append([]string{string(r)}, names...)...)
}

// Pin returns the arguments with which another process finds this folder, whatever its environment says.
func (r Root) Pin() []string { return []string{"--state", string(r)} }

// ServerTokens holds the tokens for remote servers.
func (r Root) ServerTokens() string { return r.in("tokens") }

// Hooks holds what was in the agents' files before the hook was installed.
func (r Root) Hooks() string { return r.in("hooks") }

// Programs holds the program that hooks run.
func (r Root) Programs() string { return r.in("bin") }

// UserAccepted holds what a person has accepted of the user's own files, which govern every project.
func (r Root) UserAccepted() string { return r.in("accepted") }

// UserEdits returns the folder with the copies of the user's own files that a person edits.
func (r Root) UserEdits() string { return r.in("edits") }

// UserEditLock is the lock to hold while changing the user's own files.
func (r Root) UserEditLock() string { return r.in("edit.lock") }

// Paths are the paths of one project.
type Paths struct {
	Root
	Project string // the project folder
	id      string
	named   bool // a person chose the id
}

// Of returns the paths of a project folder, which is absolute and has its links resolved. It creates nothing.
func (r Root) Of(project string) Paths { return Paths{Root: r, Project: project, id: id(project)} }

// maxID bounds an id that a person chooses, in bytes. It is a part of paths.
const maxID = 64

// Named returns the paths of a project whose id a person chose. Its path does not identify it then: in containers, every project may be
// mounted at the same path.
func (r Root) Named(project, id string) (Paths, error) {
	letters := func(set string) bool { return strings.Trim(id, set) == "" }
	const first = "abcdefghijklmnopqrstuvwxyz0123456789"
	if id == "" || len(id) > maxID || !letters(first+"-_") || strings.IndexByte(first, id[0]) < 0 {
		return Paths{}, fmt.Errorf("project id %q: it has 1 to %d of a-z, 0-9, - and _, and begins with a letter or a digit", id, maxID)
	}
	return Paths{Root: r, Project: project, id: id, named: true}, nil
}

// outside is the id of the state for calls outside of every project. No project has it: the id of a path ends with a digest, and what a
// person names has no dot.
const outside = "no.project"

// Outside returns the paths for the calls of agents that work in a folder which belongs to no project.
func (r Root) Outside(dir string) Paths { return Paths{Root: r, Project: dir, id: outside} }

// ManifestName is the name of the file in each folder of [Paths.Accepted] that says what was accepted.
const ManifestName = "manifest.json"

// For returns the same state for another project folder.
func (p Paths) For(project string) Paths {
	p.Project = project
	return p
}

// Pin returns the arguments with which another process finds this state, whatever its environment says.
func (p Paths) Pin() []string {
	if p.named {
		return append(p.Root.Pin(), "--project-id", p.id)
	}
	return p.Root.Pin()
}

// maxName bounds the readable part of an id, in bytes.
const maxName = 32

// id names a project: a readable part of its folder's name, for people, and the first 8 bytes of the SHA-256 of its path. What lies in
// the folder says which project it is for, so two paths with one id are no danger.
func id(project string) string {
	sum := sha256.Sum256([]byte(project))
	name := strings.Trim(strings.Map(func(c rune) rune {
		switch {
		case c >= 'a' && c <= 'z', c >= '0' && c <= '9', c == '-', c == '_':
			return c
		case c >= 'A' && c <= 'Z':
			return c - 'A' + 'a'
		}
		return '-'
	}, filepath.Base(project)), "-")
	return strings.TrimPrefix(name[:min(len(name), maxName)]+"-", "-") + hex.EncodeToString(sum[:8])
}

// Folder holds the state of the project, except its keys.
func (p Paths) Folder() string { return p.in("projects", p.id) }

// WorkerTrees is the folder with the working trees of the project's workers.
func (p Paths) WorkerTrees() string { return filepath.Join(p.Trees(), p.id) }

// Workers has a git folder of ours for each working tree of a worker, which says that the tree belongs to the project.
func (p Paths) Workers() string { return p.workers(p.id) }

func (r Root) workers(id string) string { return r.in("projects", id, "swarm", "git") }

// WorkersAt returns what [Paths.Workers] is for the project whose workers have a folder; "" if the folder is of no worker. dir is absolute and
// has its links resolved.
func (r Root) WorkersAt(dir string) string {
	trees, err := filepath.EvalSymlinks(r.Trees())
	if err != nil {
		return ""
	}
	rest, below := strings.CutPrefix(dir, trees+"/")
	id, _, _ := strings.Cut(rest, "/")
	if !below || id == "" {
		return ""
	}
	return r.workers(id)
}

// Keys holds the keys of the project, and the checkpoint of the audit log. It is apart from [Paths.Folder], so that whoever takes one has
// not both.
func (p Paths) Keys() string { return p.in("keys", p.id) }

// DaemonKey is the secret by which the daemon and its clients know each other.
func (p Paths) DaemonKey() string { return p.in("keys", p.id, "daemon.key") }

func (p Paths) file(names ...string) string {
	return filepath.Join(append([]string{p.Folder()}, names...)...)
}

// Database is the SQLite database that is used where `store:` names no other.
func (p Paths) Database() string { return p.file(Database) }

// AuditLock is the lock of the audit log. Its segments are where `audit.dir` says.
func (p Paths) AuditLock() string { return p.file("audit.lock") }

// Catalogs holds what the servers offered when they were last asked.
func (p Paths) Catalogs() string { return p.file("catalog") }

// Pins holds the digests of the definitions that the operator has accepted.
func (p Paths) Pins() string { return p.file("pins") }

// ServerLogs holds what the servers wrote to stderr.
func (p Paths) ServerLogs() string { return p.file("log") }

// Keepers holds a note of each keeper of servers that runs, or that was killed with its owner.
func (p Paths) Keepers() string { return p.file("keepers") }

// Costs holds what models have cost.
func (p Paths) Costs() string { return p.file("costs") }

// Written holds which files each session wrote.
func (p Paths) Written() string { return p.file("written") }

// Limits holds how many calls were made of those that limits count.
func (p Paths) Limits() string { return p.file("limits") }

// Memory holds the memories of the roles, where `memory.dir` names no other folder, and in each case their locks.
func (p Paths) Memory() string { return p.file("memory") }

// Told holds digests of what was told once and need not be told again.
func (p Paths) Told() string { return p.file("told") }

// Mode holds the word for who is asked, where a person has set it.
func (p Paths) Mode() string { return p.file("mode") }

// Agents holds the names and the first prompts of the sessions of agents.
func (p Paths) Agents() string { return p.file("agents.json") }

// KeptTexts returns the file of the texts that people sent to agents and that are not typed yet.
func (p Paths) KeptTexts() string { return p.file("texts.json") }

// Run holds the settings of an agent that was started for one session.
func (p Paths) Run(session string) string { return p.file("run", session) }

// Home is the folder with the configuration and the conversations of an agent that has its own ones for this project.
func (p Paths) Home(agent string) string { return p.file("home", agent) }

// OperatorToken holds the digest of the token that answers approvals over HTTP.
func (p Paths) OperatorToken() string { return p.file("operator.json") }

// Sandbox holds what the sandbox keeps for the project: its caches, private copies while a command runs, and what was put in quarantine.
func (p Paths) Sandbox(name string) string { return p.file("sandbox", name) }

// Accepted holds what a person has accepted of the files that govern the project.
func (p Paths) Accepted() string { return p.file("accepted") }

// Snapshot holds what the accepted files say, for hooks that find no daemon.
func (p Paths) Snapshot() string { return p.file("snapshot") }

// Transcripts is the note of which transcripts of agents were read, and how far.
func (p Paths) Transcripts() string { return p.file("transcripts.json") }

// Edits returns the folder with the copies of files that a person edits.
func (p Paths) Edits() string { return p.file("edits") }

// EditLock is the lock to hold while changing files of a project that people own.
func (p Paths) EditLock() string { return p.file("edit.lock") }

// DaemonLock is held by the process that owns the project. It contains the path of the owner's socket.
func (p Paths) DaemonLock() string { return p.file("daemon.lock") }

// DaemonNext is held by a daemon that starts, until it has DaemonLock. Commands leave DaemonLock to it.
func (p Paths) DaemonNext() string { return p.file("daemon.next") }

// DaemonLog is what a daemon writes to stderr.
func (p Paths) DaemonLog() string { return p.file("log", "daemon.log") }

// DaemonInfo says which process is the daemon, where it serves HTTP, and since when.
func (p Paths) DaemonInfo() string { return p.file("daemon.json") }

// Journal says that the state is on its way to these paths. Until that is done and the journal is gone, nothing here is in force.
func (p Paths) Journal() string { return p.in("moves", p.id+".json") }

// JournalLock is held by the process that brings the state here.
func (p Paths) JournalLock() string { return p.in("moves", p.id+".lock") }

// Staging holds copies of the state and of its keys before they are brought here.
func (p Paths) Staging() string { return p.in("moves", p.id) }

// Journals are the journals of all projects.
func (r Root) Journals() ([]string, error) { return filepath.Glob(r.in("moves", "*.json")) }

// Aside holds the files of an earlier version, as they were when its state was taken over.
func (p Paths) Aside() string { return p.file("former") }

// SocketName is the file name of the owner's socket. The folder of sockets is not here: see package daemon.
func (p Paths) SocketName() string {
	sum := sha256.Sum256([]byte(p.Folder()))
	return hex.EncodeToString(sum[:12]) + ".sock"
}
