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
)

// Names in the folder of a project's state, where no file of the configuration says otherwise.
const (
	AuditLog = "audit"       // the segments of the audit log
	Database = "mycelium.db" // the database
)

// Root is the folder of a user in which the program keeps its state.
type Root string

// OfPerson returns the folder for a command of a person: $XDG_STATE_HOME/mycelium, else ~/.local/state/mycelium.
func OfPerson(getenv func(string) string) (Root, error) {
	if x := getenv("XDG_STATE_HOME"); filepath.IsAbs(x) { // XDG specification: relative paths are ignored
		return Root(filepath.Join(x, "mycelium")), nil
	}
	home := getenv("HOME")
	if !filepath.IsAbs(home) {
		return "", errors.New("find state folder: HOME is not set to an absolute path")
	}
	return inHome(home), nil
}

// OfAccount returns the folder for what an agent starts: .local/state/mycelium in the home that the password database has for this
// account. The agent's own settings can change every variable of the environment, so no variable counts.
func OfAccount() (Root, error) {
	home, err := AccountHome()
	if err != nil {
		return "", fmt.Errorf("find state folder: %w", err)
	}
	return inHome(home), nil
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

// ServerTokens holds the tokens for remote servers.
func (r Root) ServerTokens() string { return r.in("tokens") }

// Hooks holds what was in the agents' files before the hook was installed.
func (r Root) Hooks() string { return r.in("hooks") }

// Programs holds the program that hooks run.
func (r Root) Programs() string { return r.in("bin") }

// Telegram holds the locks of Telegram bots.
func (r Root) Telegram() string { return r.in("telegram") }

// Paths are the paths of one project.
type Paths struct {
	Root
	Project string // the project folder
	id      string
}

// Of returns the paths of a project folder, which is absolute and has its links resolved. It creates nothing.
func (r Root) Of(project string) Paths { return Paths{Root: r, Project: project, id: id(project)} }

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

// Keys holds the key and the checkpoint of the audit log. It is apart from [Paths.Folder], so that whoever takes one has not both.
func (p Paths) Keys() string { return p.in("keys", p.id) }

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

// Costs holds what models have cost.
func (p Paths) Costs() string { return p.file("costs") }

// Written holds which files each session wrote.
func (p Paths) Written() string { return p.file("written") }

// Run holds the settings of an agent that was started for one session.
func (p Paths) Run(session string) string { return p.file("run", session) }

// OperatorToken holds the digest of the token that answers approvals over HTTP.
func (p Paths) OperatorToken() string { return p.file("operator.json") }

// Accepted holds what a person has accepted of the files that govern the project.
func (p Paths) Accepted() string { return p.file("accepted") }

// Edits returns the folder with the copies of files that a person edits.
func (p Paths) Edits() string { return p.file("edits") }

// EditLock is the lock to hold while changing files of a project that people own.
func (p Paths) EditLock() string { return p.file("edit.lock") }

// DaemonLock is held by the process that owns the project. It contains the path of the owner's socket.
func (p Paths) DaemonLock() string { return p.file("daemon.lock") }

// DaemonLog is what a daemon writes to stderr.
func (p Paths) DaemonLog() string { return p.file("log", "daemon.log") }

// DaemonInfo says which process is the daemon, where it serves HTTP, and since when.
func (p Paths) DaemonInfo() string { return p.file("daemon.json") }

// SocketName is the file name of the owner's socket. The folder of sockets is not here: see package daemon.
func (p Paths) SocketName() string {
	sum := sha256.Sum256([]byte(p.Folder()))
	return hex.EncodeToString(sum[:12]) + ".sock"
}
