package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
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
	"mycelium/internal/hook"
	"mycelium/internal/policy"
	"mycelium/internal/store"
)

// node is the process that owns a project: it holds the lock and the socket, the log, the servers and the door. A command
// that finds no owner becomes one for as long as it runs; `myc serve` stays one.
type node struct {
	app     *app
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
	hooks   *hook.Host
	chats   chats
	lookers atomic.Int64 // terminals that show the queue
	logger  *slog.Logger
	measuring
	judging
	since  time.Time
	cancel context.CancelFunc // ends run
	auto   bool               // started by an attaching client: ends when idle

	reloading sync.Mutex // held while files are read and compiled
	mu        sync.Mutex // guards what follows
	view      *view
	bad       []policy.Problem // why the files on disk are not what is in force; nil: they are
	addr      string           // of the HTTP listener; empty: none
	listener  net.Listener
	handed    []string // variables from clients, NAME=VALUE
	closers   []func() // run in reverse by close
}

// openNode takes the project and opens everything; daemon.ErrOwned if another process has it. Nothing runs until run.
func (a *app) openNode(ctx context.Context) (_ *node, err error) {
	dir, err := a.projectDir()
	if err != nil {
		return nil, err
	}
	paths, err := daemon.PathsOf(dir)
	if err != nil {
		return nil, err
	}
	n := &node{app: a, dir: dir, paths: paths, logger: a.logger(), since: time.Now(), chats: newChats()}
	defer func() {
		if err != nil {
			n.close()
		}
	}()
	if n.owner, err = daemon.Own(paths); err != nil {
		return nil, err
	}
	n.onClose(func() { _ = n.owner.Close() })
	if err := n.setForeignStateAside(); err != nil {
		return nil, err
	}
	if n.view, err = a.look(); err != nil {
		return nil, err
	}
	n.onClose(n.view.close)
	n.pool = n.view.pool
	n.view.files.Readable = n.readable
	n.keepProblems(n.view)
	if err := n.openState(ctx); err != nil {
		return nil, err
	}
	n.logger = a.logger() // as the files say
	if err := n.openTelemetry(); err != nil {
		return nil, err
	}
	if err := n.openApprovals(ctx); err != nil {
		return nil, err
	}
	n.gate, err = gate.New(gate.Options{
		Backends: n.pool, Log: n.log, DB: n.db, World: n.view.world(), Dir: dir, Home: n.view.project.Home,
		Reload: n.reload, Logger: n.logger, Meter: n.meter, Tracer: n.tracer, Approvals: n.asks,
	})
	if err != nil {
		return nil, err
	}
	n.onClose(n.gate.Close)
	n.openHooks()
	return n, n.openGateway(ctx)
}

// setForeignStateAside moves away state that this user's program did not write: a clone may bring a database with sessions whose
// tokens its author knows, and catalogs that its author wrote. Ours has a key outside of the project. A log without its key is refused by
// audit.Open, which says what to do.
func (n *node) setForeignStateAside() error {
	state, err := config.StateDir()
	if err != nil {
		return err
	}
	if _, err := os.Stat(filepath.Join(state, "audit", projectKey(n.dir))); err == nil {
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
func (n *node) openState(ctx context.Context) error {
	o, err := auditOptions(n.view.project)
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
	if n.db, err = store.Open(ctx, storeURL(n.view.project)); err != nil {
		return err
	}
	n.onClose(func() { _ = n.db.Close() })
	n.index = audit.NewIndex(n.db, o)
	return nil
}

func (n *node) openGateway(ctx context.Context) error {
	srv := n.view.project.File.Server
	var anonymous *gate.Session
	if srv.Anonymous != "" {
		s, err := n.gate.Open(ctx, gate.Spec{Name: "anonymous", Principal: "anonymous", Role: srv.Anonymous})
		if err != nil {
			return configError(fmt.Errorf("server.anonymous: %w", err), "name a role that exists, or remove the key")
		}
		anonymous = s
	}
	n.gateway = gateway.New(gateway.Options{
		Gate: n.gate, Version: version(), MaxBody: srv.MaxBody, Anonymous: anonymous, Hosts: srv.Hosts, OAuth: oauthOf(srv.OAuth), Logger: n.logger,
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

func (n *node) onClose(f func()) { n.closers = append(n.closers, f) }

// close gives everything back, in the reverse order of opening.
func (n *node) close() {
	for i := len(n.closers) - 1; i >= 0; i-- {
		n.closers[i]()
	}
	n.closers = nil
}

// projectKey names a project outside of it: the first 16 bytes of the SHA-256 of its folder.
func projectKey(dir string) string {
	sum := sha256.Sum256([]byte(dir))
	return hex.EncodeToString(sum[:16])
}

// auditOptions locate the log of a project: segments inside it, key and checkpoint outside.
func auditOptions(p *config.Project) (audit.Options, error) {
	state, err := config.StateDir()
	if err != nil {
		return audit.Options{}, err
	}
	dir := p.File.Audit.Dir
	if dir == "" {
		dir = filepath.Join(".mycelium", "audit")
	}
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(p.Dir, dir)
	}
	lock := filepath.Join(p.Dir, ".mycelium", "audit.lock")
	if err := os.MkdirAll(filepath.Dir(lock), 0o700); err != nil {
		return audit.Options{}, fmt.Errorf("make state folder: %w", err)
	}
	return audit.Options{
		Dir: dir, Lock: lock, KeyDir: filepath.Join(state, "audit", projectKey(p.Dir)),
		Redact: p.File.Audit.Redact, Sync: p.File.Audit.Sync,
	}, nil
}

// storeURL is the database of a project.
func storeURL(p *config.Project) string {
	if p.File.Store != "" {
		return p.File.Store
	}
	return "sqlite://" + filepath.Join(p.Dir, ".mycelium", "mycelium.db")
}
