package swarm

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"mycelium/cmd/myc/internal/base"
	"mycelium/cmd/myc/internal/swarm/open"
	"mycelium/internal/node/swarmed"
	"mycelium/internal/op/failure"
	"mycelium/internal/policy/sign"
	"mycelium/internal/swarm/book"
	"mycelium/internal/swarm/ground"
	"mycelium/internal/swarm/ops"
	"mycelium/internal/text"
)

// mostDiff bounds the difference that merge shows, in bytes.
const mostDiff = 256 << 10

// merging is what myc swarm merge is told.
type merging struct {
	into, session string
	sure, keepOut bool
}

func mergeCmd(a *app) *cobra.Command {
	var m merging
	c := &cobra.Command{Use: "merge [FEATURE]", Short: "Take what has landed into your branch, or let a feature land that waits",
		Args:    base.ArgRange(0, 1, "a feature"),
		Example: "  myc swarm merge\n  myc swarm merge --sure\n  myc swarm merge --keep-out",
		Long: "Without an argument your branch is moved forward to that of the session, if it has not moved since. A session that has\n" +
			"ended is closed by that. With a feature that waits because it changes files that govern agents, that feature may land.\n" +
			"Both need a second sign: at a terminal the difference is shown and you are asked; elsewhere --sure says that you have read\n" +
			"it. With --keep-out nothing is taken, and nobody is asked about it again before something has changed.",
		RunE: func(c *cobra.Command, args []string) error {
			return a.With(c.Context(), "merge", func(o *open.Swarm, s *book.Session) error {
				if m.session != "" {
					var err error
					if s, err = o.Read(c.Context(), m.session); err != nil {
						return failure.New(failure.NotFound, err, "")
					}
				}
				if err := s.CheckClosed(); err != nil {
					return err
				}
				if len(args) > 0 {
					return a.letLand(c.Context(), o, s, args[0], m)
				}
				return a.handOver(c.Context(), o, s, m)
			})
		}}
	c.Flags().StringVar(&m.session, "session", "", "the `ID` of a session that has ended, if another one has begun since")
	c.Flags().StringVar(&m.into, "into", "", "the `BRANCH` that is moved (default: the one that was checked out at init)")
	c.Flags().BoolVar(&m.sure, "sure", false, "you have read the difference")
	c.Flags().BoolVar(&m.keepOut, "keep-out", false, "take nothing, and do not ask again before something has changed")
	return c
}

// letLand lets a feature land that waits because it changes files that govern agents.
func (a *app) letLand(ctx context.Context, o *open.Swarm, s *book.Session, feature string, m merging) error {
	f, err := ops.Find(s, feature)
	if err != nil {
		return err
	}
	t := f.Last()
	if !f.Governs || t == nil { // it does not wait for that: why, Accept says
		return o.Accept(ctx, s, feature, "", sign.Of(m.sure))
	}
	if m.keepOut {
		return a.leaveOut(ctx, o, s, feature, t.Tip)
	}
	if !m.sure && base.StdinIsTerminal(a.In) {
		c, err := swarmed.ChangeOf(ctx, o.Ops, s, t, mostDiff)
		if err != nil {
			return err
		}
		if m.sure = a.read(c.Files, c.Diff, sign.OfLanding(feature)); !m.sure {
			return failure.New(failure.Denied, errors.New("swarm merge: the feature goes on waiting"),
				"myc swarm retry "+feature+" has it done anew; myc swarm merge "+feature+" --keep-out keeps it out")
		}
	}
	return o.Accept(ctx, s, feature, t.Tip, sign.Of(m.sure))
}

// handOver moves the person's branch forward.
func (a *app) handOver(ctx context.Context, o *open.Swarm, s *book.Session, m merging) error {
	if m.into == "" {
		m.into = s.Target
	}
	into := strings.TrimPrefix(m.into, "refs/heads/")
	if into == "" {
		return failure.Usagef("no branch was checked out at init: name one with --into")
	}
	of, err := o.Offer(ctx, s, into, mostDiff)
	if err != nil {
		return err
	}
	if m.keepOut {
		return a.leaveOut(ctx, o, s, "", string(of.Tip))
	}
	if of.New && !m.sure && base.StdinIsTerminal(a.In) {
		if m.sure = a.read(of.Files, of.Diff, sign.OfTaking(into)); !m.sure {
			return failure.New(failure.Denied, fmt.Errorf("swarm merge: %s was not moved", into), "myc swarm merge --keep-out keeps it out")
		}
	}
	tip, moved, err := o.HandOver(ctx, s, into, of.Tip, sign.Of(m.sure))
	switch {
	case moved:
		fmt.Fprintf(a.Out, "%s is at %.12s now\n", into, tip)
	case err == nil:
		fmt.Fprintf(a.Out, "%s has everything that has landed: it stays at %.12s\n", into, tip)
	}
	return err
}

// read shows which files would change, and how, and asks whether the person has read it.
func (a *app) read(files []ground.File, diff string, d sign.Demand) bool {
	for _, line := range strings.Split(strings.TrimSuffix(diff, "\n"), "\n") {
		fmt.Fprintln(a.Out, text.OneLine(line))
	}
	for _, f := range files {
		fmt.Fprintf(a.Out, "%6s %6s  %s\n", fmt.Sprintf("+%d", f.Added), fmt.Sprintf("-%d", f.Deleted), text.OneLine(f.Path))
	}
	return a.Confirm(text.OneLine(d.Asks()) + " [y/N] ")
}

// leaveOut keeps work out.
func (a *app) leaveOut(ctx context.Context, o *open.Swarm, s *book.Session, feature, mark string) error {
	if err := o.LeaveOut(ctx, s.ID, feature, mark); err != nil {
		return err
	}
	fmt.Fprintf(a.Out, "kept out, as it is at %.12s. myc swarm merge %stakes it all the same\n", mark, strings.TrimLeft(feature+" ", " "))
	return nil
}

// keptOut says what a person keeps out, in a line each.
func keptOut(s *book.Session) (lines []string) {
	for _, k := range s.KeptOut {
		what := "what has landed"
		if k.Feature != "" {
			what = "the feature " + k.Feature
		}
		lines = append(lines, fmt.Sprintf("%s, by %s since %s, as it was at %.12s", what, text.OneLine(k.By),
			k.At.Local().Format(time.DateTime), k.Mark))
	}
	return lines
}
