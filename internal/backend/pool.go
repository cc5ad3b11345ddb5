package backend

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"mycelium/internal/backend/catalog"
	"mycelium/internal/backend/pin"
	"mycelium/internal/backend/serverlog"
	"mycelium/internal/keeper"
	"mycelium/internal/policy"
	"mycelium/internal/rawjson"
	"mycelium/internal/secret"
)

// ErrUnknownServer means that no server of that name is configured.
var ErrUnknownServer = errors.New("no such server")

// Pool holds the connections to all servers of a project. It is safe for concurrent use.
type Pool struct {
	dir      string
	catalogs string
	logs     string
	tokens   string // folder of the tokens for servers
	client   []byte // our clientInfo, raw
	builtins map[string]Builtin
	logger   *slog.Logger
	now      func() time.Time
	spawner  keeper.Spawner
	ctx      context.Context // ends with the pool
	cancel   context.CancelFunc
	tasks    taskGroup
	subs     subscriptions
	pins     *pin.Book

	mu      sync.Mutex
	vars    variables
	secrets *secret.Store // nil: the environment only
	entries map[string]*entry
	catalog Catalog
	changed chan struct{}
	renewed chan struct{} // closed when the set of servers is another
}

// taskGroup is the goroutines of a pool.
type taskGroup struct {
	wg sync.WaitGroup

	mu     sync.Mutex
	closed bool
}

// start runs f in a goroutine that wait waits for; false if wait was called.
func (c *taskGroup) start(f func()) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return false
	}
	c.wg.Go(f)
	return true
}

func (c *taskGroup) wait() {
	c.mu.Lock()
	c.closed = true
	c.mu.Unlock()
	c.wg.Wait()
}

// New makes a pool; nothing is started. What was learned earlier is read from Options.Catalogs. An entry that cannot work (a variable is
// missing, a command does not exist) is in the pool and failed; an error here means that names are not usable: config checks them first.
//
// Who makes a pool calls Run, which ends everything that the pool starts, also what was started before Run.
func New(servers []Server, o Options) (*Pool, error) {
	if !filepath.IsAbs(o.Dir) {
		return nil, fmt.Errorf("backend: the project folder %q is not an absolute path", o.Dir)
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Environ == nil {
		o.Environ = os.Environ()
	}
	if o.Version == "" {
		o.Version = "dev"
	}
	p := &Pool{
		dir: o.Dir, catalogs: o.Catalogs, logs: o.Logs, tokens: o.Tokens, builtins: o.Builtins, logger: o.Logger, now: time.Now,
		client: []byte(`{"name":"mycelium","version":` + string(rawjson.Quote(o.Version)) + `}`),
		vars:   environment(o.Environ), secrets: o.Secrets, entries: map[string]*entry{},
		changed: make(chan struct{}), renewed: make(chan struct{}), pins: pin.NewBook(o.Pins, time.Now),
	}
	p.spawner = keeper.New(o.Keeper, (&Server{}).childEnv(&expander{vars: p.vars}), o.Logger) // its environment is as bare as that of a server
	p.ctx, p.cancel = context.WithCancel(context.Background())
	if err := p.Reconfigure(servers); err != nil {
		p.cancel()
		return nil, err
	}
	return p, nil
}

// Reconfigure replaces the set of servers; those that did not change keep running. With an error nothing has changed.
func (p *Pool) Reconfigure(servers []Server) error {
	if err := p.checkNames(servers); err != nil {
		return err
	}
	p.mu.Lock()
	entries := make(map[string]*entry, len(servers)+len(p.builtins))
	for _, s := range servers {
		if s.Builtin != "" && p.builtins[s.Name] != nil {
			continue // the composition root has given it its arguments
		}
		if old := p.entries[s.Name]; old != nil && old.reconfigure(s) {
			entries[s.Name] = old
			continue
		}
		entries[s.Name] = p.newEntry(s)
	}
	for name, b := range p.builtins {
		if old := p.entries[name]; old != nil && old.builtin != nil {
			entries[name] = old
			continue
		}
		entries[name] = &entry{pool: p, name: name, builtin: b, state: StateBuiltin, since: p.now()}
	}
	for name, old := range p.entries {
		if entries[name] != old && old.stop != nil {
			old.stop()
		}
	}
	p.entries = entries
	close(p.renewed)
	p.renewed = make(chan struct{})
	p.mu.Unlock()
	p.rebuild()
	return nil
}

// checkNames refuses names that would make the text form server__name ambiguous, or take the place of a built-in server.
func (p *Pool) checkNames(servers []Server) error {
	seen := map[string]bool{}
	for _, s := range servers {
		builtin := p.builtins[s.Name] != nil
		switch {
		case !isServerName(s.Name):
			return fmt.Errorf("server %q: a name has lower-case letters, digits and '-', does not begin with '-', and is at most 64 bytes long", s.Name)
		case seen[s.Name]:
			return fmt.Errorf("server %q: defined twice", s.Name)
		case builtin && s.Builtin == "":
			return fmt.Errorf("server %q: the name belongs to a built-in server (hint: choose another name)", s.Name)
		case !builtin && (s.Name == policy.AgentServer || strings.HasPrefix(s.Name, "mycelium-")):
			return fmt.Errorf("server %q: the name is reserved (hint: choose another name)", s.Name)
		}
		seen[s.Name] = true
	}
	return nil
}

// newEntry makes an entry with what is known of its server.
func (p *Pool) newEntry(s Server) *entry {
	e := &entry{pool: p, name: s.Name, cfg: s, digest: s.digest(), queue: newQueue(&s), breaker: newBreaker(s.Name, p.logger), pins: p.pins.Of(s.Name, catalog.Stored(p.catalogs, s.Name))}
	e.log = serverlog.New(p.logs, s.Name, p.logger, p.now)
	e.ctx, e.stop = context.WithCancel(p.ctx)
	e.since = p.now()
	var l catalog.Listing
	about, known, err := l.Load(p.catalogs, s.Name, e.digest)
	if err != nil {
		p.logger.Warn("stored catalog not usable", "server", s.Name, "error", err)
	}
	if known {
		e.setListing(l, about, false)
	}
	e.setInitialState(p.vars)
	return e
}

// SetEnviron replaces what ${VAR} expands from. Servers that run keep what they were started with; those that failed for want of
// a variable may be tried again.
func (p *Pool) SetEnviron(environ []string) {
	p.mu.Lock()
	vars := environment(environ)
	if maps.Equal(vars, p.vars) {
		p.mu.Unlock()
		return
	}
	p.vars = vars
	for _, e := range p.entries {
		if e.builtin != nil {
			continue
		}
		e.mu.Lock()
		if e.conn == nil && e.attempt == nil {
			e.backoff = backoff{}
			e.setInitialState(p.vars)
		}
		e.mu.Unlock()
	}
	p.mu.Unlock()
	p.rebuild()
}

// SetSecrets replaces where ${secret:NAME} is looked for.
func (p *Pool) SetSecrets(s *secret.Store) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.secrets = s
}

