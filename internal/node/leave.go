package node

import (
	"context"
	"time"
)

// maxLastCalls is how long a daemon that a person stops waits for the calls that run. Then it cancels them.
const maxLastCalls = 20 * time.Second

// leave ends the node without cutting a call: it goes on serving until the calls that run now have ended, then takes no connection any
// more and has the relays of its clients go on with the next node, and ends when everybody is answered. Calls that wait for an approval
// are released, and wait again at the next node. After within, if it is not 0, the node ends in any case. A second call shortens the wait
// only.
func (n *Node) leave(within time.Duration) {
	if within > 0 {
		time.AfterFunc(within, n.cancel)
	}
	n.leaveOnce.Do(func() {
		go func() {
			n.gate.AwaitRunning(n.open)
			n.Approvals.queue.Suspend()
			close(n.leaving)
			if err := n.owner.Leave(); err != nil {
				n.logger.Warn("say that the daemon is leaving", "err", err)
			}
		}()
	})
}

// left reports whether the node takes no connection any more.
func (n *Node) left() bool {
	select {
	case <-n.leaving:
		return true
	default:
		return false
	}
}

// sayWaiting is how long a command that owns the project is silent while it waits for the calls of others.
const sayWaiting = 2 * time.Second

// leaveWith ends the node of a command whose work is done, as leave does, or at once, with cancel, when the context of the command ends.
func (n *Node) leaveWith(ctx context.Context, cancel context.CancelFunc, finished <-chan struct{}) {
	n.leave(0)
	said := time.AfterFunc(sayWaiting, func() {
		n.logger.Warn("this command goes on until the calls of other commands that it serves have ended")
	})
	defer said.Stop()
	select {
	case <-finished:
	case <-ctx.Done():
		cancel()
		<-finished
	}
}
