package swarm

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"time"

	"github.com/spf13/cobra"

	"mycelium/cmd/myc/internal/base"
	"mycelium/internal/atomicfile"
	"mycelium/internal/node/failure"
	"mycelium/internal/swarm/book"
	"mycelium/internal/swarm/worker"
	"mycelium/internal/text"
)

// attempt is the last attempt at a feature.
func attempt(s *book.Session, feature string) (*book.Feature, *book.Attempt, error) {
	f, err := find(s, feature)
	if err != nil {
		return nil, nil, err
	}
	t := f.Last()
	if t == nil {
		return f, nil, fmt.Errorf("feature %s has had no worker yet", f.ID)
	}
	return f, t, nil
}

// find is a feature by its id, with the one that may have been meant.
func find(s *book.Session, feature string) (*book.Feature, error) {
	f, err := s.Feature(feature)
	if err == nil {
		return f, nil
	}
	var ids []string
	for _, f := range s.Features {
		ids = append(ids, f.ID)
	}
	hint := "myc swarm status lists them"
	if near := text.Nearest(feature, ids); near != "" {
		hint = "did you mean " + near + "?"
	}
	return nil, failure.New(failure.NotFound, err, hint)
}

func attachCmd(a *app) *cobra.Command {
	return &cobra.Command{Use: "attach FEATURE", Short: "See the terminal of a worker", Args: base.ArgRange(1, 1, "a feature"),
		Long: "Opens the terminal of the worker, in tmux. Ctrl-b d leaves it, and the worker goes on.",
		RunE: func(c *cobra.Command, args []string) error {
			return a.with(c.Context(), "see a worker", func(o *opened, s *book.Session) error {
				f, err := find(s, args[0])
				if err != nil {
					return err
				}
				t := f.Live()
				if t == nil {
					return failure.Hint(fmt.Errorf("no worker works on %s now", f.ID),
						"myc swarm logs "+f.ID+" shows what the last one did")
				}
				server, err := o.terminals(a.Getenv("XDG_RUNTIME_DIR"))
				if err != nil {
					return err
				}
				cmd := exec.CommandContext(c.Context(), "tmux", "-S", server.Socket, "attach-session", "-t", "="+t.Window)
				cmd.Stdin, cmd.Stdout, cmd.Stderr, cmd.Env = os.Stdin, os.Stdout, os.Stderr, a.Environ
				return cmd.Run()
			})
		}}
}

func messageCmd(a *app) *cobra.Command {
	return &cobra.Command{Use: "message FEATURE TEXT", Short: "Tell a worker something", Args: base.ArgRange(2, 2, "a feature and a text"),
		Long: "The worker is given the message when its turn is over, before it ends. What it was told is on record.",
		RunE: func(c *cobra.Command, args []string) error {
			return a.with(c.Context(), "tell a worker something", func(o *opened, s *book.Session) error {
				f, err := find(s, args[0])
				if err != nil {
					return err
				}
				t := f.Live()
				if t == nil {
					return fmt.Errorf("no worker works on %s now", f.ID)
				}
				if err := worker.Folder(t.Folder).Tell(args[1]); err != nil {
					return err
				}
				_, err = o.Change(c.Context(), s.ID, "", func(*book.Session) ([]book.Event, error) {
					return []book.Event{{Kind: "message", Feature: f.ID, Attempt: t.N, Text: args[1]}}, nil
				})
				return err
			})
		}}
}

// changed changes the session by a person.
func (a *app) changed(ctx context.Context, act string, f func(s *book.Session) ([]book.Event, error)) error {
	return a.with(ctx, act, func(o *opened, s *book.Session) error {
		_, err := o.Change(ctx, s.ID, "", f)
		return err
	})
}

func pauseCmd(a *app) *cobra.Command {
	return &cobra.Command{Use: "pause", Short: "Stop the workers; what they did is kept", Args: base.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return a.with(c.Context(), "pause the swarm", func(o *opened, s *book.Session) error {
				if s.State != book.Going {
					return fmt.Errorf("the session is %s", s.State)
				}
				if _, err := o.Change(c.Context(), s.ID, "", func(s *book.Session) ([]book.Event, error) {
					s.State = book.Paused
					return []book.Event{{Kind: "session", Text: "paused by a person"}}, nil
				}); err != nil {
					return err
				}
				return a.halted(c.Context(), o, s.ID)
			})
		}}
}

// haltWithin is how long a driver may take to stop its workers: it gives each ten seconds twice, and a verification its time.
const haltWithin = verifyWithin + time.Minute

// halted stops the workers of a paused session, and returns when they are gone.
func (a *app) halted(ctx context.Context, o *opened, id string) error {
	s, err := o.Read(ctx, id)
	if err != nil {
		return err
	}
	options, err := a.options(ctx, o, s)
	if err != nil {
		return err
	}
	lock, err := atomicfile.LockWait(o.driverLock(), haltWithin) // the one who drives it stops them, and ends
	if err == nil {
		err = lock.Unlock()
	}
	if err != nil {
		return fmt.Errorf("wait for the driver to stop its workers: %w", err)
	}
	return drive(ctx, o, options, id)
}

func resumeCmd(a *app) *cobra.Command {
	return &cobra.Command{Use: "resume", Short: "Go on with a paused session", Args: base.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return a.changed(c.Context(), "resume the swarm", func(s *book.Session) ([]book.Event, error) {
				if s.State != book.Paused {
					return nil, fmt.Errorf("the session is not paused: it is %s", s.State)
				}
				if s.GivenUp {
					return nil, failure.Hint(fmt.Errorf("session %s is given up", s.ID), "myc swarm reset ends it")
				}
				s.State = book.Going
				return []book.Event{{Kind: "session", Text: "resumed by a person"}}, nil
			})
		}}
}

// reopenable refuses a session to which nothing can be added.
func reopenable(s *book.Session) error {
	if s.Closed {
		return failure.Hint(fmt.Errorf("session %s is closed: it was merged or given up", s.ID), "begin a new one: myc swarm init PLAN.md")
	}
	return nil
}

func retryCmd(a *app) *cobra.Command {
	return &cobra.Command{Use: "retry FEATURE", Short: "Try a feature again that failed or waits", Args: base.ArgRange(1, 1, "a feature"),
		RunE: func(c *cobra.Command, args []string) error {
			return a.changed(c.Context(), "try a feature again", func(s *book.Session) ([]book.Event, error) {
				if err := reopenable(s); err != nil {
					return nil, err
				}
				f, err := find(s, args[0])
				if err != nil {
					return nil, err
				}
				if f.State != book.Failed && f.State != book.Waiting {
					return nil, fmt.Errorf("feature %s is %s: only what failed or waits is tried again", f.ID, words(f.State))
				}
				f.State, f.Reason, f.Tried, f.Retry = book.Pending, "", 0, time.Time{}
				if s.State == book.Faulty {
					s.State, s.Ended = book.Going, time.Time{}
				}
				return []book.Event{{Kind: "feature", Feature: f.ID, Text: "a person has it tried again"}}, nil
			})
		}}
}
