package gateway

import (
	"bytes"
	"context"
	"io"
	"strconv"
	"sync"

	"mycelium/internal/rpc"
)

// lineConn is a server on lines that can ask its client: each request is served in a goroutine of its own, each notification in the
// order of arrival.
type lineConn struct {
	in    io.Reader
	serve func(ctx context.Context, m rpc.Message) ([]byte, *rpc.Error)

	mu    sync.Mutex
	out   io.Writer
	last  int64
	asked map[string]chan rpc.Message
}

// run serves until the client is gone.
func (c *lineConn) run(ctx context.Context) {
	ctx, cancel := context.WithCancel(ctx)
	var work sync.WaitGroup
	defer work.Wait()
	defer cancel()
	lines := rpc.NewLines(c.in, 0)
	for {
		line, err := lines.Next()
		if err != nil {
			return
		}
		m, bad := rpc.Parse(bytes.Clone(line))
		switch {
		case bad != nil:
		case m.IsResponse():
			c.mu.Lock()
			answer := c.asked[string(m.ID)]
			c.mu.Unlock()
			if answer != nil {
				answer <- m
			}
		case m.ID == nil:
			_, _ = c.serve(ctx, m)
		default:
			work.Go(func() {
				result, fault := c.serve(ctx, m)
				reply := rpc.Message{ID: m.ID, Result: result}
				if fault != nil {
					reply = rpc.Message{ID: m.ID, Error: fault.Raw()}
				}
				c.send(reply)
			})
		}
	}
}

func (c *lineConn) send(m rpc.Message) {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, _ = c.out.Write(append(m.Append(nil), '\n'))
}

func (c *lineConn) notify(method string, params []byte) {
	c.send(rpc.Message{Method: method, Params: params})
}

func (c *lineConn) ask(ctx context.Context, method string, params []byte) (rpc.Message, error) {
	answer := make(chan rpc.Message, 1)
	c.mu.Lock()
	c.last++
	id := strconv.FormatInt(c.last, 10)
	if c.asked == nil {
		c.asked = map[string]chan rpc.Message{}
	}
	c.asked[id] = answer
	c.mu.Unlock()
	c.send(rpc.Message{ID: []byte(id), Method: method, Params: params})
	select {
	case m := <-answer:
		return m, nil
	case <-ctx.Done():
		return rpc.Message{}, ctx.Err()
	}
}
