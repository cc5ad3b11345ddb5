// Package node is the process that owns a project: it opens, wires, reloads and closes the rooms below it. What commands, HTTP
// clients, chats and pages do with a project they do through its services: Approvals, Sessions, Tools, Skills, Servers and Runs.
package node

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"mycelium/internal/approval"
	"mycelium/internal/audit"
	"mycelium/internal/audit/index"
	"mycelium/internal/backend"
	"mycelium/internal/config"
	"mycelium/internal/daemon"
	"mycelium/internal/gate"
	"mycelium/internal/gate/limit"
	"mycelium/internal/gate/session"
	"mycelium/internal/gateway"
	"mycelium/internal/gateway/resource"
	"mycelium/internal/node/acts"
	"mycelium/internal/node/chat"
	"mycelium/internal/node/noted"
	"mycelium/internal/node/project"
	"mycelium/internal/node/roleprompt"
	"mycelium/internal/node/sandboxed"
	"mycelium/internal/node/spawned"
	"mycelium/internal/node/swarmed"
	"mycelium/internal/node/talks"
	"mycelium/internal/node/ungoverned"
	"mycelium/internal/node/waits"
	"mycelium/internal/op/failure"
	"mycelium/internal/policy"
	"mycelium/internal/run"
	"mycelium/internal/state"
	"mycelium/internal/store"
)

// Options are what a node is opened with.
type Options struct {
	*project.Loader
	// Kind is why it owns the project. A daemon stays: people are asked elsewhere, and calls are measured. Others live as long as a command.
	Kind daemon.Kind
	// Ask asks another owner to leave: see [daemon.Claim].
	Ask func(ctx context.Context, c *daemon.Client, of daemon.Kind) error
}

// stays reports whether the node is a daemon.
func (o *Options) stays() bool { return o.Kind == daemon.Automatic || o.Kind == daemon.Served }

// Node is the process that owns a project: it holds the lock and the socket, the log, the servers and the door. A command
// that finds no owner becomes one for as long as it runs; `myc serve` stays one.
type Node struct {
	Approvals *Approvals
	Sessions  *Sessions
	Tools     *Tools
	Skills    *Skills
	Servers   *Servers
	Runs      *Runs

	options  Options
	dir      string
	place    *heldFolder
	state    state.Paths
	paths    daemon.Paths
	owner    *daemon.Owner
	db       *store.DB
	log      *audit.Log
	index    *index.Index
	pool     *backend.Pool
	gate     *gate.Gate
	gateway  *gateway.Server
	files    *reloader
	hooks    *hookWatch
	environs *environs
	judge    *modelJudge
	chats    *chat.Chats
	prompts  *roleprompt.Prompts
	agents   *spawned.Agents
	metrics  *metrics
	waits    *waits.Desk
	keeping  *Keeping
	logger   *slog.Logger
	since    time.Time

	anonymous string             // role of callers without a token
	listener  net.Listener       // nil: no HTTP
	cancel    context.CancelFunc // ends Run
	open      context.Context    // ends with Close
	stopped   atomic.Bool        // a person has stopped it: nobody shall take its place to go on waiting
	leaveOnce sync.Once
	leaving   chan struct{} // closed by leave
	closers   []func()      // run in reverse by Close
}

// Own opens a project in this process and runs it until end is called. end waits for the calls of other processes that the node serves, and
// returns when everything is closed. When ctx is done it waits for nothing.
func Own(ctx context.Context, o Options) (n *Node, end func(), err error) {
	if n, err = Open(ctx, o); err != nil {
		return nil, nil, err
	}
	runCtx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	finished := make(chan struct{})
	go func() {
		defer close(finished)
		if err := n.Run(runCtx); err != nil && !errors.Is(err, context.Canceled) {
			n.logger.Warn("close project", "err", err)
		}
	}()
	return n, func() {
		n.leaveWith(ctx, cancel, finished)
		cancel()
		n.Close()
	}, nil
}

