package config

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"

	"mycelium/internal/audit"
)

// stateFolder is the folder in a project that holds what the program keeps there.
const stateFolder = ".mycelium"

// State knows where everything lies that the program keeps for one project. What must not come with a clone or be written by
// an agent is in the user's own state folder; the rest is in the project. Nothing else knows these paths.
type State struct {
	project string // the project folder
	user    string // see [StateDir]
}

// StateOf returns the state of a project folder, which is absolute and has its links resolved. It creates nothing.
func StateOf(project string) (State, error) {
	user, err := StateDir()
	return State{project: project, user: user}, err
}

// In a project.

// Folder holds all of the state that is in the project.
func (s State) Folder() string            { return filepath.Join(s.project, stateFolder) }
func (s State) in(names ...string) string { return filepath.Join(append([]string{s.Folder()}, names...)...) }

// Ignore is the file that tells git to leave the state alone.
func (s State) Ignore() string { return s.in(".gitignore") }

// Database is the SQLite database that is used where `store:` names no other.
func (s State) Database() string { return s.in("mycelium.db") }

// Catalogs holds what the servers offered when they were last asked.
func (s State) Catalogs() string { return s.in("catalog") }

// ServerLogs holds what the servers wrote to stderr.
func (s State) ServerLogs() string { return s.in("log") }

// Costs holds what models have cost.
func (s State) Costs() string { return s.in("costs") }

// Written holds which files each session wrote.
func (s State) Written() string { return s.in("written") }

// Run holds the settings of an agent that was started for one session.
func (s State) Run(session string) string { return s.in("run", session) }

// Outside of the project.

// key names the project in the user's state folder: the first 16 bytes of the SHA-256 of its folder.
func (s State) key() string {
	sum := sha256.Sum256([]byte(s.project))
	return hex.EncodeToString(sum[:16])
}

// AuditKeys holds the key and the checkpoint of the log. It exists only for a project whose log this user's program has written.
func (s State) AuditKeys() string { return filepath.Join(s.user, "audit", s.key()) }

// Pins holds the digests of the definitions that the operator has accepted.
func (s State) Pins() string { return filepath.Join(s.user, "pins", s.key()) }

// OperatorToken holds the digest of the token that answers approvals over HTTP.
func (s State) OperatorToken() string { return filepath.Join(s.user, "operator", s.key()+".json") }

// ServerTokens holds the tokens for remote servers, for all projects of this user.
func (s State) ServerTokens() string { return filepath.Join(s.user, "tokens") }

// Hooks holds what was in the agents' files before the hook was installed, for all projects.
func (s State) Hooks() string { return filepath.Join(s.user, "hooks") }

// Telegram holds the locks of Telegram bots, for all projects.
func (s State) Telegram() string { return filepath.Join(s.user, "telegram") }

// State returns the state of the project.
func (p *Project) State() (State, error) { return StateOf(p.Dir) }

// AuditLog says where the log of the project is: its segments in the project, its key and checkpoint outside. It makes the folder
// of the log's lock.
func (p *Project) AuditLog() (audit.Options, error) {
	state, err := p.State()
	if err != nil {
		return audit.Options{}, err
	}
	dir := cmp.Or(p.File.Audit.Dir, DefaultAuditDir)
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(p.Dir, dir)
	}
	if err := os.MkdirAll(state.Folder(), 0o700); err != nil {
		return audit.Options{}, fmt.Errorf("make state folder: %w", err)
	}
	return audit.Options{Dir: dir, Lock: state.in("audit.lock"), KeyDir: state.AuditKeys(), Redact: p.File.Audit.Redact, Sync: p.File.Audit.Sync}, nil
}

// StoreURL names the database of the project.
func (p *Project) StoreURL() (string, error) {
	if p.File.Store != "" {
		return p.File.Store, nil
	}
	state, err := p.State()
	return "sqlite://" + state.Database(), err
}
