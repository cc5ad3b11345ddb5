package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"sync"

	"mycelium/internal/rpc"
)

var errEnded = errors.New("the process ended before its answer")

// conn is a client on the pipes of a process. It passes each answer to the call that waits for it.
type conn struct {
	lines *rpc.Lines

	write sync.Mutex
	in    io.Writer

	mu      sync.Mutex
	last    int64
	waiting map[string]chan rpc.Message // by id; nil after the end of the stream
}

func newConn(out io.Reader, in io.Writer) *conn {
	return &conn{lines: rpc.NewLines(out, 0), in: in, waiting: map[string]chan rpc.Message{}}
}

// read reads answers until the stream ends.
func (c *conn) read() {
	defer c.end()
	for {
		line, err := c.lines.Next()
		if err != nil {
			return
		}
		m, bad := rpc.Parse(bytes.Clone(line))
		if bad != nil || !m.IsResponse() {
			continue
		}
		c.mu.Lock()
		answer := c.waiting[string(m.ID)]
		delete(c.waiting, string(m.ID))
		c.mu.Unlock()
		if answer != nil {
			answer <- m
		}
	}
}

func (c *conn) end() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, answer := range c.waiting {
		close(answer)
	}
	c.waiting = nil
}

// call sends a request and waits for its answer.
func (c *conn) call(ctx context.Context, method string, params []byte) (rpc.Message, error) {
	answer := make(chan rpc.Message, 1)
	c.mu.Lock()
	c.last++
	id := strconv.FormatInt(c.last, 10)
	if c.waiting == nil {
		c.mu.Unlock()
		return rpc.Message{}, errEnded
	}
	c.waiting[id] = answer
	c.mu.Unlock()
	if err := c.send(rpc.Message{ID: []byte(id), Method: method, Params: params}); err != nil {
		return rpc.Message{}, err
	}
	select {
	case m, ok := <-answer:
		if !ok {
			return m, errEnded
		}
		return m, nil
	case <-ctx.Done():
		return rpc.Message{}, ctx.Err()
	}
}

func (c *conn) send(m rpc.Message) error {
	c.write.Lock()
	defer c.write.Unlock()
	if _, err := c.in.Write(append(m.Append(nil), '\n')); err != nil {
		return fmt.Errorf("write %s: %w", m.Method, err)
	}
	return nil
}