// Open takes the project and opens everything. The error is daemon.ErrOwned if another process has the project. Nothing runs
// until Run is called.
func Open(ctx context.Context, o Options) (_ *Node, err error) {
	n := &Node{options: o, logger: o.Logger(), since: time.Now(), leaving: make(chan struct{})}
	defer func() {
		if err != nil {
			n.Close()
		}
	}()
	open, end := context.WithCancel(context.WithoutCancel(ctx))
	n.open = open
	n.onClose(end)
	if n.state, err = o.Know(); err != nil {
		return nil, err
	}
	if n.dir, n.paths, err = o.Paths(); err != nil {
		return nil, err
	}
	if n.owner, err = daemon.Own(ctx, n.paths, daemon.Claim{Kind: o.Kind, Ask: o.Ask}); err != nil {
		return nil, err
	}
	n.onClose(func() { _ = n.owner.Close() })
	if n.place, err = holdFolder(n.dir); err != nil {
		return nil, err
	}
	n.onClose(n.place.Close)
	if o.Readable == nil { // the gate is there before the first call
		o.Readable = func(scope policy.Scope, path string) bool { return n.gate.MaySearch(scope, path) }
	}
	view, err := o.OpenView()
	if err != nil {
		return nil, err
	}
	n.onClose(view.Close)
	n.pool = view.Pool
	n.logger = o.Logger() // as the files say
	n.prompts = roleprompt.New(roleprompt.Folder(n.state), roleprompt.From(n.pool), time.Now, n.logger)
	n.onClose(n.prompts.Close)
	view.RolePrompt = n.prompts.Text
	n.files = newReloader(o.Loader, view, n.logger)
	n.files.serves = o.Kind == daemon.Served
	if err := n.openState(ctx, view.Project); err != nil {
		return nil, err
	}
	if o.stays() { // a command that owns the project for a moment tells nothing: status and doctor do
		n.files.log = n.log
	}
	if n.metrics, err = openMetrics(n); err != nil {
		return nil, err
	}
	if err := n.openServices(ctx, view); err != nil {
		return nil, err
	}
	return n, n.openGateway(ctx, view.Project.File.Server)
}

// openServices opens the queue of approvals, the gate and what stands on both.
func (n *Node) openServices(ctx context.Context, view *project.View) (err error) {
	n.judge = newJudge(n)
	n.onClose(n.judge.close)
	queue, err := approval.New(ctx, approval.Options{DB: n.db, Deadline: view.Project.File.Approval.Wait(), Judge: n.judge, Logger: n.logger,
		WriteRule: n.files.writeRule, Overruled: func(ctx context.Context, r approval.Request) string { return n.gate.Overruled(ctx, r) }})
	if err != nil {
		return err
	}
	n.onClose(queue.Close)
	n.agents = &spawned.Agents{Dir: n.dir, State: n.state, Environ: n.options.Environ, Keeper: n.pool.Keeper(), Expand: n.pool.Expand,
		BaseURL: n.judge.baseURL, Config: n.files.Project, Charge: func(s *session.Session, usd float64) { n.Runs.Charge(s, usd) }}
	n.gate, err = gate.New(gate.Options{
		Backends: n.pool, Log: n.log, DB: n.db, World: view.World(), Dir: n.dir, Home: view.Project.Home, Written: n.state.Written(), Workers: n.state.Workers(),
		Inside: swarmed.Inside(n.state),
		Limits: limit.Options{Folder: n.state.Limits()}, Agents: n.agents.Run, Gone: n.place.Gone, Reload: n.files.Reload, Logger: n.logger,
		Scripts: sandboxed.Scripts(view.Sandbox.Find, n.dir, n.state, view.Project.Home, n.options.Environ),
		Meter:   n.metrics.meter, Tracer: n.metrics.tracer, Approvals: queue, Reach: n.reach,
		Row: func(s *session.Session, tool string, length int, reason string) (advice, halt string) {
			return run.AtGateway(n.Runs.Registry, s, tool, length, reason)
		},
	})
	if err != nil {
		return err
	}
	n.onClose(n.gate.Close)
	mask := func(said string) string { return n.log.Secrets().Text(said) }
	view.Talks.Open(talks.Book(n.db, mask, filepath.Join(view.Project.State.Folder(), state.Talks)), n.judge.summaries().Summarize)
	inForce := func() *policy.Policy { return n.View().Policy }
	view.Memory.Open(n.db, inForce, noted.Guard(mask))
	view.Swarm.Open(swarmed.Daemon{DB: n.db, State: n.state, Environ: n.options.Environ, Project: n.files.Project, View: n.View,
		Model: n.agents.ModelOf}.Host())
	n.chats = chat.New(chat.Options{Dir: n.dir, Project: n.files.Project, Policy: inForce, Expand: n.pool.Expand, Queue: queue,
		Replies: n.judge, State: n.state, Logger: n.logger})
	n.files.post = n.chats.Post
	n.files.changed = func(next *project.View) {
		n.gate.Swap(next.World())
		conf := next.Project.File
		queue.SetDeadline(conf.Approval.Wait())
		n.log.Keep(conf.Audit.Redact, conf.Audit.Sync)
		n.renewAnonymous(conf.Server.Anonymous)
		n.chats.Renew()
	}
	acts := acts.Recorder{Log: n.log}
	n.Approvals = &Approvals{queue: queue, tokenFile: n.state.OperatorToken()}
	n.environs = &environs{state: n.state, log: n.log, logger: n.logger}
	n.Sessions = &Sessions{gate: n.gate, gateway: func() *gateway.Server { return n.gateway }, files: n.files, environs: n.environs,
		agents: n.agents, logger: n.logger}
	n.Tools = &Tools{gate: n.gate, pool: n.pool, sessions: n.Sessions, files: n.files, acts: acts, prompts: n.prompts, stopped: n.stopped.Load}
	n.Skills = &Skills{pool: n.pool, files: n.files, acts: acts}
	n.Servers = &Servers{pool: n.pool, files: n.files, environ: n.options.Environ, renew: n.chats.Renew}
	n.keeping = &Keeping{Queue: queue, Index: n.index, Policy: inForce, Acts: acts, Logger: n.logger}
	n.Runs = newRuns(n)
	n.chats.Runs = n.Runs.Registry
	n.waits = &waits.Desk{View: n.View, Held: n.Tools.Held, Agents: n.Runs.Sessions, Reload: n.files.Reload, Queue: queue, Acts: acts,
		DB: n.db, State: n.state}
	n.hooks = &hookWatch{state: n.state, environ: n.options.Environ, log: n.log, post: n.chats.Post, logger: n.logger,
		calls: ungoverned.Watch{Paths: n.state, Environ: n.options.Environ, Undecided: n.undecided}}
	return nil
}