// secret finds one that an entry names.
func (p *Pool) secret(source, name string) (string, error) {
	p.mu.Lock()
	s, vars := p.secrets, p.vars
	p.mu.Unlock()
	if s == nil {
		s = secret.New(secret.Options{})
	}
	return s.Lookup(source, name, func(name string) (string, bool) { v, ok := vars[name]; return v, ok })
}

func (p *Pool) variables() variables {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.vars
}

// maxLearning is how many never-seen servers are started at once to learn their catalogs. One that takes longer than learnTurn lets the next
// one begin. One that fails is tried again after learnRetryMin, and twice as long each time, up to learnRetryMax.
const (
	maxLearning   = 4
	learnTurn     = 3 * time.Second
	learnRetryMin = 5 * time.Second
	learnRetryMax = 10 * time.Minute
)

// learnFirst learns the catalog of a never-seen server.
func (e *entry) learnFirst(slots chan struct{}) {
	for wait := learnRetryMin; ; wait = min(2*wait, learnRetryMax) {
		select {
		case slots <- struct{}{}:
		case <-e.ctx.Done():
			return
		}
		turn := time.AfterFunc(learnTurn, func() { <-slots })
		err := e.refresh(e.ctx) // why it failed is in its status and in the log
		if turn.Stop() {
			<-slots
		}
		if err == nil || !e.neverLearned() || sleep(e.ctx, wait) != nil {
			return
		}
	}
}

// Run keeps the pool until ctx is done: it starts never-seen servers once to learn their catalogs, and ends every server and
// the keeper before it returns.
func (p *Pool) Run(ctx context.Context) error {
	var tried map[*entry]bool
	slots := make(chan struct{}, maxLearning)
	for ctx.Err() == nil {
		p.mu.Lock()
		renewed := p.renewed
		var fresh []*entry
		seen := make(map[*entry]bool, len(p.entries)) // those that were removed are forgotten
		for _, e := range p.entries {
			if seen[e] = tried[e]; !seen[e] && e.neverLearned() {
				seen[e] = true
				fresh = append(fresh, e)
			}
		}
		p.mu.Unlock()
		tried = seen
		for _, e := range fresh {
			p.tasks.start(func() { e.learnFirst(slots) })
		}
		select {
		case <-renewed:
		case <-ctx.Done():
		}
	}
	p.cancel()
	p.tasks.wait()
	p.spawner.Close()
	return nil
}

// neverLearned reports whether nothing is known of a server that could be started.
func (e *entry) neverLearned() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.builtin == nil && !e.known && e.state != StateDisabled
}

// Learn starts a server if needed and refreshes its catalog. Somebody who asks for that does not wait for the backoff.
func (p *Pool) Learn(ctx context.Context, server string) error {
	e := p.entry(server)
	if e == nil {
		return fmt.Errorf("server %q: %w", server, ErrUnknownServer)
	}
	e.resetFailures()
	if err := e.refresh(ctx); err != nil {
		return fmt.Errorf("server %q: %w", server, err)
	}
	return nil
}

func (p *Pool) entry(name string) *entry {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.entries[name]
}

// Start makes sure that the servers run. All are started at once; the error joins those of each.
func (p *Pool) Start(ctx context.Context, servers []string) error {
	errs := make([]error, len(servers))
	var wg sync.WaitGroup
	for i, name := range servers {
		e := p.entry(name)
		switch {
		case e == nil:
			errs[i] = fmt.Errorf("server %q: %w", name, ErrUnknownServer)
		case e.builtin == nil:
			wg.Go(func() {
				if _, _, err := e.connect(ctx); err != nil {
					errs[i] = fmt.Errorf("server %q: %w", name, err)
				}
			})
		}
	}
	wg.Wait()
	return errors.Join(errs...)
}

// Status lists the servers by name.
func (p *Pool) Status() []Status {
	p.mu.Lock()
	entries := maps.Clone(p.entries)
	p.mu.Unlock()
	var list []Status
	for _, name := range slices.Sorted(maps.Keys(entries)) {
		e := entries[name]
		s := e.status()
		if e.builtin != nil {
			defs, _ := builtinDefinitions(name, e.builtin)
			for _, d := range defs {
				if d.Item.Kind == policy.Tool {
					s.Tools++
				}
			}
		}
		list = append(list, s)
	}
	return list
}
