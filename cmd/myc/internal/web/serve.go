package web

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"reflect"

	"mycelium/internal/config"
	"mycelium/internal/config/pages"
	"mycelium/internal/node/acts"
	"mycelium/internal/node/project"
	"mycelium/internal/op/failure"
	"mycelium/internal/state"
	"mycelium/internal/text"
	"mycelium/internal/web"
	"mycelium/internal/web/served"
	"mycelium/internal/web/site"
)

// user reads the user's own files, which are in force as they were accepted.
func (a *app) user(root state.Root) *project.Loader {
	return &project.Loader{Outside: true, Dir: root.Pages(), StateDir: string(root), Environ: a.Environ, Agent: a.Agent, Err: a.Err,
		Version: a.Version}
}

// section is where and for whom to serve: what the flags say, else the environment, else the user's own file, else the usual address.
func (a *app) section(root state.Root, o options) (pages.Section, error) {
	p, err := a.user(root).Load()
	if err != nil {
		return pages.Section{}, err
	}
	if p.Broken.All != "" {
		return pages.Section{}, failure.New(failure.Config,
			fmt.Errorf("web: it cannot be told what web: in your own file says: %s", p.Broken.All), "myc doctor says what is wrong")
	}
	return a.chosen(p.File.Web, o), nil
}

// chosen is a section with what takes precedence over the file.
func (a *app) chosen(s pages.Section, o options) pages.Section {
	s.Addr = cmp.Or(s.Addr, web.DefaultAddr)
	if port := a.Getenv("DASHBOARD_PORT"); port != "" {
		host, _, err := net.SplitHostPort(s.Addr)
		if err != nil {
			host = "127.0.0.1"
		}
		s.Addr = net.JoinHostPort(host, port)
	}
	s.Addr = cmp.Or(o.addr, s.Addr)
	if o.cert != "" || o.key != "" {
		s.Cert, s.Key = o.cert, o.key
	}
	return s
}

// site says whose projects are shown, and how.
func (a *app) site(root state.Root) site.Options {
	return site.Options{Root: root, Runtime: a.Getenv("XDG_RUNTIME_DIR"), Version: a.Version, Records: a.records, Index: a.index,
		Load:    func(p state.Paths) (*config.Project, error) { return a.there(p).Load() },
		Environ: a.Environ,
		Record: func(ctx context.Context, act any, note string) error {
			return a.record(ctx, root, "browser", act, note)
		},
		Tell: func(line string) { fmt.Fprintln(a.Err, "myc: "+text.OneLine(line)) }}
}

// record writes what a browser did, or was done to one, into the log of the user, which also has the calls outside of every project.
func (a *app) record(ctx context.Context, root state.Root, surface string, act any, note string) error {
	if err := os.MkdirAll(root.Pages(), 0o700); err != nil {
		return fmt.Errorf("web: make the folder of the pages: %w", err)
	}
	p, err := a.user(root).Load()
	if err != nil {
		return err
	}
	_, err = acts.RecordFrom(ctx, p, surface, act, note)
	return err
}

// automatic serves the pages for a daemon that found no server: nobody is told a link, and it ends when nobody needs it. It is started
// twice, because the daemon may be the child of an agent, and what an agent has started may not answer for a person: the second one is a
// child of nobody.
func (a *app) automatic(ctx context.Context, o options) error {
	a.Agent = true // only what is accepted counts, and nothing of an environment that may be an agent's
	root, err := a.root()
	if err != nil {
		return err
	}
	if !o.apart {
		argv, err := commandLine(root, "--apart")
		if err != nil {
			return err
		}
		return served.Start(root, argv, a.Environ)
	}
	for {
		again, err := a.follow(ctx, root, o)
		if !again {
			return err
		}
	}
}

// follow serves as the accepted file says, until ctx is done, nobody needs it, or the file says something else. again: it serves anew.
func (a *app) follow(ctx context.Context, root state.Root, o options) (again bool, err error) {
	person := ctx
	ctx, cancel := context.WithCancel(person)
	defer cancel()
	p, err := a.user(root).Load()
	conf := pages.Section{}
	if err == nil && p.Broken.All == "" {
		conf = p.File.Web
	} // else what is accepted is not known: the usual address, of this machine alone, is always allowed
	s, err := web.Open(ctx, a.chosen(conf, o), a.site(root))
	if errors.Is(err, web.ErrRuns) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	changed := false
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		if p == nil {
			return
		}
		_ = config.Watch(ctx, p, func() {
			if next, err := a.user(root).Load(); err == nil && !reflect.DeepEqual(next.File.Web, conf) {
				changed = true
				cancel()
			}
		}) // without a watch it serves as before
	}()
	err = s.RunWhileNeeded(ctx)
	cancel()
	<-watched
	// A daemon that began while this server ended found the lock taken, and started none.
	return err == nil && person.Err() == nil && (changed || s.Needed()), err
}
