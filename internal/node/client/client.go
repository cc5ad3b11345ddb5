// Package client reads the streams of the node of a project. Commands and pages use it.
package client

import (
	"bufio"
	"context"
	"fmt"

	"github.com/go-json-experiment/json"

	"mycelium/internal/approval"
	"mycelium/internal/daemon"
	"mycelium/internal/node/api"
	"mycelium/internal/op"
	"mycelium/internal/op/failure"
)

// maxRequestLine bounds one request for an approval on the way to a person, in bytes: its arguments are bounded by the queue.
const maxRequestLine = 8 << 20

// Watch calls tell with each request that waits, and again when it changes or is settled, until the connection ends or ctx is done. It
// closes the client. That the connection ended is no error: the next attempt tells whether a daemon can be found.
func Watch(ctx context.Context, c *daemon.Client, p api.WatchParams, tell func(approval.Request)) error {
	return Stream(ctx, c, api.ApprovalsWatch, p, func() {}, tell)
}

// Stream is as Watch for any method whose answer is followed by lines of JSON. opened is called when the node has answered.
func Stream[P, L any](ctx context.Context, c *daemon.Client, m op.Op[P, op.None], p P, opened func(), tell func(L)) error {
	defer c.Close()
	conn, err := c.Stream(ctx, m.Name, p, nil)
	if err != nil {
		return failure.FromRPC(err)
	}
	defer conn.Close()
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	defer stop()
	opened()
	lines := bufio.NewScanner(conn)
	lines.Buffer(nil, maxRequestLine)
	for lines.Scan() {
		var l L
		if err := json.Unmarshal(lines.Bytes(), &l); err != nil {
			return fmt.Errorf("%s: read a line: %w", m.Name, err)
		}
		tell(l)
	}
	return nil
}
