package telegram

import (
	"context"
	"crypto/rand"
	"sync"
	"time"
)

// choice is one of several things that a person may mean.
type choice struct {
	label string
	act   func(ctx context.Context) string // returns what the bot says about it
}

// pick is a list of choices behind buttons.
type pick struct {
	user    int64 // who may choose
	choices []choice
	until   time.Time
	once    bool // the list is dropped after the first choice
}

const (
	pickLife = 15 * time.Minute
	maxPicks = 50
)

// picks holds the lists whose buttons still work.
type picks struct {
	now func() time.Time

	mu    sync.Mutex
	lists map[string]pick
}

// offer adds a button for each choice to a page. Only user may choose.
func (s *picks) offer(p *page, user int64, choices []choice, once bool) {
	if len(choices) == 0 {
		return
	}
	key := rand.Text()
	s.mu.Lock()
	defer s.mu.Unlock()
	for k, old := range s.lists {
		if s.now().After(old.until) || len(s.lists) >= maxPicks {
			delete(s.lists, k)
		}
	}
	s.lists[key] = pick{user: user, choices: choices, until: s.now().Add(pickLife), once: once}
	for i, c := range choices {
		p.row(button{c.label, tapData(tapPick, key, itoa(int64(i)))})
	}
}

// take returns the choice that a tap means.
func (s *picks) take(p tap, user int64) (choice, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	l, ok := s.lists[p.id]
	if !ok || l.user != user || p.first >= len(l.choices) || s.now().After(l.until) {
		return choice{}, false
	}
	if l.once {
		delete(s.lists, p.id)
	}
	return l.choices[p.first], true
}
