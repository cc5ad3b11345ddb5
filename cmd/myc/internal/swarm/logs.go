package swarm

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"mycelium/cmd/myc/internal/base"
	"mycelium/internal/node/failure"
	"mycelium/internal/swarm/book"
	"mycelium/internal/swarm/worker"
)

func logsCmd(a *app) *cobra.Command {
	var n int
	c := &cobra.Command{Use: "logs [FEATURE]", Short: "Show what happened, or what the worker of a feature did", Args: base.ArgRange(0,
		1, "a feature"),
		Example: "  myc swarm logs\n  myc swarm logs parser -n 100",
		RunE: func(c *cobra.Command, args []string) error {
			if n < 1 {
				return failure.Usagef("-n is at least 1")
			}
			return a.with(c.Context(), "see the swarm", func(o *opened, s *book.Session) error {
				if len(args) == 0 {
					events, err := o.Events(c.Context(), s.ID, 0, n)
					for _, e := range events {
						a.event(e)
					}
					return err
				}
				return a.workerLog(s, args[0], n)
			})
		}}
	c.Flags().IntVarP(&n, "lines", "n", 50, "the last lines")
	return c
}

// workerLog prints what the last worker of a feature did.
func (a *app) workerLog(s *book.Session, feature string, n int) error {
	_, t, err := attempt(s, feature)
	if err != nil {
		return err
	}
	var events []worker.Event // the last n
	for offset := int64(0); ; {
		more, next, err := worker.Folder(t.Folder).Follow(offset)
		if err != nil {
			return err
		}
		if next == offset {
			break
		}
		offset, events = next, append(events, more...)
		events = events[max(0, len(events)-n):]
	}
	for _, e := range events {
		if a.JSON {
			if err := a.PrintLine(e); err != nil {
				return err
			}
			continue
		}
		what := e.Text
		if e.Kind == worker.Call {
			what = e.Tool + " " + e.Args
		}
		fmt.Fprintf(a.Out, "%s  %s%s\n", a.Paint(base.Faint, e.At.Local().Format(time.TimeOnly)), pad(e.Kind, 9),
			a.line(what, 20))
	}
	return nil
}
