// Package web has the command that serves the pages for a browser, and those about the browsers that are signed in.
package web

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"mycelium/cmd/myc/internal/base"
	"mycelium/internal/audit/index"
	"mycelium/internal/node/project"
	"mycelium/internal/op/failure"
	"mycelium/internal/state"
	"mycelium/internal/web"
	"mycelium/internal/web/served"
)

// app is the program with the commands of this family.
type app struct{ *base.App }

// The acts of a person, for a refusal to an agent.
const (
	actServe   = "open the pages"
	actDevices = "look at the browsers that are signed in"
	actRevoke  = "sign a browser out"
	actAdd     = "make a key for a program, with which it acts for you"
	actRequest = "send a request to the pages in your name"
)

type options struct {
	addr, cert, key string
	open            bool
	printURL        bool
	pair            bool
	auto, apart     bool
}

// Command is `myc web`.
func Command(b *base.App) *cobra.Command {
	a := &app{b}
	var o options
	c := &cobra.Command{
		Use: "web", Short: "Answer and look in a browser, for all your projects", Args: base.NoArgs,
		Long: "Serve the pages until Ctrl-C: the inbox of the calls that wait for you, what is at work, and the log, of all your projects.\n" +
			"They are at " + web.DefaultAddr + ", for this machine only. A browser signs in with a link that is printed here, on a terminal\n" +
			"only; it is good once, and for one minute. If the pages are served already, this prints a new link for them: the first daemon\n" +
			"starts them, unless ENABLE_DASHBOARD=false. --pair shows the link as a QR code for a phone; for that the pages have to be\n" +
			"reachable from it, over TLS. DASHBOARD_PORT, and web: in your own mycelium.yaml, choose the address.",
		Example: "  myc web --open\n  myc web --print-url   # a link for another browser, while the pages are served\n" +
			"  myc web --addr 0.0.0.0:3456 --tls-cert own --pair",
		RunE: func(c *cobra.Command, _ []string) error { return a.web(c.Context(), o) },
	}
	f := c.Flags()
	f.StringVar(&o.addr, "addr", "", "address to listen on (default: DASHBOARD_PORT, else web.addr, else "+web.DefaultAddr+")")
	f.StringVar(&o.cert, "tls-cert", "", "file with the certificate, or own: one that Mycelium makes (default: web.cert)")
	f.StringVar(&o.key, "tls-key", "", "file with the key of the certificate (default: web.key)")
	f.BoolVar(&o.open, "open", false, "open the link in a browser, where there is one")
	f.BoolVar(&o.printURL, "print-url", false, "only print a link for the pages that are served already")
	f.BoolVar(&o.pair, "pair", false, "show a QR code for a phone")
	f.BoolVar(&o.auto, "auto", false, "started by a daemon: no link, ends when nobody needs it")
	f.BoolVar(&o.apart, "apart", false, "with --auto: it is no child of the daemon any more")
	for _, name := range []string{"auto", "apart"} {
		_ = f.MarkHidden(name)
	}
	c.MarkFlagsMutuallyExclusive("print-url", "auto", "pair")
	c.AddCommand(a.devicesCmd(), a.requestCmd())
	return c
}

// root is the state of the user whose projects are shown.
func (a *app) root() (state.Root, error) {
	p, err := a.State()
	return p.Root, err
}

func (a *app) web(ctx context.Context, o options) error {
	if o.auto {
		return a.automatic(ctx, o)
	}
	if err := a.NeedPerson(actServe); err != nil {
		return err
	}
	root, err := a.root()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(root.Pages(), 0o700); err != nil {
		return fmt.Errorf("web: make the folder of the pages: %w", err)
	}
	if _, err := a.user(root).KnowOutside(); err != nil { // what the server records has its place then
		return err
	}
	conf, err := a.section(root, o)
	if err != nil {
		return err
	}
	if err := web.Check(conf); err != nil {
		return err
	}
	if o.printURL {
		return a.another(ctx, root, o)
	}
	s, err := web.Open(ctx, conf, a.site(root))
	if n, runs, _ := served.Look(root); errors.Is(err, web.ErrRuns) && runs && n.Auto && o.addr+o.cert != "" {
		fmt.Fprintf(a.Err, "myc: the pages at %s/ are served here from now on\n", n.Base)
		if err = served.End(root, n); err == nil {
			s, err = web.Open(ctx, conf, a.site(root))
		}
	}
	if errors.Is(err, web.ErrRuns) {
		return a.another(ctx, root, o)
	}
	if err != nil {
		return err
	}
	fmt.Fprintf(a.Err, "myc: the pages are at %s/; Ctrl-C ends them\n", s.Note().Base)
	if err := a.link(ctx, root, s.Note(), o); err != nil {
		s.Close()
		return err
	}
	return s.Run(ctx)
}

// another prints a link for the pages that are served already.
func (a *app) another(ctx context.Context, root state.Root, o options) error {
	n, runs, err := served.Look(root)
	if err != nil {
		return err
	}
	if !runs {
		return failure.Hint(errors.New("web: the pages are not served"), "myc web serves them, and prints a link")
	}
	if !o.printURL {
		fmt.Fprintf(a.Err, "myc: the pages are served already, at %s/\n", n.Base)
	}
	return a.link(ctx, root, n, o)
}

// link prints a link that signs a browser in, on a terminal only: what a pipe or a file gets, others may read.
func (a *app) link(ctx context.Context, root state.Root, n served.Note, o options) error {
	if !base.OutputIsTerminal(a.Out) {
		if o.printURL || o.pair {
			return failure.New(failure.Denied, errors.New("web: a link is printed on a terminal only, because whoever has it can answer for you"),
				"run myc web --print-url, or --pair, in your own terminal")
		}
		fmt.Fprintln(a.Err, "hint: myc web --print-url prints a link for a browser, on a terminal only")
		return nil
	}
	if o.pair {
		return a.pair(root, n)
	}
	link, err := web.Link(root, n.Addr)
	if err != nil {
		return err
	}
	if a.JSON {
		return a.PrintJSON(map[string]string{"url": link})
	}
	if !o.printURL {
		fmt.Fprintln(a.Err, "Open this in your browser, once, within a minute:")
	}
	fmt.Fprintln(a.Out, link)
	if o.open {
		base.OpenBrowser(ctx, a.App, link)
	}
	return nil
}

// there is the program in the folder of a project.
func (a *app) there(p state.Paths) *base.App {
	return &base.App{Out: a.Err, Loader: project.Loader{Dir: p.Project, ID: p.Chosen(), StateDir: string(p.Root), Environ: a.Environ,
		Agent: a.Agent, Err: a.Err, Version: a.Version}}
}

// records returns recorded calls of a project, as myc audit query in its folder does.
func (a *app) records(ctx context.Context, p state.Paths, q index.Query) (found []index.Entry, err error) {
	err = a.index(ctx, p, func(x *index.Index) error {
		found, err = x.Query(ctx, q)
		return err
	})
	return found, err
}

// index calls f with the index of the log of a project.
func (a *app) index(ctx context.Context, p state.Paths, f func(*index.Index) error) error {
	return a.there(p).WithIndex(ctx, f)
}
