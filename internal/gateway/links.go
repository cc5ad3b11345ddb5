package gateway

import (
	"context"
	"sync"
	"time"

	"mycelium/internal/rpc"
)

// The bounds of legacy HTTP links. Where one is reached, the link gives way that was idle for the longest time: its client gets 404 when
// it comes back, and shakes hands again.
const (
	maxLinks        = 4096 // at once
	maxSessionLinks = 256  // of one session
)

// paceTime is the time between two handshakes of a session that has all its links: each of them ends another link. Clients that lost
// theirs come back within it; one that does nothing but shake hands takes no time from others.
const paceTime = 20 * time.Millisecond

// links are the links of all clients.
type links struct {
	mu        sync.Mutex
	byID      map[string]*httpLink
	bySession map[string]map[*httpLink]struct{}
	next      map[string]time.Time // when a session that has all its links may shake hands again
}

// pace waits until a session may shake hands. It returns false if that is too long, after it has waited for as long as a caller that is
// refused should.
func (l *links) pace(ctx context.Context, session string) bool {
	wait := l.turn(session, time.Now())
	if wait <= 0 {
		return true
	}
	t := time.NewTimer(min(wait, rpc.RetryBusy))
	defer t.Stop()
	select {
	case <-t.C:
		return wait <= rpc.RetryBusy
	case <-ctx.Done():
		return false
	}
}

// turn returns how long a session has to wait for its turn, which is taken unless that is too long.
func (l *links) turn(session string, now time.Time) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.bySession[session]) < maxSessionLinks {
		delete(l.next, session)
		return 0
	}
	if l.next == nil {
		l.next = map[string]time.Time{}
	}
	next := l.next[session]
	if next.Before(now) {
		next = now
	}
	wait := next.Sub(now)
	if wait <= rpc.RetryBusy {
		l.next[session] = next.Add(paceTime)
	}
	return wait
}

// add registers a link. If there are too many of its session, the oldest idle one of that session is ended; if there are too many in
// all, that of the session that has most. It returns false if none of those is idle.
func (l *links) add(k *httpLink) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.byID == nil {
		l.byID, l.bySession = map[string]*httpLink{}, map[string]map[*httpLink]struct{}{}
	}
	session := k.caller.session.ID
	switch {
	case len(l.bySession[session]) >= maxSessionLinks:
		if !l.displace(l.bySession[session]) {
			return false
		}
	case len(l.byID) >= maxLinks:
		var most map[*httpLink]struct{}
		for _, of := range l.bySession {
			if len(of) > len(most) {
				most = of
			}
		}
		if !l.displace(most) {
			return false
		}
	}
	l.byID[k.id] = k
	if l.bySession[session] == nil {
		l.bySession[session] = map[*httpLink]struct{}{}
	}
	l.bySession[session][k] = struct{}{}
	return true
}

// displace ends the link that was idle for the longest time. It returns false if none is idle. The lock is held.
func (l *links) displace(of map[*httpLink]struct{}) bool {
	var oldest *httpLink
	var since time.Time
	for k := range of {
		if used, idle := k.idleSince(); idle && (oldest == nil || used.Before(since)) {
			oldest, since = k, used
		}
	}
	if oldest == nil {
		return false
	}
	oldest.end()
	l.forget(oldest)
	return true
}

// idleSince reports when the link was last active, and whether it is idle: no request of its client is open, answered or not.
func (k *httpLink) idleSince() (time.Time, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.used, k.active == 0 && k.requests.none()
}

func (l *links) find(id string) *httpLink {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.byID[id]
}

func (l *links) remove(k *httpLink) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.forget(k)
}

// forget is remove with the lock held.
func (l *links) forget(k *httpLink) {
	delete(l.byID, k.id)
	of := l.bySession[k.caller.session.ID]
	if delete(of, k); len(of) == 0 {
		delete(l.bySession, k.caller.session.ID)
		delete(l.next, k.caller.session.ID)
	}
}
