package node

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"mycelium/internal/approval"
	"mycelium/internal/audit/index"
	"mycelium/internal/config/rules"
	"mycelium/internal/node/acts"
	"mycelium/internal/node/api"
	"mycelium/internal/op/failure"
	"mycelium/internal/policy"
	"mycelium/internal/policy/sign"
	"mycelium/internal/run"
)

// lately is how far back questions are looked at.
const lately = 7 * 24 * time.Hour

// Keeping keeps approvals in one node.
type Keeping struct {
	Queue  *approval.Queue
	Index  *index.Index
	Policy func() *policy.Policy // in force
	Acts   acts.Recorder
	Logger *slog.Logger

	mu    sync.Mutex // guards what follows
	rate  index.Asks
	until time.Time // when the rate is counted again
}

// Offer enters a yes at an agent's own terminal among the answers, and says how it is kept. It offers nothing, and no error, if no rule can
// be written for the call.
func (d *Keeping) Offer(ctx context.Context, r approval.Request, a approval.Answer) (run.Offer, error) {
	r, err := d.Queue.Entered(ctx, r, a)
	if err != nil {
		return run.Offer{}, err
	}
	look, err := d.look(ctx, r, "")
	if err != nil {
		d.Logger.Debug("an approval cannot be kept", "id", r.ID, "tool", r.Tool, "why", err)
		return run.Offer{}, nil //nolint:nilerr // the person was not going to keep it either
	}
	return run.Offer{ID: r.ID, Words: look.Words, Past: look.Questions.String()}, nil
}

// Kept reports whether an approval was kept.
func (d *Keeping) Kept(ctx context.Context, id string) bool {
	r, err := d.Queue.Show(ctx, id)
	return err == nil && r.Answer != nil && r.Answer.Rule != ""
}

// look says what would be kept; an error says why nothing can be.
func (d *Keeping) look(ctx context.Context, r approval.Request, as approval.As) (api.KeepReply, error) {
	out := api.KeepReply{Request: r, As: as}
	if as == "" {
		out.As = r.KeepAs()
	}
	if why := r.Keepable(); why != "" {
		return out, failure.New(failure.Conflict, fmt.Errorf("request %s cannot be kept: %s", r.ID, why), "")
	}
	rule, err := rules.Approved(r, out.As)
	if err != nil {
		return out, failure.New(failure.Conflict, fmt.Errorf("request %s cannot be kept: %w", r.ID, err), "myc edit rules opens the rules")
	}
	for _, c := range approval.Candidates(r) {
		if c.As == out.As {
			out.Words = c.Words
		}
	}
	questions, err := d.Index.Questions(ctx, time.Now().Add(-lately))
	if err != nil {
		return out, err
	}
	out.Questions = rules.QuestionsOf(questions, d.Policy(), rule)
	return out, nil
}

// Keep writes the rule of an approval. The act is recorded first.
func (d *Keeping) Keep(ctx context.Context, by acts.By, p api.KeepParams) (api.KeepReply, error) {
	r, err := d.Queue.Find(ctx, p.ID)
	var several *approval.AmbiguousError
	switch {
	case errors.As(err, &several):
		return api.KeepReply{}, failure.New(failure.Usage, err, "write more of it")
	case errors.Is(err, approval.ErrUnknown):
		return api.KeepReply{}, failure.New(failure.NotFound, errors.New("no approval has the id "+p.ID),
			"the agent's status line and myc approvals approve name it; answers are kept for 30 days")
	case err != nil:
		return api.KeepReply{}, err
	}
	out, err := d.look(ctx, r, p.As)
	if err != nil || p.Look {
		return out, err
	}
	answer := api.Answer{Device: p.Device, As: out.As, Reason: p.Reason, Digest: p.Digest}
	out.Request, err = d.Queue.Keep(ctx, r.ID, answer.By(by.Person), sign.Of(p.Sure),
		func(r approval.Request, a approval.Answer) error {
			act := acts.Act{Act: "approval kept", Item: r.ID, Digest: r.Digest, By: by}
			return d.Acts.Record(ctx, act, "", fmt.Sprintf("approval kept %s as %s, by %s: %s", r.ID, a.As, by, r.Tool))
		})
	switch {
	case errors.Is(err, approval.ErrDigest):
		return out, failure.New(failure.Conflict, err, "")
	case approval.IsBadAnswer(err):
		return out, failure.New(failure.Invalid, err, "")
	case err != nil:
		return out, err
	}
	out.Rule = out.Request.Answer.Rule
	return out, nil
}

// rateFor is how long the figure of questions is shown before it is counted again: a status line is drawn several times a second.
const rateFor = time.Minute

// leastHours is how many active hours a rate needs to say anything: one question in the first five minutes would be twelve an hour.
const leastHours = 1

// Asks counts the questions of the last 7 days. Within a minute it counts once.
func (d *Keeping) Asks(ctx context.Context) (index.Asks, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	now := time.Now()
	if now.Before(d.until) {
		return d.rate, nil
	}
	rate, err := d.Index.Asks(ctx, now.Add(-lately), time.Time{})
	if err == nil {
		d.rate, d.until = rate, now.Add(rateFor)
	}
	return rate, err
}

// Rate says in a few words how often people were asked in the last 7 days; "" if agents were active for less than an hour.
func (d *Keeping) Rate(ctx context.Context) string {
	asks, err := d.Asks(ctx)
	if err != nil || asks.Hours < leastHours {
		return ""
	}
	return fmt.Sprintf("asked %.1f times an active hour", asks.PerHour)
}
