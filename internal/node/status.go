package node

import (
	"context"
	"fmt"
	"os"

	"github.com/go-json-experiment/json"

	"mycelium/internal/approval"
	"mycelium/internal/atomicfile"
	"mycelium/internal/node/api"
	"mycelium/internal/text"
)

// Status returns the state of the node, as the default role sees it. If the database cannot be used, Database says so, and what it
// holds is not counted.
func (n *Node) Status(ctx context.Context) (api.StatusReply, error) {
	r := n.View().Status()
	r.Daemon = api.DaemonStatus{Running: true, PID: os.Getpid(), Addr: n.Addr(), Since: n.since}
	live, err := n.Sessions.List(ctx)
	r.Sessions, r.Tools.Schemas = len(live), n.gate.Sessions.Listed()
	r.Asked = n.chats.Asked()
	if err == nil {
		r.Agents, err = n.chats.Sessions(ctx)
	}
	if err == nil {
		var waiting []approval.Request
		waiting, err = n.Approvals.List(ctx)
		r.Approvals = len(waiting)
	}
	if err != nil {
		r.Database = text.Describe(text.Hinted(fmt.Errorf("the database cannot be used: %w", err),
			"myc stop -f, and then any command: it says what is wrong with the database and how to begin a new one"))
	}
	r.Damage = n.damage()
	r.Problem, r.Hooks, r.Environs = n.files.Broken(), n.hooks.Warnings(), n.environs.Warnings()
	r.Restart = n.View().Waits(n.files.started)
	return r, nil
}

// WriteInfo writes daemon.json, which tells people and `myc stop -f` of this process, until Close.
func (n *Node) WriteInfo() error {
	b, err := json.Marshal(api.DaemonFile{PID: os.Getpid(), Addr: n.Addr(), Since: n.since.UTC()})
	if err == nil {
		err = atomicfile.Note(n.paths.Info, append(b, '\n'), 0o600)
	}
	if err != nil {
		return fmt.Errorf("write daemon.json: %w", err)
	}
	n.onClose(func() { _ = os.Remove(n.paths.Info) })
	return nil
}
