// Package state has the paths of everything that the program keeps for a project. State that must not come with a clone, and state that
// no agent may write, is in the user's own state folder; the rest is in the project.
package state

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
)

// FolderName is the name of the folder in a project that holds its state.
const FolderName = ".mycelium"

// Paths in a project, relative to its folder and with slashes, as people read and write them.
const (
	AuditLog   = FolderName + "/audit"                 // the segments of the audit log, where audit.dir does not name another folder
	Database   = FolderName + "/mycelium.db"           // the database, where `store:` does not name another one
	ToolIndex  = FolderName + "/tools/index.yaml"      // the generated index of tools
	Categories = FolderName + "/tools/categories.yaml" // the categories of tools, which people may edit
)

// Folder is that folder of a project.
func Folder(project string) string { return filepath.Join(project, FolderName) }

// User is the user's state folder for this program: $XDG_STATE_HOME/mycelium, else ~/.local/state/mycelium. Audit keys and what
// was accepted lie there, outside of every project.
func User() (string, error) { return UserIn(os.Getenv) }

// UserIn is User in another environment.
func UserIn(getenv func(string) string) (string, error) {
	if x := getenv("XDG_STATE_HOME"); filepath.IsAbs(x) {
		return filepath.Join(x, "mycelium"), nil
	}
	home := getenv("HOME")
	if !filepath.IsAbs(home) {
		return "", errors.New("find state folder: HOME is not set to an absolute path")
	}
	return filepath.Join(home, ".local", "state", "mycelium"), nil
}

// EditLock is the lock to hold while changing files of a project that people own.
func EditLock(project string) string { return filepath.Join(Folder(project), "edit.lock") }

// Paths are the paths of one project.
type Paths struct {
	project string // the project folder
	user    string // see [User]
}

// Of returns the paths of a project folder, which is absolute and has its links resolved. It creates nothing.
func Of(project string) (Paths, error) {
	user, err := User()
	return Paths{project: project, user: user}, err
}

// Folder holds all of the state that is in the project.
func (p Paths) Folder() string { return Folder(p.project) }

func (p Paths) in(names ...string) string {
	return filepath.Join(append([]string{p.Folder()}, names...)...)
}

// Ignore is the file that tells git to leave the state alone.
func (p Paths) Ignore() string { return p.in(".gitignore") }

// Database is the SQLite database that is used where `store:` names no other.
func (p Paths) Database() string { return filepath.Join(p.project, filepath.FromSlash(Database)) }

// AuditLock is the lock of the audit log. Its segments are where `audit.dir` says.
func (p Paths) AuditLock() string { return p.in("audit.lock") }

// Catalogs holds what the servers offered when they were last asked.
func (p Paths) Catalogs() string { return p.in("catalog") }

// ServerLogs holds what the servers wrote to stderr.
func (p Paths) ServerLogs() string { return p.in("log") }

// Costs holds what models have cost.
func (p Paths) Costs() string { return p.in("costs") }

// Written holds which files each session wrote.
func (p Paths) Written() string { return p.in("written") }

// Run holds the settings of an agent that was started for one session.
func (p Paths) Run(session string) string { return p.in("run", session) }

// HookAddr is the file with the address at which agents at work post their events.
func (p Paths) HookAddr() string { return p.in("hooks.addr") }

// key names the project in the user's state folder: the first 16 bytes of the SHA-256 of its folder.
func (p Paths) key() string {
	sum := sha256.Sum256([]byte(p.project))
	return hex.EncodeToString(sum[:16])
}

// AuditKeys holds the key and the checkpoint of the log. It exists only for a project whose log this user's program has written.
func (p Paths) AuditKeys() string { return filepath.Join(p.user, "audit", p.key()) }

// Pins holds the digests of the definitions that the operator has accepted.
func (p Paths) Pins() string { return filepath.Join(p.user, "pins", p.key()) }

// Accepted holds what a person has accepted of the files that govern the project.
func (p Paths) Accepted() string { return filepath.Join(p.user, "accepted", p.key()) }

// OperatorToken holds the digest of the token that answers approvals over HTTP.
func (p Paths) OperatorToken() string { return filepath.Join(p.user, "operator", p.key()+".json") }

// ServerTokens holds the tokens for remote servers, for all projects of the user.
func (p Paths) ServerTokens() string { return filepath.Join(p.user, "tokens") }

// Hooks holds what was in the agents' files before the hook was installed, for all projects.
func (p Paths) Hooks() string { return filepath.Join(p.user, "hooks") }

// Telegram holds the locks of Telegram bots, for all projects.
func (p Paths) Telegram() string { return filepath.Join(p.user, "telegram") }
