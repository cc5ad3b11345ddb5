package telegram

import (
	"maps"
	"slices"
	"strings"
	"sync"

	"mycelium/internal/approval"
)

// view is what people did with a request in the chat, besides answering it.
type view struct {
	opened bool           // its details were shown
	chosen []map[int]bool // options chosen, by question
	typed  []string       // answers in a person's own words, by question
	at     int            // the question that is asked now
	late   []string       // answers that came too late, as lines of the message
}

// clone returns a deep copy.
func (v *view) clone() *view {
	c := *v
	c.typed, c.late = slices.Clone(v.typed), slices.Clone(v.late)
	c.chosen = make([]map[int]bool, len(v.chosen))
	for i, m := range v.chosen {
		c.chosen[i] = maps.Clone(m)
	}
	return &c
}

// grow makes room for the answers to n questions.
func (v *view) grow(n int) {
	for len(v.chosen) < n {
		v.chosen = append(v.chosen, map[int]bool{})
	}
	for len(v.typed) < n {
		v.typed = append(v.typed, "")
	}
}

// answered returns the answer to question i so far.
func (v *view) answered(r approval.Request, i int) string {
	if i >= len(v.chosen) {
		return ""
	}
	var some []string
	for _, k := range slices.Sorted(maps.Keys(v.chosen[i])) {
		if k < len(r.Questions[i].Options) {
			some = append(some, r.Questions[i].Options[k])
		}
	}
	if v.typed[i] != "" {
		some = append(some, v.typed[i])
	}
	return strings.Join(some, ", ")
}

// maxSettledViews bounds the views of settled requests. They are kept because late taps show in the message.
const maxSettledViews = 200

// views holds the view of each request.
type views struct {
	mu      sync.Mutex
	byID    map[string]*view
	settled []string // ids of settled requests, oldest first
}

// of returns a copy of the view of a request.
func (s *views) of(id string) *view {
	s.mu.Lock()
	defer s.mu.Unlock()
	if v := s.byID[id]; v != nil {
		return v.clone()
	}
	return &view{}
}

// change calls f with the view of a request, under the lock.
func (s *views) change(id string, f func(*view)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.byID[id] == nil {
		s.byID[id] = &view{}
	}
	f(s.byID[id])
}

// retire records that a request is settled. Views of settled requests beyond [maxSettledViews] are dropped.
func (s *views) retire(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.byID[id] == nil || slices.Contains(s.settled, id) {
		return
	}
	if s.settled = append(s.settled, id); len(s.settled) > maxSettledViews {
		delete(s.byID, s.settled[0])
		s.settled = s.settled[1:]
	}
}
