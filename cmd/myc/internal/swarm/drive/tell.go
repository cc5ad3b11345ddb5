package drive

import (
	"context"
	"sync"
	"time"

	"mycelium/cmd/myc/internal/base"
	"mycelium/cmd/myc/internal/swarm/open"
	"mycelium/internal/approval"
	"mycelium/internal/approval/notify"
	"mycelium/internal/node/api"
	"mycelium/internal/swarm/notices"
)

// tellEvery is how often the events of a session are looked for that people are told of.
const tellEvery = time.Second

// tellPeople tells people on the channels of the project what becomes of a session, until it is stopped; then what has happened by then.
// What cannot be told is logged, and stops nobody.
func (a *app) tellPeople(ctx context.Context, o *open.Swarm, id string) (stop func()) {
	if c := o.Project.File.Approval; c.Telegram == nil && !notify.Reaches(c.Notify, a.Getenv) {
		return func() {}
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	var work sync.WaitGroup
	work.Go(func() {
		look := time.NewTicker(tellEvery)
		defer look.Stop()
		for over := false; ; {
			if err := a.told(context.WithoutCancel(ctx), o, id); err != nil {
				a.Logger().Warn("people were not told what became of the swarm", "error", err)
			}
			if over {
				return
			}
			select {
			case <-ctx.Done():
				over = true
			case <-look.C:
			}
		}
	})
	return func() { cancel(); work.Wait() }
}

// told tells people what they were not told yet.
func (a *app) told(ctx context.Context, o *open.Swarm, id string) error {
	before, err := notices.Read(o.Folder, id)
	if err != nil {
		return err
	}
	events, err := o.Events(ctx, id, before.Seq, 0)
	if err != nil || len(events) == 0 {
		return err
	}
	s, err := o.Read(ctx, id)
	if err != nil {
		return err
	}
	now, out := before.Next(s, events)
	if err := now.Keep(o.Folder, id); err != nil || len(out) == 0 {
		return err
	}
	c, err := a.Attach(ctx)
	if err != nil {
		return err
	}
	defer c.Close()
	for _, n := range out {
		label := "swarm " + id
		if n.Feature != "" {
			label = "swarm, " + n.Feature
		}
		notice := approval.Notice{Kind: noticeKind(n.Kind), Label: label, Text: n.Text, Time: time.Now()}
		if _, err := base.Call(ctx, c, api.Notify, notice); err != nil {
			return err
		}
	}
	return nil
}

// noticeKind is the kind by which people choose what they are told.
func noticeKind(k notices.Kind) approval.NoticeKind {
	switch k {
	case notices.Failed:
		return approval.Errored
	case notices.Stuck:
		return approval.Stuck
	case notices.Waits:
		return approval.Waits
	case notices.Paused:
		return approval.Aborted
	case notices.Phase:
		return approval.Started
	case notices.Done:
	}
	return approval.Completed
}
