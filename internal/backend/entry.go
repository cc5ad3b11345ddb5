package backend

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"mycelium/internal/backend/catalog"
	"mycelium/internal/backend/mcpclient"
	"mycelium/internal/backend/oauth"
	"mycelium/internal/backend/pin"
	"mycelium/internal/backend/serverlog"
	"mycelium/internal/backend/turns"
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
	log     *serverlog.Log // of its stderr

	unmatched atomic.Int64 // answers that reached no call

	mu               sync.Mutex
	cfg              Server
	digest           string // of cfg, for the stored catalog
	state            string
	since            time.Time
	fault            error       // why it failed, for people; it has no secrets
	conn             *connection // nil: not connected
	attempt          *attempt    // nil: no start is under way
	queue            *turns.Queue
	backoff          backoff
	ready            time.Time // when the connection was established
	starts           int       // attempts so far
	known            bool      // its catalog is known
	learning         bool      // its catalog is not known, and the first try to learn it is not over
	listing          catalog.Listing
	about            catalog.About
	definitions      []policy.Definition
	templates        []policy.Definition
	leftOut          []string
	pins             *pin.Pins
	held             []pin.Held
	skills           []pin.Served
	instructionsHeld bool             // its instructions are in quarantine
	checked          *connection      // whose definitions were last compared with the pins
	authority        *oauth.Authority // gets tokens for it; nil: none was needed yet, or none can be got
}

// attempt is one try to start a server. All who need the server wait for the same attempt.
type attempt struct {
	done chan struct{}
	conn *connection
	err  error
}

var errRemoved = errors.New("it was removed from the configuration, or the program is ending")

// connect returns a connection, and starts the server if there is none. fresh reports that the server was not connected before.
func (e *entry) connect(ctx context.Context) (c *connection, fresh bool, err error) {
	e.mu.Lock()
	// The connection has its error before the calls in flight fail with it, so that a caller that tries again gets a new connection.
	if c := e.conn; c != nil {
		err := c.Err()
		if err == nil {
			e.mu.Unlock()
			return c, false, nil
		}
		e.detach(c, err)
	}
	if e.cfg.Disabled {
		e.mu.Unlock()
		return nil, false, errors.New("it is disabled in the configuration")
	}
	a := e.attempt
	if a == nil {
		wait, err := e.backoff.delay(e.pool.now())
		if err != nil {
			e.mu.Unlock()
			return nil, false, err
		}
		a = &attempt{done: make(chan struct{})}
		if !e.pool.tasks.start(func() { e.run(a, wait) }) {
			e.mu.Unlock()
			return nil, false, errRemoved
		}
		e.attempt = a
		e.starts++
		e.setState(StateStarting, nil)
	}
	e.mu.Unlock()
	select {
	case <-a.done:
		return a.conn, true, a.err
	case <-ctx.Done():
		return nil, false, ctx.Err()
	}
}

// setState records a state. The lock is held.
func (e *entry) setState(state string, fault error) {
	e.state, e.fault, e.since = state, fault, e.pool.now()
}

// run makes one attempt and, if it succeeds, serves the connection until the connection ends.
func (e *entry) run(a *attempt, wait time.Duration) {
	if wait > 0 {
		_ = sleep(e.ctx, wait)
	}
	var c *connection
	err := e.ctx.Err()
	if err == nil {
		c, err = e.dial()
	}
	if e.ctx.Err() != nil && err != nil {
		err = errRemoved
	}
	e.mu.Lock()
	e.attempt = nil
	if err != nil {
		e.backoff.failed(e.pool.now(), err, run{})
		e.setState(StateFailed, err)
	} else {
		e.conn, e.ready = c, e.pool.now()
		e.setState(StateReady, nil)
	}
	grace := e.cfg.Stop.or(DefaultStop)
	e.mu.Unlock()
	a.err = err
	if err == nil {
		a.conn = c
	}
	close(a.done)
	if err != nil {
		level, login := slog.LevelWarn, (*oauth.AuthorizationError)(nil)
		if errors.As(err, &login) {
			level = slog.LevelInfo // no fault of the server: status, doctor and every call say what is missing
		}
		e.pool.logger.Log(e.ctx, level, "server did not start", "server", e.name, "error", err)
		e.pool.rebuild()
		if c != nil {
			e.close(c, grace)
		}
		return
	}
	e.pool.logger.Info("server ready", "server", e.name, "protocol", c.Version())
	e.serve(c)
}

