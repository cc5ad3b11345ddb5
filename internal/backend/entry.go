package backend

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"mycelium/internal/policy"
)

// entry is one configured server and what is known of it.
type entry struct {
	pool    *Pool
	name    string
	builtin Builtin // nil: a server outside of this process
	ctx     context.Context
	stop    context.CancelFunc
	breaker *breaker
	log     *serverLog // of its stderr

	mu      sync.Mutex
	cfg     Server
	digest  string
	state   string
	since   time.Time
	fault   error    // why it failed, for people: it has no secrets
	conn    *conn    // nil: not connected
	attempt *attempt // nil: none under way
	queue   *queue
	respite respite
	ready   time.Time // when the connection stood
	starts  int       // attempts so far
	known   bool      // whether its catalog is
	raw     listing
	about   About
	defs    []policy.Definition
	temps   []policy.Definition
	leftOut []string
	pins    *pins
	held    []Held
	skills  []Served
	muted   bool       // its instructions are in quarantine
	judged  *conn      // whose definitions were last compared with the pins
	tokens  *authority // gets tokens for it; nil: none was needed yet, or none can be
}

// attempt is one try to start a server; all who need it wait for the same.
type attempt struct {
	done chan struct{}
	conn *conn
	err  error
}

var errRemoved = errors.New("it was taken out of the configuration, or the program ends")

// need returns a connection, starting the server where there is none. fresh tells that the server was not connected before.
func (e *entry) need(ctx context.Context) (c *conn, fresh bool, err error) {
	e.mu.Lock()
	// The reason is there before the calls in flight fail with it, so that who calls again after a failure gets a new connection.
	if c := e.conn; c != nil {
		why := c.calls.reason()
		if why == nil {
			e.mu.Unlock()
			return c, false, nil
		}
		e.drop(c, why)
	}
	if e.cfg.Disabled {
		e.mu.Unlock()
		return nil, false, errors.New("it is disabled in the configuration")
	}
	a := e.attempt
	if a == nil {
		wait, err := e.respite.rest(e.pool.now())
		if err != nil {
			e.mu.Unlock()
			return nil, false, err
		}
		a = &attempt{done: make(chan struct{})}
		if !e.pool.crew.launch(func() { e.start(a, wait) }) {
			e.mu.Unlock()
			return nil, false, errRemoved
		}
		e.attempt = a
		e.starts++
		e.set(StateStarting, nil)
	}
	e.mu.Unlock()
	select {
	case <-a.done:
		return a.conn, true, a.err
	case <-ctx.Done():
		return nil, false, ctx.Err()
	}
}

// set records a state. The lock is held.
func (e *entry) set(state string, fault error) {
	e.state, e.fault, e.since = state, fault, e.pool.now()
}

// start makes one attempt and, where it succeeds, keeps the connection until it is gone.
func (e *entry) start(a *attempt, wait time.Duration) {
	if wait > 0 {
		_ = pause(e.ctx, wait)
	}
	c, err := &conn{}, e.ctx.Err()
	if err == nil {
		c, err = e.connect()
	}
	if e.ctx.Err() != nil && err != nil {
		err = errRemoved
	}
	e.mu.Lock()
	e.attempt = nil
	if err != nil {
		e.respite.failed(e.pool.now(), err, false)
		e.set(StateFailed, err)
	} else {
		e.conn, e.ready = c, e.pool.now()
		e.set(StateReady, nil)
	}
	stop := e.cfg.Stop.or(DefaultStop)
	e.mu.Unlock()
	a.err = err
	if err == nil {
		a.conn = c
	}
	close(a.done)
	if err != nil {
		level, login := slog.LevelWarn, (*AuthorizationError)(nil)
		if errors.As(err, &login) {
			level = slog.LevelInfo // it works as it should: status, doctor and every call say what is missing
		}
		e.pool.logger.Log(e.ctx, level, "server did not start", "server", e.name, "error", err)
		e.pool.rebuild()
		if c.link != nil {
			e.close(c, stop)
		}
		return
	}
	e.pool.logger.Info("server ready", "server", e.name, "protocol", c.version)
	e.keep(c)
}

// connect starts the server and does the handshake. The connection is returned with an error too: its link, if there is one, has to be closed.
func (e *entry) connect() (*conn, error) {
	e.mu.Lock()
	cfg := e.cfg
	e.mu.Unlock()
	c := &conn{
		calls: newCalls(e.pool.now), client: e.pool.client, dirty: make(chan struct{}, 1), log: e.log, pulse: newPulse(),
		wishes: make(chan chan error), first: make(chan struct{}), heard: make(chan struct{}),
		patience: e.patience, tuning: make(chan struct{}, 1),
		updated: func(params []byte) { e.pool.subs.updated(e.name, params) }, missed: func() { e.pool.subs.missed(e.name) },
	}
	l, err := cfg.resolve(e.pool.dir, e.pool.variables(), e.pool.secret)
	if err != nil {
		return c, err
	}
	l.authority = e.authorityOf(l)
	c.secrets = l.secrets
	limit := cfg.Start.or(DefaultStart)
	ctx, cancel := context.WithTimeout(e.ctx, limit)
	defer cancel()
	if err := c.open(l, e.pool.spawner); err != nil {
		return c, l.secrets.error(err)
	}
	err = c.handshake(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		err = c.explain(fmt.Sprintf("it was not ready within %v", limit))
	}
	if err != nil {
		return c, l.secrets.error(err)
	}
	return c, nil
}

