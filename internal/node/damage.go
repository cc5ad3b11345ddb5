package node

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"mycelium/internal/approval"
	"mycelium/internal/audit"
	"mycelium/internal/daemon"
	"mycelium/internal/node/api"
	"mycelium/internal/node/failure"
	"mycelium/internal/text"
)

// place is the project folder that a node serves. It is held open, so that no other folder gets its inode while the node lives.
type place struct {
	dir  string
	held *os.File
	was  fs.FileInfo
}

func openPlace(dir string) (*place, error) {
	held, err := os.Open(dir)
	if err != nil {
		return nil, fmt.Errorf("open the project folder: %w", err)
	}
	was, err := held.Stat()
	if err != nil {
		return nil, errors.Join(fmt.Errorf("look at the project folder: %w", err), held.Close())
	}
	return &place{dir, held, was}, nil
}

func (p *place) close() { _ = p.held.Close() }

// gone says why the folder with the name is not the one that is served; "" if it is. It costs one stat(2).
func (p *place) gone() string {
	switch now, err := os.Stat(p.dir); {
	case errors.Is(err, fs.ErrNotExist):
		return "the project folder was renamed or removed while its daemon runs"
	case err != nil:
		return "the project folder cannot be read any more"
	case !os.SameFile(now, p.was):
		return "another folder has the name of the project folder, which was renamed or removed while its daemon runs"
	}
	return ""
}

// placeHint says what a person does about a folder that is gone.
const placeHint = "move the folder back, or end the daemon (myc stop -f); where a folder was moved to, myc trust --moved takes its " +
	"state along"

// damage says what keeps calls from running although the files load: in words, with how to mend it.
func (n *Node) damage() []string {
	out := []string{}
	if err := n.log.Look(); err != nil {
		out = append(out, text.Describe(err))
	}
	if why := n.place.gone(); why != "" {
		out = append(out, fmt.Sprintf("%s: %s (hint: %s)", n.dir, why, placeHint))
	}
	return out
}

// runLog looks after the audit log until ctx is done. A command that owns the project for a moment tells nothing: it fails with the error.
func (n *Node) runLog(ctx context.Context) error {
	if !n.options.Stays {
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
		why := n.place.gone()
		switch why {
		case said:
			continue
		case "":
			n.logger.Warn("the project folder is back", "dir", n.dir)
		default:
			n.logger.Error("no call runs: "+why, "dir", n.dir, "hint", placeHint)
			n.chats.Post(approval.Notice{Kind: approval.GuardAlert, Label: "project folder", Time: time.Now(), Text: "no call runs: " + why})
		}
		said = why
	}
	return nil
}

// beginAgain begins a new chain behind damage of the log, for the person at the socket.
func (n *Node) beginAgain(_ context.Context, c daemon.Caller, p api.BeginParams) (none api.None, err error) {
	return none, BeginAgain(n.log, userName(c.UID), p.Because)
}

// BeginAgain begins a new chain behind damage of a log. A log without damage is a failure of kind Conflict.
func BeginAgain(log *audit.Log, by, because string) error {
	err := log.BeginAgain(by, because)
	if errors.Is(err, audit.ErrIntact) {
		return failure.New(failure.Conflict, err, "myc audit verify checks the whole log")
	}
	return err
}
