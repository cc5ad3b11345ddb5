package node

import (
	"context"
	"errors"
	"fmt"
	"time"

	"mycelium/internal/approval"
	"mycelium/internal/audit"
	"mycelium/internal/node/acts"
	"mycelium/internal/node/api"
	"mycelium/internal/op"
	"mycelium/internal/op/failure"
	"mycelium/internal/text"
)

// damage says what keeps calls from running although the files load: in words, with how to mend it.
func (n *Node) damage() []string {
	out := []string{}
	if err := n.log.Look(); err != nil {
		out = append(out, text.Describe(err))
	}
	if why := n.place.Gone(); why != "" {
		out = append(out, text.Describe(text.Hinted(fmt.Errorf("%s: %s", n.dir, why), goneHint)))
	}
	return out
}

// runLog looks after the audit log until ctx is done. A command that owns the project for a moment tells nothing: it fails with the error.
func (n *Node) runLog(ctx context.Context) error {
	if !n.options.stays() {
		return n.log.Run(ctx, nil)
	}
	return n.log.Run(ctx, n.tellLog)
}

// tellLog tells people what keeps the audit log from being written, and when it is over.
func (n *Node) tellLog(problem error) {
	if problem == nil {
		n.logger.Warn("the audit log can be written again")
		return
	}
	n.logger.Error("no call runs: the audit log cannot be written", "error", problem)
	n.chats.Post(approval.Notice{Kind: approval.GuardAlert, Label: "audit log", Time: time.Now(), Text: "no call runs: " + problem.Error()})
}

// placeEvery is how often the project folder is looked at, so that people are told; each call looks too.
const placeEvery = 500 * time.Millisecond

// watchPlace tells people if the project folder is renamed or removed, until ctx is done.
func (n *Node) watchPlace(ctx context.Context) error {
	said := ""
	for wait(ctx, placeEvery) {
		why := n.place.Gone()
		switch why {
		case said:
			continue
		case "":
			n.logger.Warn("the project folder is back", "dir", n.dir)
		default:
			n.logger.Error("no call runs: "+why, "dir", n.dir, "hint", goneHint)
			n.chats.Post(approval.Notice{Kind: approval.GuardAlert, Label: "project folder", Time: time.Now(), Text: "no call runs: " + why})
		}
		said = why
	}
	return nil
}

// beginAgain begins a new chain behind damage of the log, for the person at the socket.
func (n *Node) beginAgain(_ context.Context, c op.Caller, p api.BeginParams) (none op.None, err error) {
	return none, BeginAgain(n.log, acts.User(c.UID), p.Because)
}

// BeginAgain begins a new chain behind damage of a log. A log without damage is a failure of kind Conflict.
func BeginAgain(log *audit.Log, by, because string) error {
	err := log.BeginAgain(by, because)
	if errors.Is(err, audit.ErrIntact) {
		return failure.New(failure.Conflict, err, "myc audit verify checks the whole log")
	}
	return err
}
