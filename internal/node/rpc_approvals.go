package node

import (
	"bytes"
	"context"
	"errors"
	"net"
	"os/user"
	"strconv"

	"github.com/go-json-experiment/json"

	"mycelium/internal/approval"
	"mycelium/internal/daemon"
	"mycelium/internal/node/api"
	"mycelium/internal/node/fence"
	"mycelium/internal/rpc"
)

func (n *Node) approvalsList(ctx context.Context, _ daemon.Caller, _ []byte) (any, *rpc.Error) {
	list, err := n.asks.List(ctx)
	if err != nil {
		return nil, internalError(err)
	}
	return list, nil
}

func (n *Node) approvalsShow(ctx context.Context, _ daemon.Caller, params []byte) (any, *rpc.Error) {
	var p api.AnswerParams
	if e := decode(params, &p); e != nil {
		return nil, e
	}
	r, err := n.asks.Show(ctx, p.ID)
	if err != nil {
		return nil, approvalError(p.ID, err)
	}
	return r, nil
}

func (n *Node) approvalsAnswer(ctx context.Context, c daemon.Caller, params []byte) (any, *rpc.Error) {
	var p api.AnswerParams
	if e := decode(params, &p); e != nil {
		return nil, e
	}
	a := approval.Answer{Allow: p.Allow, For: p.For, By: userName(c.UID), Via: "terminal", Reason: p.Reason, Text: p.Text, Digest: p.Digest}
	r, err := n.asks.Settle(ctx, p.ID, a)
	if err != nil {
		return nil, approvalError(p.ID, err)
	}
	return r, nil
}

// approvalsWatch streams every request as a line of JSON: those that wait, then each that comes, changes or is settled.
func (n *Node) approvalsWatch(_ context.Context, c daemon.Caller, _ []byte) (any, func(context.Context, net.Conn) error, *rpc.Error) {
	if why := fence.AgentBehind(c.PID); why != "" {
		return nil, nil, &rpc.Error{Code: api.CodeDenied, Message: "watch approvals: only a person may do this, and " + why}
	}
	return struct{}{}, func(ctx context.Context, conn net.Conn) error {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		go func() { // whoever watches sends nothing: what can be read is the end
			defer cancel()
			_, _ = conn.Read(make([]byte, 1))
		}()
		defer conn.Close()
		n.lookers.Add(1)
		defer n.lookers.Add(-1)
		n.asks.Watch(ctx, func(r approval.Request) {
			var b bytes.Buffer
			if json.MarshalWrite(&b, r, json.Deterministic(true)) != nil {
				return
			}
			b.WriteByte('\n')
			if _, err := conn.Write(b.Bytes()); err != nil {
				cancel()
			}
		})
		return nil
	}, nil
}

// approvalError puts a refusal of the queue into an error for people.
func approvalError(id string, err error) *rpc.Error {
	var late *approval.LateError
	switch {
	case errors.As(err, &late), errors.Is(err, approval.ErrDigest), errors.Is(err, approval.ErrNoWords):
		return &rpc.Error{Code: api.CodeSettled, Message: err.Error()}
	case errors.Is(err, approval.ErrUnknown):
		return &rpc.Error{Code: rpc.CodeInvalidParams, Message: "no request has the id " + id}
	}
	return internalError(err)
}

// userName is the name of a user of this machine, for the record.
func userName(uid int) string {
	id := strconv.Itoa(uid)
	if u, err := user.LookupId(id); err == nil && u.Username != "" {
		return u.Username
	}
	return "uid " + id
}
