// Package gate is the one door: every use of a tool, resource or prompt goes through [Gate.Call], which decides by policy, records, and
// only then reaches a backend. Surfaces hold a [session.Session] and translate a [DeniedError]; they decide nothing.
//
// The path of one call, with the file or package of each step:
//
//	Gate.Call     call.go       begins the span; takes up the call that the request continues
//	join          expected.go   adds what an agent's hook announced about the call
//	Snapshot      session       role and skills of the session, seen through the policy of now
//	decide        decide.go     arguments; facts (package facts); policy.Decide, for the caller and for each principal above it
//	Pass          limit         takes the tokens of the rates, before anybody is asked
//	approve       approve.go    waits for a person or a model if the decision is Ask, bound to the code that runs (package code);
//	                            then decides again
//	record        outcome.go    writes the decision: a call that is not recorded does not run
//	Enter         limit         takes a concurrency slot
//	run           call.go       a control tool (package control), or a backend; then the result's guard (package guard)
//	Done          outcome.go    writes the outcome, or keeps it as owed (owed.go)
//
// The packages of the room, from the bottom up: facts (what a call would do, and what a session wrote), code (the files that it would run),
// limit (rates and slots) and guard (results) know only the policy; view makes the lists that a session sees; session keeps credentials,
// roles and skills, and the calls that wait to be continued; control answers the gate's own tools. None of them imports gate.
package gate

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"time"

	"mycelium/internal/approval"
	"mycelium/internal/audit"
	"mycelium/internal/code"
	"mycelium/internal/credential/held"
	"mycelium/internal/gate/control"
	"mycelium/internal/gate/limit"
	"mycelium/internal/gate/session"
	"mycelium/internal/gate/view"
	"mycelium/internal/policy"
	"mycelium/internal/store"
	"mycelium/internal/telemetry"
	"mycelium/internal/worktree"
	"mycelium/internal/worktree/git"
)

// Peer is the client of one call: what a server says and asks while it is at work on that call goes there. The methods are
// safe for concurrent use until the call has returned.
//
// It is an alias, so that it is one type with the mcpclient.Peer of the same shape: the two rooms do not import each other.
type Peer = interface {
	// Capabilities are those that the client declared, a raw JSON object; nil: none. What it did not declare it is not asked.
	Capabilities() []byte
	// Notify passes a progress notification, a log line or a notification of an extension on. It never waits. params carry the
	// client's own progress token. It may still be called when the call has returned, for what outlives a call
	// (notifications/elicitation/complete, and those of a task); a client that is gone then is told nothing.
	Notify(method string, params []byte)
	// Ask passes a request of the server on (elicitation/create, sampling/createMessage, roots/list) and waits for the client's
	// answer, the raw result or the raw error object. err: nobody can be asked, the client is gone, or ctx ended.
	Ask(ctx context.Context, method string, params []byte) (result, rpcErr []byte, err error)
}

// Backends carries raw requests to servers. backend.Pool is one.
type Backends interface {
	// Do makes a request for a session, whose calls have their share of what all wait for.
	Do(ctx context.Context, scope policy.Scope, session, server, method string, params []byte, peer Peer) (result, rpcErr []byte, err error)
	// Subscribe asks a server to tell of every change of one resource: tell gets the raw params of notifications/resources/updated,
	// must not wait, and is not called after stop has returned.
	Subscribe(ctx context.Context, server, uri string, tell func(params []byte)) (stop func(), err error)
	Start(ctx context.Context, servers []string) error
}

// Options of a gate. All but DB, Limits, Gone, Reload, Reach, Logger, Meter, Tracer and Now are required: a gate without a log or a policy
// does not exist.
type Options struct {
	Backends Backends
	Log      *audit.Log
	DB       *store.DB // keeps minted sessions; nil: only opened ones exist (a hook without a daemon)
	World    view.World
	Dir      string                      // project folder, absolute, links resolved
	Home     string                      // the user's home folder, for ~ in arguments
	Written  string                      // folder, out of agents' reach, that keeps which files each session wrote; empty: memory only
	Inside   git.Inside                  // runs git in the trees of workers; nil: no question of git is answered there
	Limits   limit.Options               // where calls are counted, for all processes of the project; zero: in memory
	Workers  string                      // the folder with the git folders of the trees of workers; "": there are none
	Gone     func() string               // why Dir is not the folder that it was, so that nothing runs; "": it is. nil: nobody looks
	Reload   func(context.Context) error // what the control tool reload_skills does; nil: it refuses
	Scripts  control.Runner              // runs the scripts of skills; nil: the tool run_script refuses
	Agents   control.Starter             // runs sub-agents; nil: the tool spawn_sub_agent refuses
	Logger   *slog.Logger                // nil: discard
	Meter    *telemetry.Meter            // may be nil
	Tracer   *telemetry.Tracer           // may be nil
	Now      func() time.Time            // nil: time.Now

	Approvals *approval.Queue       // answers what the policy marks ask; nil: such calls are refused
	Reach     func() approval.Reach // who can be asked now; nil: somebody answers the queue
	// Row is told of each denial of a call, with how many there were in a row; it returns [DeniedError.Advice] and Halt. nil: nobody is told.
	Row func(s *session.Session, tool string, length int, reason string) (advice, halt string)
}