// keep learns what the server offers, again whenever it says that this changed, until the connection or the entry ends.
func (e *entry) keep(c *conn) {
	var due <-chan time.Time
	last, often := e.pool.now(), relearn
	e.mu.Lock()
	c.link.knows(e.raw[tools])
	silence := e.cfg.Ping.or(DefaultPing)
	e.mu.Unlock()
	look := time.NewTicker(silence)
	defer look.Stop()
	e.pool.crew.launch(func() {
		c.hear(e.ctx)
		if !c.hears.Swap(true) {
			close(c.heard)
		}
	})
	c.firstErr = e.learn(c)
	c.awaitHearing(e.ctx)
	close(c.first)
	for {
		select {
		case <-c.link.gone():
			e.lost(c, c.calls.reason())
			e.close(c, e.grace())
			return
		case <-e.ctx.Done():
			e.lost(c, nil)
			e.close(c, e.grace())
			return
		case w := <-c.wishes:
			w <- e.learn(c)
			last = e.pool.now()
		case <-look.C:
			if c.quiet() {
				e.ping(c)
			}
		case <-c.pulse.late:
			e.ping(c)
		case err := <-c.pulse.verdict:
			e.judge(c, err)
		case <-c.dirty:
			if due == nil {
				since := e.pool.now().Sub(last)
				if since > 2*often {
					often = relearn
				}
				due = time.After(max(debounce, often-since))
				often = min(2*often, relearnSeldom)
			}
		case <-due:
			due, last = nil, e.pool.now()
			if err := e.learn(c); err != nil {
				e.pool.logger.Warn("catalog not learned", "server", e.name, "error", err)
			}
		}
	}
}

// A change of a list is waited out for debounce, because servers tell of each item. A server that never stops telling is asked
// once in relearn, and less and less often down to once in relearnSeldom.
const (
	debounce      = 100 * time.Millisecond
	relearn       = time.Second
	relearnSeldom = 10 * time.Second
)

// close ends a connection and everything behind it.
func (e *entry) close(c *conn, grace time.Duration) {
	c.link.close(grace)
	e.log.close()
}

func (e *entry) grace() time.Duration {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.cfg.Stop.or(DefaultStop)
}

// drop forgets a connection that is gone, and counts its end against the server if that came by itself. The lock is held.
func (e *entry) drop(c *conn, why error) {
	if e.conn != c {
		return // it was dropped before
	}
	e.conn = nil
	var blameless blamelessError
	if why == nil || errors.Is(why, errClosed) || errors.As(why, &blameless) {
		return
	}
	now := e.pool.now()
	if now.Sub(e.ready) >= steady {
		e.respite = respite{}
		return
	}
	e.respite.failed(now, c.secrets.error(why), true)
}

// lost notes that a connection is gone. An end without a reason is our own wish, and a session that a server forgot is no fault.
func (e *entry) lost(c *conn, why error) {
	e.mu.Lock()
	e.drop(c, why)
	if e.conn == nil && e.attempt == nil { // else another attempt says how it is
		if why == nil || errors.Is(why, errSessionGone) {
			e.set(StateIdle, nil)
		} else {
			e.set(StateFailed, c.secrets.error(why))
		}
	}
	e.mu.Unlock()
	e.pool.rebuild()
	if why != nil {
		e.pool.logger.Warn("server gone", "server", e.name, "error", c.secrets.text(why.Error()))
	}
}

// forgive forgets what the respite and the breaker hold against a server: a person wants to try it now.
func (e *entry) forgive() {
	if e.builtin != nil {
		return
	}
	e.breaker.reset()
	e.mu.Lock()
	defer e.mu.Unlock()
	e.respite = respite{}
}

// learn lists what the server offers and publishes it.
func (e *entry) learn(c *conn) error {
	e.mu.Lock()
	old, cfg, digest := e.raw, e.cfg, e.digest
	e.mu.Unlock()
	ctx, cancel := context.WithTimeout(e.ctx, cfg.Start.or(DefaultStart))
	defer cancel()
	l, problems, err := c.learn(ctx, old)
	if err != nil {
		err = c.secrets.error(fmt.Errorf("learn its catalog: %w", err))
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
			l[k][i] = c.secrets.json(raw)
		}
	}
	about := c.about()
	c.link.knows(l[tools])
	e.mu.Lock()
	e.know(l, about, true)
	e.judged = c
	if e.conn == c {
		e.fault = nil
	}
	for _, p := range problems {
		e.leftOut = append(e.leftOut, c.secrets.text(p))
	}
	leftOut := e.leftOut
	e.mu.Unlock()
	for _, s := range leftOut {
		e.pool.logger.Warn("part of a catalog is left out", "server", e.name, "reason", s)
	}
	pinErr := e.pins.save() // first: a stored catalog without pins is held to be forged
	e.pool.rebuild()
	if pinErr != nil {
		return pinErr
	}
	return l.save(e.pool.catalogs, e.name, digest, about)
}

// know takes a listing over. The lock is held.
//
// live: the server itself said it just now.
func (e *entry) know(l listing, about About, live bool) {
	e.raw, e.about, e.known = l, about, true
	e.defs, e.temps, e.leftOut = l.definitions(e.name, e.cfg.Trust)
	e.sift(live)
}

// refresh starts the server if needed and learns its catalog.
func (e *entry) refresh(ctx context.Context) error {
	if e.builtin != nil {
		e.pool.rebuild()
		return nil
	}
	c, fresh, err := e.need(ctx)
	if err != nil {
		return err
	}
	if fresh { // its first lesson is on the way
		select {
		case <-c.first:
			return c.firstErr
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	w := make(chan error, 1)
	select {
	case c.wishes <- w:
	case <-c.link.gone():
		return c.calls.reason()
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
