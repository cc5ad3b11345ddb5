package project

import (
	"context"
	"os"
	"time"

	"mycelium/internal/backend"
	"mycelium/internal/config"
	"mycelium/internal/node/sandboxed"
	"mycelium/internal/policy"
	"mycelium/internal/rpc"
	"mycelium/internal/secret"
)

// Probe is what one start of a server told.
type Probe struct {
	Status  backend.Status
	Tools   []policy.Definition
	Review  []backend.Reviewed // what the scan found
	Err     error              // why it did not start or did not say what it offers; nil: it works
	Elapsed time.Duration
}

// Probe starts a server once, in the way in which it is started for a client, asks what it offers, and ends it. keep stores what it offers
// as its catalog and its pins; without it the probe leaves nothing behind. The start is bounded by the start timeout of the server.
// may says whether the server may be started; nil: a person has just named it.
func (l *Loader) Probe(ctx context.Context, p *config.Project, s backend.Server, keep bool, may func(backend.Server) error) Probe {
	began := time.Now()
	self, err := os.Executable()
	if err != nil {
		return Probe{Err: err}
	}
	o := backend.Options{Dir: p.Dir, Tokens: p.State.ServerTokens(), MayStart: may, Secrets: secret.New(p.SecretOptions()),
		Confine: sandboxed.Confine(p.File.Sandbox.Find, p.Dir, p.State, p.Home),
		Environ: l.Environ, Keeper: []string{self, "keeper"}, Version: l.Version, Keepers: p.State.Keepers(),
		Memory: rpc.NewMemory(rpc.DefaultMemory)}
	if keep {
		o.Catalogs, o.Pins, o.Logs = p.State.Catalogs(), p.State.Pins(), p.State.ServerLogs()
	}
	pool, err := backend.New([]backend.Server{s}, o)
	if err != nil {
		return Probe{Err: err}
	}
	running, end := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() { defer close(ended); _ = pool.Run(running) }()
	limit := backend.DefaultStart
	if s.Start > 0 {
		limit = time.Duration(s.Start)
	}
	bounded, cancel := context.WithTimeout(ctx, 2*limit) // the handshake has its own bound; the lists come after it
	defer cancel()
	out := Probe{Err: pool.Learn(bounded, s.Name)}
	for _, st := range pool.Status() {
		if st.Name == s.Name {
			out.Status = st
		}
	}
	for _, d := range pool.Catalog().Definitions {
		if d.Item.Server == s.Name && d.Item.Kind == policy.Tool {
			out.Tools = append(out.Tools, d)
		}
	}
	out.Review = pool.Review()
	end()
	<-ended
	out.Elapsed = time.Since(began)
	return out
}
