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
	"mycelium/internal/rpc"
	"mycelium/internal/secret"
	"mycelium/internal/text"
)

// ErrUnknownServer means that no server of that name is configured.
var ErrUnknownServer = errors.New("no such server")

// Pool holds the connections to all servers of a project. It is safe for concurrent use.
type Pool struct {
	dir      string
	catalogs string
	logs     string
	tokens   string // folder of the tokens for servers
	keepers  string // folder of the notes of keepers
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
	mayStart func(Server) error // nil: each may
	confine  Confine            // nil: there is no sandbox
	memory   *rpc.Memory

	mu           sync.Mutex
	vars         variables
	secrets      *secret.Store // nil: the environment only
	entries      map[string]*entry
	catalog      Catalog
	changed      chan struct{}
	reconfigured chan struct{} // closed when the set of servers changes
}

// taskGroup is the goroutines of a pool.
type taskGroup struct {
	wg sync.WaitGroup

	mu     sync.Mutex
	closed bool
}

// start runs f in a goroutine that wait waits for. It returns false if wait was called before.
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

// New makes a pool and starts no server. It reads the catalogs that were learned earlier. An entry that cannot work, because a variable is
// missing or a command does not exist, is in the pool with the state failed. An error means that a name is not usable.
//
// The caller has to call Run, which ends everything that the pool starts, even before Run.
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
		dir: o.Dir, catalogs: o.Catalogs, logs: o.Logs, tokens: o.Tokens, keepers: o.Keepers, builtins: o.Builtins, logger: o.Logger,
		now: time.Now, client: []byte(`{"name":"mycelium","version":` + string(rawjson.Quote(o.Version)) + `}`),
		mayStart: o.MayStart, confine: o.Confine, memory: o.Memory,
		vars: environment(o.Environ), secrets: o.Secrets, entries: map[string]*entry{},
		changed: make(chan struct{}), reconfigured: make(chan struct{}), pins: pin.NewBook(o.Pins, time.Now),
	}
	env := (&Server{}).childEnv(&expander{vars: p.vars}) // as bare as that of a server
	p.spawner = keeper.New(o.Keeper, env, o.Keepers, o.Logger)
	p.ctx, p.cancel = context.WithCancel(context.Background())
	if err := p.Reconfigure(servers); err != nil {
		p.cancel()
		return nil, err
	}
	return p, nil
}

// Keeper starts processes that end with the pool.
func (p *Pool) Keeper() keeper.Spawner { return p.spawner }

// Memory is the bound for the messages of the process, of which the pool is told with its options; it may be nil.
func (p *Pool) Memory() *rpc.Memory { return p.memory }

// Reconfigure replaces the set of servers. Servers that did not change keep running. After an error the set is unchanged.
func (p *Pool) Reconfigure(servers []Server) error {
	if err := p.checkNames(servers); err != nil {
		return err
	}
	p.mu.Lock()
	entries := make(map[string]*entry, len(servers)+len(p.builtins))
	for _, s := range servers {
		if s.Builtin != "" && p.builtins[s.Name] != nil {
			continue // its arguments were given to it when it was made
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
	close(p.reconfigured)
	p.reconfigured = make(chan struct{})
	p.mu.Unlock()
	p.rebuild()
	return nil
}

// isReconfigured returns a channel that is closed when the set of servers changes.
func (p *Pool) isReconfigured() <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.reconfigured
}

// checkNames refuses names that would make the text form server__name ambiguous, or take the place of a built-in server.
func (p *Pool) checkNames(servers []Server) error {
	seen := map[string]bool{}
	for _, s := range servers {
		builtin := p.builtins[s.Name] != nil
		switch {
		case !isServerName(s.Name):
			return fmt.Errorf("server %q: a name has lower-case letters, digits and '-', does not begin with '-', and is at most 64 bytes long",
				s.Name)
		case seen[s.Name]:
			return fmt.Errorf("server %q: defined twice", s.Name)
		case builtin && s.Builtin == "":
			return text.Hinted(fmt.Errorf("server %q: the name belongs to a built-in server", s.Name), "choose another name")
		case !builtin && (s.Name == policy.AgentServer || strings.HasPrefix(s.Name, "mycelium-")):
			return text.Hinted(fmt.Errorf("server %q: the name is reserved", s.Name), "choose another name")
		}
		seen[s.Name] = true
	}
	return nil
}

// newEntry makes an entry, with the stored catalog of its server.
func (p *Pool) newEntry(s Server) *entry {
	e := &entry{
		pool: p, name: s.Name, cfg: s, digest: s.digest(), queue: newQueue(&s), breaker: newBreaker(s.Name, p.logger),
		pins: p.pins.Of(s.Name, catalog.Stored(p.catalogs, s.Name)),
	}
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
	e.learning = !known && !s.Disabled
	return e
}

// SetEnviron replaces the source of ${VAR}. Running servers keep their environment. Servers that failed because a variable was missing
// may be tried again.
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

// SetSecrets replaces the source of ${secret:NAME}.
func (p *Pool) SetSecrets(s *secret.Store) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.secrets = s
}