// Gate is the door. It is safe for concurrent use.
type Gate struct {
	// Sessions are those that may call.
	Sessions *session.Registry

	backends Backends
	log      *audit.Log
	dir      string
	trees    worktree.Cache // the working trees that belong to dir
	inside   git.Inside
	held     held.Reader // what is in the files that calls open
	home     string
	limits   *limit.Limits
	logger   *slog.Logger
	now      func() time.Time
	meter    *telemetry.Meter
	tracer   *telemetry.Tracer
	asks     *approval.Queue // nil: such calls are refused
	reach    func() approval.Reach
	where    code.Where    // where the code of a call is looked for
	gone     func() string // see Options.Gone
	row      func(s *session.Session, tool string, length int, reason string) (advice, halt string)

	control *control.Tools // the control tools
	owed    debts

	arrivals arrivals
	running  running
}

// New makes a gate.
func New(o Options) (*Gate, error) {
	switch {
	case o.Backends == nil:
		return nil, errors.New("make gate: no backends")
	case o.Log == nil:
		return nil, errors.New("make gate: no audit log: a call that cannot be recorded does not run")
	case o.World.Policy == nil || o.World.Skills == nil:
		return nil, errors.New("make gate: no policy")
	}
	g := &Gate{
		trees: worktree.Cache{Workers: o.Workers}, inside: o.Inside, backends: o.Backends, log: o.Log, dir: o.Dir, home: o.Home,
		logger: o.Logger, now: o.Now, meter: o.Meter, tracer: o.Tracer, asks: o.Approvals,
		row: o.Row, where: code.Where{Project: o.Dir, Home: o.Home, Path: os.Getenv("PATH")},
	}
	if g.logger == nil {
		g.logger = slog.New(slog.DiscardHandler)
	}
	if g.now == nil {
		g.now = time.Now
	}
	if g.gone = o.Gone; g.gone == nil {
		g.gone = func() string { return "" }
	}
	if g.reach = o.Reach; g.reach == nil {
		g.reach = func() approval.Reach { return approval.Reach{Mode: approval.Remote} }
	}
	g.limits = limit.New(o.Limits)
	g.Sessions = session.New(session.Options{
		Log: o.Log, DB: o.DB, World: o.World, Own: control.Definitions(), Dir: o.Dir, Trees: g.linked, Written: o.Written, Logger: g.logger, Meter: o.Meter,
		Now: g.now, Limits: g.limits, Start: o.Backends.Start, Forget: g.forget,
	})
	g.control = control.New(control.Tools{Sessions: g.Sessions, Reload: o.Reload, Scripts: o.Scripts, Agents: o.Agents, Logger: g.logger,
		Now: g.now, Asks: g.asks != nil})
	return g, nil
}

// Close ends the opened sessions and forgets the minted ones, which stay in the database: their Done channels close, and no
// timer is left behind. The gate must not be used after it.
func (g *Gate) Close() { g.Sessions.Close() }

// World returns the current world.
func (g *Gate) World() view.World { return g.Sessions.Catalog().World }

// Resolve returns the item that a client means by a name or URI. See [view.Catalog.Resolve].
func (g *Gate) Resolve(k policy.Kind, asked string) policy.Item {
	return g.Sessions.Catalog().Resolve(k, asked)
}

// ClientName returns the name or URI of an item in the form that clients use.
func (g *Gate) ClientName(it policy.Item) string { return g.Sessions.Catalog().ClientName(it) }

// Swap replaces the world. See [session.Registry.Swap].
func (g *Gate) Swap(w view.World) { g.Sessions.Swap(w) }

// forget drops what was answered for a session that is over, and denies what waits in it.
func (g *Gate) forget(ctx context.Context, id string) {
	if g.asks == nil {
		return
	}
	if err := g.asks.Forget(ctx, id); err != nil {
		g.logger.Error("what was approved for a session that is over is still in the database", "session", id, "error", err)
	}
}

// Instructions returns the text that the client of a session is given at its start.
func (g *Gate) Instructions(s *session.Session) string { return g.control.Instructions(s) }
