// Package web has the command that serves the pages for a browser, and those about the browsers that are signed in.
package web

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"mycelium/cmd/myc/internal/base"
	"mycelium/internal/audit/index"
	"mycelium/internal/node/failure"
	"mycelium/internal/node/project"
	"mycelium/internal/state"
	"mycelium/internal/web"
)

// app is the program with the commands of this family.
type app struct{ *base.App }

// The acts of a person, for a refusal to an agent.
const (
	actServe   = "open the pages"
	actDevices = "look at the browsers that are signed in"
	actRevoke  = "sign a browser out"
)

type options struct {
	addr     string
	open     bool
	printURL bool
}

// Command is `myc web`.
func Command(b *base.App) *cobra.Command {
	a := &app{b}
	var o options
	c := &cobra.Command{
		Use: "web", Short: "Answer and look in a browser, for all your projects", Args: base.NoArgs,
		Long: "Serve the pages until Ctrl-C: the inbox of the calls that wait for you, what is at work, and the log, of all your projects.\n" +
			"They are at " + web.DefaultAddr + ", for this machine only. A browser signs in with a link that is printed here, on a terminal\n" +
			"only; it is good once, and for one minute. If the pages are served already, this prints a new link for them.\n" +
			"DASHBOARD_PORT chooses another port.",
		Example: "  myc web --open\n  myc web --print-url   # a link for another browser, while the pages are served",
		RunE:    func(c *cobra.Command, _ []string) error { return a.web(c.Context(), o) },
	}
	c.Flags().StringVar(&o.addr, "addr", "", "address to listen on, of this machine (default: "+web.DefaultAddr+")")
	c.Flags().BoolVar(&o.open, "open", false, "open the link in a browser, where there is one")
	c.Flags().BoolVar(&o.printURL, "print-url", false, "only print a link for the pages that are served already")
	c.AddCommand(a.devicesCmd())
	return c
}

// root is the state of the user whose projects are shown.
func (a *app) root() (state.Root, error) {
	p, err := a.State()
	return p.Root, err
}

// address is where to listen: a flag, else DASHBOARD_PORT, else the usual address.
func (a *app) address(flag string) string {
	usual := web.DefaultAddr
	if port := a.Getenv("DASHBOARD_PORT"); port != "" {
		usual = "127.0.0.1:" + port
	}
	return cmp.Or(flag, usual)
}

func (a *app) web(ctx context.Context, o options) error {
	if err := a.NeedPerson(actServe); err != nil {
		return err
	}
	root, err := a.root()
	if err != nil {
		return err
	}
	addr := a.address(o.addr)
	if err := web.Loopback(addr); err != nil {
		return err
	}
	if o.printURL {
		return a.another(ctx, root, o)
	}
	s, err := web.Listen(ctx, addr, web.Options{Root: root, Runtime: a.Getenv("XDG_RUNTIME_DIR"), Version: a.Version, Records: a.records,
		Tell: func(line string) { fmt.Fprintln(a.Err, "myc: "+line) }})
	if errors.Is(err, web.ErrRuns) {
		return a.another(ctx, root, o)
	}
	if err != nil {
		return err
	}
	fmt.Fprintf(a.Err, "myc: the pages are at http://%s/ for this machine; Ctrl-C ends them\n", s.Addr())
	if err := a.link(ctx, root, s.Addr(), o); err != nil {
		s.Close()
		return err
	}
	return s.Run(ctx)
}

// another prints a link for the pages that are served already.
func (a *app) another(ctx context.Context, root state.Root, o options) error {
	addr, err := web.Running(root)
	if err != nil {
		return err
	}
	if addr == "" {
		return failure.Hint(errors.New("web: the pages are not served"), "myc web serves them, and prints a link")
	}
	if !o.printURL {
		fmt.Fprintf(a.Err, "myc: the pages are served already, at http://%s/\n", addr)
	}
	return a.link(ctx, root, addr, o)
}

// link prints a link that signs a browser in, on a terminal only: what a pipe or a file gets, others may read.
func (a *app) link(ctx context.Context, root state.Root, addr string, o options) error {
	if !base.OutputIsTerminal(a.Out) {
		if o.printURL {
			return failure.New(failure.Denied, errors.New("web: a link is printed on a terminal only, because whoever has it can answer for you"),
				"run myc web --print-url in your own terminal")
		}
		fmt.Fprintln(a.Err, "hint: myc web --print-url prints a link for a browser, on a terminal only")
		return nil
	}
	link, err := web.Link(root, addr)
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

// records returns recorded calls of a project, as myc audit query in its folder does.
func (a *app) records(ctx context.Context, p state.Paths, q index.Query) (found []index.Entry, err error) {
	there := &base.App{Out: a.Err, Loader: project.Loader{Dir: p.Project, ID: p.Chosen(), StateDir: string(p.Root), Environ: a.Environ,
		Err: a.Err, Version: a.Version}}
	err = there.WithIndex(ctx, func(x *index.Index) error {
		found, err = x.Query(ctx, q)
		return err
	})
	return found, err
}
