package backend

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"mycelium/internal/backend/catalog"
	"mycelium/internal/backend/mcpclient"
	"mycelium/internal/backend/oauth"
	"mycelium/internal/backend/redact"
)

// connection is a connection to a server, with what the pool does on it.
type connection struct {
	*mcpclient.Conn
	secrets   redact.Redactor
	heartbeat heartbeat
	answered  atomic.Int64 // calls

	changed   chan struct{}   // holds one when a list of the server changed
	refreshes chan chan error // requests to learn the catalog again
	learned   chan struct{}   // closed when the first attempt to learn the catalog is over
	learnErr  error           // of that attempt; valid when learned is closed
}

func newConnection() *connection {
	return &connection{
		heartbeat: heartbeat{timedOut: make(chan struct{}, 1), result: make(chan error, 1)},
		changed:   make(chan struct{}, 1), refreshes: make(chan chan error), learned: make(chan struct{}),
	}
}

// setChanged records that a list of the server changed. It does not wait.
func (c *connection) setChanged() {
	select {
	case c.changed <- struct{}{}:
	default:
	}
}

// redactError is an error whose text has none of the secrets. An AuthorizationError has none and stays what it is, so that callers
// recognise it.
func redactError(secrets redact.Redactor, err error) error {
	var login *oauth.AuthorizationError
	if errors.As(err, &login) {
		return login
	}
	return secrets.Error(err)
}

// After a change of a list the catalog is learned again when debounce has passed, because servers report each item by itself. A
// server that reports changes without end is asked once in relearnMin, and ever less often down to once in relearnMax.
const (
	debounce   = 100 * time.Millisecond
	relearnMin = time.Second
	relearnMax = 10 * time.Second
)

// serve learns what the server offers, again whenever the server reports a change, and pings it while it is silent. It returns when
// the connection or the entry has ended.
func (e *entry) serve(c *connection) {
	var due <-chan time.Time
	last, interval := e.pool.now(), relearnMin
	e.mu.Lock()
	c.SetTools(e.listing[catalog.Tools])
	period := e.cfg.Ping.or(DefaultPing)
	e.mu.Unlock()
	beat := time.NewTicker(period)
	defer beat.Stop()
	e.pool.tasks.start(func() { c.Listen(e.ctx) })
	c.AwaitListening(e.ctx) // before the lists, so that a change after them is reported
	c.learnErr = e.learn(c)
	close(c.learned)
	for {
		select {
		case <-c.Done():
			e.disconnected(c, c.Err())
			e.close(c, e.grace())
			return
		case <-e.ctx.Done():
			e.disconnected(c, nil)
			e.close(c, e.grace())
			return
		case w := <-c.refreshes:
			w <- e.learn(c)
			last = e.pool.now()
		case <-beat.C:
			if c.silent() {
				e.ping(c)
			}
		case <-c.heartbeat.timedOut:
			e.ping(c)
		case err := <-c.heartbeat.result:
			e.pinged(c, err)
		case <-c.changed:
			if due == nil {
				since := e.pool.now().Sub(last)
				if since > 2*interval {
					interval = relearnMin
				}
				due = time.After(max(debounce, interval-since))
				interval = min(2*interval, relearnMax)
			}
		case <-due:
			due, last = nil, e.pool.now()
			if err := e.learn(c); err != nil {
				e.pool.logger.Warn("catalog not learned", "server", e.name, "error", err)
			}
		}
	}
}

// learn lists what the server offers and publishes it.
func (e *entry) learn(c *connection) error {
	e.mu.Lock()
	old, cfg, digest := e.listing, e.cfg, e.digest
	e.mu.Unlock()
	ctx, cancel := context.WithTimeout(e.ctx, cfg.Start.or(DefaultStart))
	defer cancel()
	l, problems, err := c.List(ctx, old)
	if err != nil {
		err = redactError(c.secrets, fmt.Errorf("learn its catalog: %w", err))
		e.mu.Lock()
		if e.conn == c {
			e.fault = err
		}
		e.mu.Unlock()
		e.pool.rebuild()
		return err
	}
	for k := range l {
		for i, raw := range l[k] {
			l[k][i] = c.secrets.JSON(raw)
		}
	}
	about := c.About()
	c.SetTools(l[catalog.Tools])
	e.mu.Lock()
	e.setListing(l, about, true)
	e.checked = c
	if e.conn == c {
		e.fault = nil
	}
	for _, p := range problems {
		e.leftOut = append(e.leftOut, c.secrets.Text(p))
	}
	leftOut := e.leftOut
	e.mu.Unlock()
	for _, s := range leftOut {
		e.pool.logger.Warn("part of a catalog is left out", "server", e.name, "reason", s)
	}
	pinErr := e.pins.Save() // before the catalog: a stored catalog without pins counts as forged
	e.pool.rebuild()
	if pinErr != nil {
		return pinErr
	}
	return l.Save(e.pool.catalogs, e.name, digest, about)
}

// setListing replaces the listing. live reports that the server itself sent it just now. The lock is held.
func (e *entry) setListing(l catalog.Listing, about catalog.About, live bool) {
	e.listing, e.about, e.known = l, about, true
	e.definitions, e.templates, e.leftOut = l.Definitions(e.name, e.cfg.Trust)
	e.applyPins(live)
}

// refresh starts the server if needed and learns its catalog.
func (e *entry) refresh(ctx context.Context) error {
	if e.builtin != nil {
		e.pool.rebuild()
		return nil
	}
	c, fresh, err := e.connect(ctx)
	if err != nil {
		return err
	}
	if fresh { // serve learns it already
		select {
		case <-c.learned:
			return c.learnErr
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	w := make(chan error, 1)
	select {
	case c.refreshes <- w:
	case <-c.Done():
		return c.Err()
	case <-ctx.Done():
		return ctx.Err()
	}
	select {
	case err := <-w:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}
