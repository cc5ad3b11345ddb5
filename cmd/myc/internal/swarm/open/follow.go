package open

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"mycelium/cmd/myc/internal/base"
	"mycelium/internal/swarm/book"
	"mycelium/internal/text"
)

// FollowEvery is how often the events of a session are looked for.
const FollowEvery = 200 * time.Millisecond

// Follow prints what happens in a session from now on until ctx ends, and what has happened by then.
func (a *App) Follow(ctx context.Context, o *Swarm, id string) {
	_ = a.From(ctx, o, id, 0, func() bool { return false }) // what cannot be told stops no driver
}

// Tail prints the last events of a session, and those that come, to its end or that of ctx.
func (a *App) Tail(ctx context.Context, o *Swarm, id string, last int) error {
	return a.From(ctx, o, id, last, func() bool {
		s, err := o.Read(ctx, id)
		return err != nil || !s.Open()
	})
}

// From prints the last events of a session, and those that come until ctx ends or over says that no more come. over is asked at first, and
// after an event.
func (a *App) From(ctx context.Context, o *Swarm, id string, last int, over func() bool) error {
	before, err := o.Events(ctx, id, 0, max(last, 1))
	if err != nil {
		return err
	}
	var after int64
	switch {
	case len(before) == 0:
	case last == 0:
		after = before[0].Seq
	default:
		after = before[0].Seq - 1
	}
	look := time.NewTicker(FollowEvery)
	defer look.Stop()
	for ask := true; ; {
		ended := ctx.Err() != nil || ask && over()
		events, err := o.Events(context.WithoutCancel(ctx), id, after, 0)
		if err != nil {
			return err
		}
		for _, e := range events {
			after = e.Seq
			a.Event(e)
		}
		if ended {
			return nil
		}
		ask = len(events) > 0
		select {
		case <-ctx.Done():
		case <-look.C:
		}
	}
}

// Event prints one event, as a line.
func (a *App) Event(e book.Event) {
	if a.JSON {
		_ = a.PrintLine(e)
		return
	}
	about := e.Feature
	if e.Attempt > 0 {
		about += "#" + strconv.Itoa(e.Attempt)
	}
	fmt.Fprintf(a.Out, "%s  %s%s\n", a.Paint(base.Faint, e.At.Local().Format(time.TimeOnly)), text.OneLine(Pad(about, 16)),
		a.Line(e.Text, 28))
}

// Line is a text in the rest of a line, behind so many columns; whole where there is no terminal.
func (a *App) Line(s string, used int) string {
	if s = text.Flatten(s); a.Width() > 0 {
		return text.Cell(s, max(40, a.Width()-used))
	}
	return text.Truncate(s, 1000)
}

// Pad fills a word up to a width, with at least one space behind it.
func Pad(s string, n int) string { return s + strings.Repeat(" ", max(1, n-text.Width(s))) }