// secret finds a secret that an entry names.
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

// maxLearning is how many servers are started at once to learn their catalogs for the first time. After learnTurn the next server is
// started although the one before it has not finished. A server that fails is tried again after learnRetryMin, and then after twice the
// time, up to learnRetryMax.
const (
	maxLearning   = 4
	learnTurn     = 3 * time.Second
	learnRetryMin = 5 * time.Second
	learnRetryMax = 10 * time.Minute
)

// learnFirst learns the catalog of a server for the first time.
func (e *entry) learnFirst(slots chan struct{}) {
	for wait := learnRetryMin; ; wait = min(2*wait, learnRetryMax) {
		select {
		case slots <- struct{}{}:
		case <-e.ctx.Done():
			return
		}
		turn := time.AfterFunc(learnTurn, func() { <-slots })
		err := e.refresh(e.ctx) // the status and the log say why it failed
		if turn.Stop() {
			<-slots
		}
		e.endLearning()
		if err == nil || !e.neverLearned() || sleep(e.ctx, wait) != nil {
			return
		}
	}
}

// endLearning says that the first try to learn the catalog is over. Nobody waits for a further one.
func (e *entry) endLearning() {
	e.mu.Lock()
	was := e.learning
	e.learning = false
	e.mu.Unlock()
	if was {
		e.pool.rebuild()
	}
}

// Run runs the pool until ctx is done. It ends what earlier keepers left behind, and starts servers whose catalog is not known, to learn
// it. It ends every server and the keeper before it returns.
func (p *Pool) Run(ctx context.Context) error {
	p.tasks.start(func() {
		if err := keeper.EndLeft(p.ctx, p.keepers, p.logger); err != nil && p.ctx.Err() == nil {
			p.logger.Warn("what earlier servers left behind was not looked for", "error", err)
		}
	})
	var tried map[*entry]bool
	slots := make(chan struct{}, maxLearning)
	for ctx.Err() == nil {
		p.mu.Lock()
		reconfigured := p.reconfigured
		var fresh []*entry
		seen := make(map[*entry]bool, len(p.entries)) // without the removed ones
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
		case <-reconfigured:
		case <-ctx.Done():
		}
	}
	p.cancel()
	p.tasks.wait()
	p.spawner.Close()
	return nil
}

// neverLearned reports whether the catalog of a server is not known, and the server could be started.
func (e *entry) neverLearned() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.builtin == nil && !e.known && e.state != StateDisabled
}

// Learn starts a server if needed and refreshes its catalog. It resets the backoff and the breaker: a person asks for it.
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

// Start makes sure that the servers run. It starts all at once, and joins their errors.
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

// Status lists the servers, sorted by name.
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
