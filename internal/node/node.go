// Package node is the process that owns a project: it opens, wires, reloads and closes everything below it, and serves what commands, HTTP
// clients and chats ask of it.
package node

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"mycelium/internal/approval"
	"mycelium/internal/atomicfile"
	"mycelium/internal/audit"
	"mycelium/internal/backend"
	"mycelium/internal/config"
	"mycelium/internal/daemon"
	"mycelium/internal/gate"
	"mycelium/internal/gateway"
	"mycelium/internal/node/failure"
	"mycelium/internal/node/project"
	"mycelium/internal/policy"
	"mycelium/internal/run"
	"mycelium/internal/store"
)

// Own opens the project in this process and runs it until end is called, which returns when everything is closed.
func Own(ctx context.Context, o Options) (n *Node, end func(), err error) {
	if n, err = Open(ctx, o); err != nil {
		return nil, nil, err
	}
	runCtx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	finished := make(chan error, 1)
	go func() { finished <- n.Run(runCtx) }()
	return n, func() {
		cancel()
		if err := <-finished; err != nil && !errors.Is(err, context.Canceled) {
			n.logger.Warn("close project", "err", err)
		}
		n.Close()
	}, nil
}

// Node is the process that owns a project: it holds the lock and the socket, the log, the servers and the door. A command
// that finds no owner becomes one for as long as it runs; `myc serve` stays one.
type Node struct {
	Options
	dir     string
	paths   daemon.Paths
	owner   *daemon.Owner
	db      *store.DB
	log     *audit.Log
	index   *audit.Index
	pool    *backend.Pool
	gate    *gate.Gate
	gateway *gateway.Server
	asks    *approval.Queue
	runs    *run.Registry
	chats   chats
	lookers atomic.Int64 // terminals that show the queue
	logger  *slog.Logger
	measuring
	judging
	since  time.Time
	cancel context.CancelFunc // ends run

	reloading sync.Mutex // held while files are read and compiled
	mu        sync.Mutex // guards what follows
	view      *project.View
	bad       []policy.Problem // why the files on disk are not what is in force; nil: they are
	addr      string           // of the HTTP listener; empty: none
	listener  net.Listener
	handed    []string // variables from clients, NAME=VALUE
	closers   []func() // run in reverse by close
}

// Options are what a node is opened with.
type Options struct {
	*project.Loader
	Daemon bool // it stays: people are asked elsewhere, and what happens is measured
	Serves bool // a person has started it
	Auto   bool // an attaching client has started it: it ends when idle
}

// Open takes the project and opens everything; daemon.ErrOwned if another process has it. Nothing runs until run.
func Open(ctx context.Context, o Options) (_ *Node, err error) {
	dir, err := o.ProjectDir()
	if err != nil {
		return nil, err
	}
	paths, err := daemon.PathsOf(dir)
	if err != nil {
		return nil, err
	}
	n := &Node{Options: o, dir: dir, paths: paths, logger: o.Logger(), since: time.Now(), chats: newChats()}
	defer func() {
		if err != nil {
			n.Close()
		}
	}()
	if n.owner, err = daemon.Own(paths); err != nil {
		return nil, err
	}
	n.onClose(func() { _ = n.owner.Close() })
	if err := n.setForeignStateAside(); err != nil {
		return nil, err
	}
	if n.view, err = o.OpenView(); err != nil {
		return nil, err
	}
	n.onClose(n.view.Close)
	n.pool = n.view.Pool
	n.view.Files.Readable = n.readable
	n.keepProblems(n.view)
	if err := n.openState(ctx); err != nil {
		return nil, err
	}
	n.logger = o.Logger() // as the files say
	if err := n.openTelemetry(); err != nil {
		return nil, err
	}
	if err := n.openApprovals(ctx); err != nil {
		return nil, err
	}
	n.gate, err = gate.New(gate.Options{
		Backends: n.pool, Log: n.log, DB: n.db, World: n.view.World(), Dir: dir, Home: n.view.Project.Home,
		Reload: n.reload, Logger: n.logger, Meter: n.meter, Tracer: n.tracer, Approvals: n.asks,
	})
	if err != nil {
		return nil, err
	}
	n.onClose(n.gate.Close)
	n.openRuns()
	return n, n.openGateway(ctx)
}