// openState opens the log and the database.
func (n *Node) openState(ctx context.Context, p *config.Project) error {
	o, err := p.AuditLog()
	if err != nil {
		return err
	}
	if n.log, err = audit.Open(o); err != nil {
		return err
	}
	n.onClose(func() { _ = n.log.Close() })
	if n.db, err = store.Open(ctx, p.StoreURL()); err != nil {
		return err
	}
	n.onClose(func() { _ = n.db.Close() })
	n.index = index.New(n.db, o)
	return nil
}

// openGateway makes the MCP surface.
func (n *Node) openGateway(ctx context.Context, conf config.Server) error {
	anonymous, err := n.openAnonymous(ctx, conf.Anonymous)
	switch {
	case err != nil && n.log.Problem() != nil: // status and stop must work all the same
		n.logger.Error("server.anonymous: nobody is served without a token before a restart", "error", err)
	case err != nil:
		return failure.New(failure.Config, fmt.Errorf("server.anonymous: %w", err), "name a role that exists, or remove the key")
	}
	n.gateway = gateway.New(gateway.Options{
		Gate: n.gate, Version: n.options.Version, MaxBody: conf.MaxBody, Anonymous: anonymous, Hosts: conf.Hosts,
		OAuth: oauthOf(conf.OAuth), Idle: time.Duration(conf.Idle), Memory: n.pool.Memory(), Logger: n.logger,
	})
	n.onClose(n.gateway.Close)
	return nil
}

// oauthOf is server.oauth as the gateway takes it.
func oauthOf(o *config.OAuth) *resource.Config {
	if o == nil {
		return nil
	}
	return &resource.Config{
		Resource: o.Resource, Issuers: o.Issuers, Keys: o.JWKS, Audience: o.Audience, Scopes: o.Scopes, Algorithms: o.Algorithms,
		Principal: o.Claims.Principal, Role: o.Claims.Role, May: o.Claims.May, Roles: o.Roles, Bound: o.Bound, Skew: time.Duration(o.Skew),
	}
}

// View returns the files and the policy that are in force.
func (n *Node) View() *project.View { return n.files.View() }

// Addr returns the address on which HTTP is served, host and port; "" without HTTP.
func (n *Node) Addr() string {
	if n.listener == nil {
		return ""
	}
	return n.listener.Addr().String()
}

func (n *Node) onClose(f func()) { n.closers = append(n.closers, f) }

// Close gives everything back, in the reverse order of opening.
func (n *Node) Close() {
	for i := len(n.closers) - 1; i >= 0; i-- {
		n.closers[i]()
	}
	n.closers = nil
}
