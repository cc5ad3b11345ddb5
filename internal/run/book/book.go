// Package book remembers the sessions of coding agents: what people call each of them, what it was asked first, and how it ended. A file
// keeps it, so that a restart of the daemon changes no name and forgets no session.
package book

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/go-json-experiment/json"

	"mycelium/internal/approval"
	"mycelium/internal/atomicfile"
)

const (
	// most is how many sessions are remembered. Those with the oldest sign of life are forgotten first.
	most = 200
	// claim is how long a session that is silent and has not told of its end keeps its name from others: an agent that was killed tells
	// nothing.
	claim = 24 * time.Hour
)

// Book is the memory. It is safe for concurrent use.
type Book struct {
	path   string // "": nothing is kept
	logger *slog.Logger
	now    func() time.Time

	mu       sync.Mutex              // guards the fields below
	sessions []approval.AgentSession // the one with the newest sign of life last
	seen     map[pane]called         // agents that are known from tmux only
	changed  bool                    // since the last Save
}

// Open reads the book from its file. A file that cannot be read is told of and begun again. path "" keeps nothing; a nil logger is silent;
// a nil now is [time.Now].
func Open(path string, logger *slog.Logger, now func() time.Time) *Book {
	b := &Book{path: path, logger: logger, now: now, seen: map[pane]called{}}
	if b.logger == nil {
		b.logger = slog.New(slog.DiscardHandler)
	}
	if b.now == nil {
		b.now = time.Now
	}
	var err error
	if b.sessions, err = Read(path); err != nil {
		b.logger.Warn("the names and first prompts of earlier sessions are lost", "error", err)
	}
	return b
}

// Read returns the sessions in the file of a book, the one with the newest sign of life last. Without a file there are none.
func Read(path string) ([]approval.AgentSession, error) {
	if path == "" {
		return nil, nil
	}
	data, err := os.ReadFile(filepath.Clean(path))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var all []approval.AgentSession
	if err == nil {
		err = json.Unmarshal(data, &all)
	}
	if err != nil {
		return nil, fmt.Errorf("read the sessions of agents in %s: %w", path, err)
	}
	return all, nil
}

// Begin enters a session that began, or that speaks again, and returns it with its name in Label and with what is remembered of it. It
// keeps the name that it had, unless another session has that now. window is the name that a person gave to its tmux window, or "".
func (b *Book) Begin(s approval.AgentSession, window string) approval.AgentSession {
	b.mu.Lock()
	defer b.mu.Unlock()
	s.Start = s.Dir
	old := b.take(s)
	if old.ID != "" {
		s.Label, s.Task, s.Turns, s.Denials, s.Result = old.Label, old.Task, old.Turns, old.Denials, old.Result
		s.Start, s.Since = cmp.Or(old.Start, s.Start), old.Since
		if old.State == approval.Halted && old.Ended.IsZero() {
			s.State = approval.Halted
		}
	}
	if taken := b.taken(); s.Label == "" || taken[s.Label] {
		s.Label = unique(base(window, s.Dir), taken)
	}
	b.sessions = append(b.sessions, s)
	if over := len(b.sessions) - most; over > 0 {
		b.sessions = slices.Delete(b.sessions, 0, over)
	}
	b.changed = true
	return s
}

// Keep enters the present state of a session that has begun.
func (b *Book) Keep(s approval.AgentSession) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.take(s)
	b.sessions = append(b.sessions, s)
	b.changed = true
}

// take removes a session and returns it. The lock is held.
func (b *Book) take(s approval.AgentSession) (old approval.AgentSession) {
	i := slices.IndexFunc(b.sessions, func(o approval.AgentSession) bool { return o.Agent == s.Agent && o.ID == s.ID })
	if i < 0 {
		return old
	}
	old = b.sessions[i]
	b.sessions = slices.Delete(b.sessions, i, i+1)
	return old
}

// Sessions returns what is remembered, the one with the newest sign of life first.
func (b *Book) Sessions() []approval.AgentSession {
	b.mu.Lock()
	defer b.mu.Unlock()
	out := slices.Clone(b.sessions)
	slices.Reverse(out)
	return out
}

// Save writes the book to its file, if it has changed since.
func (b *Book) Save() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.path == "" || !b.changed {
		return
	}
	data, err := json.Marshal(b.sessions, json.Deterministic(true))
	if err == nil {
		err = os.MkdirAll(filepath.Dir(b.path), 0o700)
	}
	if err == nil {
		err = atomicfile.Note(b.path, append(data, '\n'), 0o600)
	}
	if err != nil {
		b.logger.Warn("the names and first prompts of sessions were not saved", "error", err)
		return
	}
	b.changed = false
}