// setForeignStateAside moves away state that this user's program did not write: a clone may bring a database with sessions whose
// tokens its author knows, and catalogs that its author wrote. Ours has a key outside of the project. A log without its key is refused by
// audit.Open, which says what to do.
func (n *Node) setForeignStateAside() error {
	state, err := config.StateDir()
	if err != nil {
		return err
	}
	if _, err := os.Stat(filepath.Join(state, "audit", project.ProjectKey(n.dir))); err == nil {
		return nil
	}
	for _, name := range []string{"mycelium.db", "catalog"} {
		path := filepath.Join(n.dir, ".mycelium", name)
		if _, err := os.Lstat(path); err != nil {
			continue
		}
		aside := path + ".foreign-" + time.Now().UTC().Format("20060102T150405")
		if err := os.Rename(path, aside); err != nil {
			return fmt.Errorf("set foreign state aside: %w", err)
		}
		n.logger.Warn("state that was not written here is set aside", "was", path, "now", aside)
	}
	return nil
}

// openState opens the database and the log.
func (n *Node) openState(ctx context.Context) error {
	o, err := project.AuditOptions(n.view.Project)
	if err != nil {
		return err
	}
	// State belongs to this machine: git is told so from inside the folder, and nobody has to think of it.
	ignore := filepath.Join(n.dir, ".mycelium", ".gitignore")
	if _, err := os.Lstat(ignore); errors.Is(err, fs.ErrNotExist) {
		if err := atomicfile.Note(ignore, []byte("*\n"), 0o600); err != nil {
			return err
		}
	}
	if n.log, err = audit.Open(o); err != nil {
		return err
	}
	n.onClose(func() { _ = n.log.Close() })
	if n.db, err = store.Open(ctx, project.StoreURL(n.view.Project)); err != nil {
		return err
	}
	n.onClose(func() { _ = n.db.Close() })
	n.index = audit.NewIndex(n.db, o)
	return nil
}

func (n *Node) openGateway(ctx context.Context) error {
	srv := n.view.Project.File.Server
	var anonymous *gate.Session
	if srv.Anonymous != "" {
		s, err := n.gate.Open(ctx, gate.Spec{Name: "anonymous", Principal: "anonymous", Role: srv.Anonymous})
		if err != nil {
			return failure.Config(fmt.Errorf("server.anonymous: %w", err), "name a role that exists, or remove the key")
		}
		anonymous = s
	}
	n.gateway = gateway.New(gateway.Options{
		Gate: n.gate, Version: n.Version, MaxBody: srv.MaxBody, Anonymous: anonymous, Hosts: srv.Hosts, OAuth: oauthOf(srv.OAuth), Logger: n.logger,
	})
	n.onClose(n.gateway.Close)
	return nil
}

// oauthOf is server.oauth as the gateway takes it.
func oauthOf(o *config.OAuth) *gateway.OAuth {
	if o == nil {
		return nil
	}
	return &gateway.OAuth{
		Resource: o.Resource, Issuers: o.Issuers, Keys: o.JWKS, Audience: o.Audience, Scopes: o.Scopes, Algorithms: o.Algorithms,
		Principal: o.Claims.Principal, Role: o.Claims.Role, May: o.Claims.May, Roles: o.Roles, Bound: o.Bound, Skew: time.Duration(o.Skew),
	}
}

func (n *Node) onClose(f func()) { n.closers = append(n.closers, f) }

// Close gives everything back, in the reverse order of opening.
func (n *Node) Close() {
	for i := len(n.closers) - 1; i >= 0; i-- {
		n.closers[i]()
	}
	n.closers = nil
}
