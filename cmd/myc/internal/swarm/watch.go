package swarm

import (
	"context"
	"errors"
	"os/exec"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/spf13/cobra"

	"mycelium/cmd/myc/internal/base"
	"mycelium/cmd/myc/internal/swarm/drive"
	"mycelium/cmd/myc/internal/swarm/open"
	"mycelium/internal/approval/terminal"
	"mycelium/internal/node/swarmed"
	"mycelium/internal/swarm/book"
	"mycelium/internal/swarm/ops"
	"mycelium/internal/swarm/view"
	"mycelium/internal/text"
)

func watchCmd(a *app) *cobra.Command {
	return &cobra.Command{Use: "watch", Short: "See the session on the whole screen, as it is worked on", Args: base.NoArgs,
		Long: "Shows what waits for what, what each worker does, what it costs and what happens. Keys choose a feature, show its log, attach\n" +
			"to its worker, tell it something, and pause the session. On a pipe, or with --json, each event is a line, to the end of the\n" +
			"session.",
		Example: "  myc swarm watch\n  myc swarm watch --json | jq .text",
		RunE: func(c *cobra.Command, _ []string) error {
			return a.With(c.Context(), "see the swarm", func(o *open.Swarm, s *book.Session) error {
				if a.JSON || !base.StdinIsTerminal(a.In) || !base.OutputIsTerminal(a.Out) {
					return a.lines(c.Context(), o, s)
				}
				return a.watch(c.Context(), o, s)
			})
		}}
}

// lines prints the session, and then what happens, to its end.
func (a *app) lines(ctx context.Context, o *open.Swarm, s *book.Session) error {
	if !a.JSON {
		if err := a.show(ctx, o, s); err != nil || !s.Open() {
			return err
		}
	}
	return a.Tail(ctx, o, s.ID, tailShown)
}

// watch shows the session on the whole screen.
func (a *app) watch(ctx context.Context, o *open.Swarm, s *book.Session) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	eye := &view.Eye{Book: o.Book, ID: s.ID}
	sc := view.New(ctx, view.Options{Title: o.Dir, Plain: a.Getenv("NO_COLOR") != "" || a.NoColor, Now: time.Now,
		Look: func(ctx context.Context, log string) (view.Seen, error) { return eye.Look(ctx, log, time.Now()) },
		Tell: func(ctx context.Context, feature, message string) error {
			s, err := o.Read(ctx, s.ID)
			if err != nil {
				return err
			}
			return o.Tell(ctx, s, feature, message)
		},
		Pause: func(ctx context.Context) error {
			if err := o.Pause(ctx, s.ID); err != nil {
				return err
			}
			return drive.Halt(ctx, a.App, o, s.ID)
		},
		Resume: func(ctx context.Context) error { return o.Resume(ctx, s.ID) },
		Attach: func(feature string) (*exec.Cmd, error) {
			s, err := o.Read(ctx, s.ID)
			if err != nil {
				return nil, err
			}
			return a.attach(ctx, o, s, feature)
		},
	})
	err := terminal.Run(terminal.NewProgram(sc, a.Out, tea.WithContext(ctx), tea.WithInput(a.In), tea.WithEnvironment(a.Environ),
		tea.WithoutSignalHandler()), a.Out)
	if errors.Is(err, tea.ErrProgramKilled) && ctx.Err() != nil {
		return nil
	}
	return err
}

// attach is the program that shows the terminal of the worker of a feature.
func (a *app) attach(ctx context.Context, o *open.Swarm, s *book.Session, feature string) (*exec.Cmd, error) {
	t, err := ops.Working(s, feature)
	if err != nil && t != nil {
		return nil, text.Hinted(err, "myc swarm logs "+feature+" shows what the last one did")
	}
	if err != nil {
		return nil, err
	}
	server, err := swarmed.Terminals(o.Paths, a.Getenv("XDG_RUNTIME_DIR"))
	if err != nil {
		return nil, err
	}
	c := exec.CommandContext(ctx, "tmux", "-S", server.Socket, "attach-session", "-t", "="+t.Window)
	c.Env = slices.DeleteFunc(slices.Clone(a.Environ), func(kv string) bool { return strings.HasPrefix(kv, "TMUX=") }) // also inside a tmux
	return c, nil
}
