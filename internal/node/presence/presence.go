// Package presence tells when somebody last typed at a terminal of this machine. The time at which a program last read from a terminal is
// the one that w(1) shows as idle time; Linux keeps it to 8 seconds.
package presence

import (
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"
)

// fresh is how long an answer is given again without looking.
const fresh = 5 * time.Second

// Terminals looks at the terminals of this machine that belong to the user. It is safe for concurrent use.
type Terminals struct {
	// Panes returns the terminals of tmux panes, and false if no tmux server is known. What tmux types into a pane is not a sign of a person:
	// texts from a chat go there too. The terminal in which a person looks at tmux is one of the machine's.
	Panes   func() (terminals []string, known bool)
	Devices []string         // patterns of paths; nil: the terminals of this system
	Now     func() time.Time // nil: time.Now

	mu     sync.Mutex // guards the fields below
	looked time.Time
	last   time.Time
	known  bool
}

// Last returns when somebody last typed at a terminal; the zero time if there is no terminal at which a person could be. known is false if
// that cannot be told: the user has no terminal and no pane.
func (t *Terminals) Last() (last time.Time, known bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := time.Now()
	if t.Now != nil {
		now = t.Now()
	}
	if now.Sub(t.looked) >= fresh || now.Before(t.looked) {
		t.looked = now
		t.last, t.known = t.look()
	}
	return t.last, t.known
}

func (t *Terminals) look() (last time.Time, known bool) {
	panes, known := t.Panes()
	devices := t.Devices
	if devices == nil {
		devices = systemDevices
	}
	for _, pattern := range devices {
		paths, err := filepath.Glob(pattern)
		if err != nil {
			continue // the patterns are constants
		}
		for _, path := range paths {
			st, err := os.Stat(path)
			if err != nil || slices.Contains(panes, path) {
				continue
			}
			read, uid, ok := readAt(st)
			if !ok || uid != os.Getuid() {
				continue
			}
			known = true
			if read.After(last) {
				last = read
			}
		}
	}
	return last, known
}
