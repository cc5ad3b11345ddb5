package main

import (
	"context"

	"mycelium/internal/approval"
)

// openApprovals opens the queue of what waits for an answer. It is always there: with nobody to answer, the deadline denies.
func (n *node) openApprovals(ctx context.Context) (err error) {
	conf := n.view.project.File.Approval
	n.asks, err = approval.New(ctx, approval.Options{DB: n.db, Deadline: conf.Wait(), Logger: n.logger})
	if err != nil {
		return err
	}
	n.onClose(n.asks.Close)
	return nil
}
