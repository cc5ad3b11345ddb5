// Package demo runs the main scenario on a scratch project and checks each fact that it shows.
package demo

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"charm.land/lipgloss/v2"
	"github.com/go-json-experiment/json"
	"github.com/spf13/cobra"

	"mycelium/cmd/myc/internal/base"
	"mycelium/internal/node/api"
	"mycelium/internal/node/fence"
)

// app is the program with the commands of this family.
type app struct{ *base.App }

// Command is `myc demo`.
func Command(a *base.App) *cobra.Command { return (&app{a}).demoCmd() }

func (a *app) demoCmd() *cobra.Command {
	chat := false
	c := &cobra.Command{
		Use: "demo", Short: "Show what Mycelium does, in ten seconds",
		Long: "Create a scratch project, run the gateway on it, and connect an independent client (that of the MCP SDK) over stdio and\n" +
			"HTTP. The command checks every line that it prints, and exits with an error if a check fails.\n" +
			"--chat shows the agent of this program at work instead, with a scripted model: it needs no key and no network.",
		Example: "  myc demo\n  myc demo --chat", Args: base.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if chat {
				return a.scratch(c.Context(), (*demo).chat)
			}
			return a.scratch(c.Context(), (*demo).tell)
		},
	}
	c.Flags().BoolVar(&chat, "chat", false, "show our own agent, with a scripted model")
	return c
}

// demo is the state of `myc demo`: a scratch project in a home of its own.
type demo struct {
	*app
	dir   string
	env   []string
	addr  string
	wrong []string // facts that turned out to be false
	bold  lipgloss.Style
	good  lipgloss.Style
	bad   lipgloss.Style
	dim   lipgloss.Style
}

// scratch runs a story on a scratch project.
func (a *app) scratch(ctx context.Context, story func(*demo, context.Context) error) (err error) {
	home, err := os.MkdirTemp("", "myc-demo-") // not mycelium-…: the shipped rules keep /tmp/mycelium-* for the daemon's socket
	if err != nil {
		return fmt.Errorf("demo: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(home)) }()
	d := &demo{app: a, dir: filepath.Join(home, "project"), env: ScratchEnv(a.Environ, home)}
	d.styles()
	if err := d.setUp(ctx); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.run(context.WithoutCancel(ctx), nil, "stop", "-f")) }()
	if err := story(d, ctx); err != nil {
		return fmt.Errorf("demo: %w", err)
	}
	return d.verdict()
}

// tell tells the story of the gateway.
func (d *demo) tell(ctx context.Context) error {
	fmt.Fprintf(d.Out, "%s\n%s\n", d.bold.Render("Mycelium"),
		d.dim.Render("a scratch project, the gateway at http://"+d.addr+"/mcp, and a client that is not ours: the MCP SDK's"))
	for _, chapter := range []func(context.Context) error{d.threeWorlds, d.hiddenIsAbsent, d.switchRole, d.poisoned, d.typo, d.ownTools,
		d.approved, d.tamper} {
		if err := chapter(ctx); err != nil {
			return err
		}
	}
	d.ends("myc init && myc mcp")
	return nil
}

// ends ends a story whose facts are all true.
func (d *demo) ends(next string) {
	if len(d.wrong) == 0 {
		fmt.Fprintf(d.Out, "\n%s  Now yours: %s\n", d.good.Render("Everything above was checked as it ran."), d.bold.Render(next))
	}
}

// ScratchEnv is the environment with a home of its own, so that the demo leaves nothing behind, and without credentials.
func ScratchEnv(environ []string, home string) []string {
	env := slices.DeleteFunc(slices.Clone(environ), func(e string) bool {
		name, _, _ := strings.Cut(e, "=")
		return name == "HOME" || strings.HasPrefix(name, "XDG_") || strings.HasPrefix(name, "MYCELIUM_") || name == "MCP_TRANSPORT" ||
			slices.ContainsFunc(fence.Marks(), func(m string) bool { return strings.HasPrefix(e, m+"=") })
	})
	return append(env, "HOME="+home, "XDG_RUNTIME_DIR="+filepath.Join(home, "run"), "ENABLE_DASHBOARD=false")
}

func (d *demo) styles() {
	if d.NoColor || d.Getenv("NO_COLOR") != "" || !base.OutputIsTerminal(d.Out) {
		return // the zero style renders plain text
	}
	d.bold = lipgloss.NewStyle().Bold(true)
	d.good = lipgloss.NewStyle().Foreground(lipgloss.Color("2"))
	d.bad = lipgloss.NewStyle().Foreground(lipgloss.Color("1"))
	d.dim = lipgloss.NewStyle().Faint(true)
}

func (d *demo) setUp(ctx context.Context) error {
	for _, dir := range []string{d.dir, filepath.Join(filepath.Dir(d.dir), "run")} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			return fmt.Errorf("demo: %w", err)
		}
	}
	if err := d.run(ctx, nil, "init"); err != nil {
		return err
	}
	note := "Mycelium: hyphae carry what the tree needs, and nothing else.\n"
	if err := os.WriteFile(filepath.Join(d.dir, "notes.md"), []byte(note), 0o600); err != nil {
		return fmt.Errorf("demo: %w", err)
	}
	if err := d.run(ctx, nil, "serve", "--background", "--addr", "127.0.0.1:0"); err != nil {
		return err
	}
	var s api.StatusReply
	if err := d.run(ctx, &s, "status", "--json"); err != nil {
		return err
	}
	d.addr = s.Daemon.Addr
	return nil
}

// self returns a command of this program on the scratch project.
func (d *demo) self(ctx context.Context, args ...string) (*exec.Cmd, error) {
	exe, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find own program: %w", err)
	}
	cmd := exec.CommandContext(ctx, exe, append([]string{"-C", d.dir}, args...)...)
	cmd.Env = d.env
	return cmd, nil
}

// run runs a command of this program and decodes its JSON into out, if that is given.
func (d *demo) run(ctx context.Context, out any, args ...string) error {
	stdout, stderr, err := d.capture(ctx, args...)
	if err != nil {
		return fmt.Errorf("demo: myc %s: %w: %s", strings.Join(args, " "), err, strings.TrimSpace(stderr))
	}
	if out == nil {
		return nil
	}
	if err := json.Unmarshal([]byte(stdout), out); err != nil {
		return fmt.Errorf("demo: myc %s printed no JSON: %w", strings.Join(args, " "), err)
	}
	return nil
}

func (d *demo) capture(ctx context.Context, args ...string) (stdout, stderr string, err error) {
	cmd, err := d.self(ctx, args...)
	if err != nil {
		return "", "", err
	}
	var o, e strings.Builder
	cmd.Stdout, cmd.Stderr = &o, &e
	err = cmd.Run()
	return o.String(), e.String(), err
}

// title begins a chapter.
func (d *demo) title(n int, text string) {
	fmt.Fprintf(d.Out, "\n%s\n", d.bold.Render(fmt.Sprintf("%d. %s", n, text)))
}

// check shows one fact, and records it if it is false.
func (d *demo) check(ok bool, text string) {
	mark := d.good.Render("✓")
	if !ok {
		mark = d.bad.Render("✗")
		d.wrong = append(d.wrong, text)
	}
	fmt.Fprintf(d.Out, "   %s %s\n", mark, text)
}