// dial starts the server and does the handshake. With an error it may return a connection that has to be closed.
func (e *entry) dial() (*connection, error) {
	e.mu.Lock()
	cfg, known := e.cfg, e.about
	e.mu.Unlock()
	l, err := cfg.resolve(e.pool.dir, e.pool.variables(), e.pool.secret)
	if err != nil {
		return nil, err
	}
	if may := e.pool.mayStart; may != nil {
		if err := may(cfg); err != nil {
			return nil, err
		}
	}
	if err := l.confine(&cfg, e.pool.confine); err != nil {
		return nil, err
	}
	l.Authority = e.authorityFor(l)
	known.NoDiscovery = known.NoDiscovery || cfg.Legacy
	limit := cfg.Start.or(DefaultStart)
	ctx, cancel := context.WithTimeout(e.ctx, limit)
	defer cancel()
	c, err := e.open(ctx, l, known)
	if mcpclient.IsBroken(err) && ctx.Err() == nil {
		c.Close(cfg.Stop.or(DefaultStop))
		c, err = e.open(ctx, l, catalog.About{NoDiscovery: true})
	}
	if c != nil && errors.Is(err, context.DeadlineExceeded) {
		err = c.Explain(fmt.Sprintf("it was not ready within %v", limit))
	}
	if err != nil {
		return c, redactError(l.Secrets, err)
	}
	return c, nil
}

// open makes a connection and does the handshake. With an error it may return a connection that has to be closed.
func (e *entry) open(ctx context.Context, l *launch, known catalog.About) (*connection, error) {
	c := newConnection()
	c.secrets = l.Secrets
	var err error
	c.Conn, err = mcpclient.Open(&l.Target, e.pool.spawner, mcpclient.Options{
		ClientInfo: e.pool.client, Now: e.pool.now, AskLimit: e.askLimit, Stderr: e.log.Writer(l.Secrets),
		Changed: c.setChanged, Memory: e.pool.memory, Name: e.name, Odd: e.reportOdd,
		Updated: func(params []byte) { e.pool.subs.updated(e.name, params) }, Missed: func() { e.pool.subs.missed(e.name) },
	})
	if err != nil {
		return nil, err
	}
	return c, c.Handshake(ctx, known)
}

// reportOdd records an answer of the server that reached no call. Of many, the log has the first, the second, the fourth and so on.
func (e *entry) reportOdd(what string) {
	if n := e.unmatched.Add(1); n&(n-1) == 0 {
		e.log.Note(fmt.Sprintf("%s (%d so far)", what, n))
	}
}

// askLimit is how long a client may take for the answer to a request of this server.
func (e *entry) askLimit() time.Duration {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.cfg.Ask.or(mcpclient.DefaultAskLimit)
}

// close ends a connection and everything behind it.
func (e *entry) close(c *connection, grace time.Duration) {
	c.Close(grace)
	e.log.Close()
}

func (e *entry) grace() time.Duration {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.cfg.Stop.or(DefaultStop)
}

// detach forgets a connection that has ended, and counts its end as a failure of the server if the server is at fault. The lock is held.
func (e *entry) detach(c *connection, err error) {
	if e.conn != c {
		return // it was detached before
	}
	e.conn = nil
	if err == nil || errors.Is(err, mcpclient.ErrClosed) || mcpclient.IsKeeperFailure(err) {
		return
	}
	now := e.pool.now()
	lasted := now.Sub(e.ready)
	if lasted >= stableAfter {
		e.backoff = backoff{}
		return
	}
	e.backoff.failed(now, c.secrets.Error(err), run{started: true, lasted: lasted, answered: c.answered.Load()})
}

// disconnected records that a connection has ended. Without an error we ended it ourselves. A server that forgot our session has not
// failed.
func (e *entry) disconnected(c *connection, err error) {
	e.mu.Lock()
	e.detach(c, err)
	if e.conn == nil && e.attempt == nil { // otherwise the next attempt sets the state
		if err == nil || errors.Is(err, mcpclient.ErrSessionGone) {
			e.setState(StateIdle, nil)
		} else {
			e.setState(StateFailed, c.secrets.Error(err))
		}
	}
	e.mu.Unlock()
	e.pool.rebuild()
	if err != nil {
		e.pool.logger.Warn("server gone", "server", e.name, "error", c.secrets.Error(err))
	}
}

// resetFailures resets the backoff and the breaker of a server: a person wants to try it now.
func (e *entry) resetFailures() {
	if e.builtin != nil {
		return
	}
	e.breaker.reset()
	e.mu.Lock()
	defer e.mu.Unlock()
	e.backoff = backoff{}
}

// sleep waits, or ends with ctx.
func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
