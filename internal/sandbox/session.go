package sandbox

import (
	"context"
	"crypto/sha256"
	"os"
	"sync"
	"time"

	"github.com/go-json-experiment/json"

	"mycelium/internal/sandbox/folder"
	"mycelium/internal/sandbox/jail"
)

// Session is kept from one run to the next by a process that makes many, so that the later ones start faster: the child that the next
// command will run in, and the lists of folders that the looks at a project have read. Neither has anything of a command, and the walls of
// each run are built from its own description. The zero value is ready, and several runs may use it at once.
type Session struct {
	mu    sync.Mutex
	next  *jail.Begun
	lists map[string]map[string]*list // by look.key, and by path
	done  bool

	ahead time.Duration // for tests: how far its clock is ahead of that of the files
}

// now is the time by the clock of the session.
func (s *Session) now() time.Time {
	if s == nil {
		return time.Time{}
	}
	return time.Now().Add(s.ahead)
}

// Close ends the child that waits. The session begins no more.
func (s *Session) Close() {
	s.mu.Lock()
	next := s.next
	s.next, s.done = nil, true
	s.mu.Unlock()
	if next != nil {
		next.Close()
	}
}

// child returns the child that waits, if it fits and is alive; else nil.
func (s *Session) child(o jail.Options) *jail.Begun {
	s.mu.Lock()
	next := s.next
	if next == nil || !next.Has(o) {
		s.mu.Unlock()
		return nil
	}
	s.next = nil
	s.mu.Unlock()
	if next.Waits() {
		return next
	}
	next.Close()
	return nil
}

// begin begins a child for the next command. Most commands of a session have the same profile. The child of another back end is told
// its whole command when it starts.
func (s *Session) begin(self jail.Self, o jail.Options) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.done || o.Backend.Other() || s.next != nil && s.next.Has(o) {
		return
	}
	if was := s.next; was != nil {
		go was.Close()
	}
	s.next = jail.Begin(context.Background(), self, o)
}

// list are the names of a folder that may count, and when they were.
type list struct {
	stamp   folder.Stamp
	names   int // how many names the folder has
	entries []entry
}

// mostLists bounds the lists that are kept for a project: with their names they take about 300 bytes each.
const mostLists = 30_000

// mostKeys bounds the projects and policies of which lists are kept.
const mostKeys = 4

// key is a digest of everything on which the lists of a look depend beside the folders: the rules and the protected names. It is empty
// where that cannot be written down: then nothing is kept.
func (l *look) key(c *Command) string {
	data, err := json.Marshal([]any{l.out.Closed, c.Project, c.Home, c.Worktree}, json.Deterministic(true))
	if err != nil {
		return ""
	}
	sum := sha256.Sum256(data)
	return string(sum[:])
}

// known begins a look: it gives it the lists of the last one.
func (s *Session) known(key string) map[string]*list {
	if s == nil || key == "" {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.lists[key]
}

// keep ends a look: its lists, and no others, are those for the next one.
func (s *Session) keep(key string, lists map[string]*list) {
	if s == nil || key == "" {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.lists == nil || s.lists[key] == nil && len(s.lists) >= mostKeys {
		s.lists = map[string]map[string]*list{}
	}
	s.lists[key] = lists
}

// list returns the list of a folder if nothing in the folder has changed; else nil. The time is asked for by the whole path: a program that
// puts a link in the place of a folder above changes the folder above that one.
func (l *look) list(path string) *list {
	k := l.known[path]
	if k == nil || l.all {
		return nil
	}
	if s, ok := folder.StampAt(path); !ok || s != k.stamp {
		return nil
	}
	l.keep(path, k)
	return k
}

// keep keeps a list for the next look.
func (l *look) keep(path string, k *list) {
	if len(l.lists) < mostLists {
		l.lists[path] = k
	}
}

// learn keeps a list that was read from a time on, with the stamp that the folder had before.
func (l *look) learn(path string, s folder.Stamp, stamped bool, read time.Time, k *list) {
	if stamped && l.reliable && s.On(l.device) && s.Lasts(read) {
		k.stamp = s
		l.keep(path, k)
	}
}

// dir is a folder on the way of a look. It is opened, from the one above, when something in it is needed: a folder whose list is known is
// mostly not.
type dir struct {
	up   *dir
	name string
	root *os.Root // nil: it is not open
}

func (d *dir) open() (*os.Root, error) {
	if d.root != nil {
		return d.root, nil
	}
	up, err := d.up.open()
	if err != nil {
		return nil, err
	}
	d.root, err = openFolder(up, d.name)
	return d.root, err
}

func (d *dir) close() {
	if d.root != nil {
		_ = d.root.Close()
	}
}
