package node

import (
	"bytes"
	"context"
	"errors"
	"net"

	"github.com/go-json-experiment/json"

	"mycelium/internal/approval"
	"mycelium/internal/backend/oauth"
	"mycelium/internal/daemon"
	"mycelium/internal/gate/session"
	"mycelium/internal/gateway"
	"mycelium/internal/hook"
	"mycelium/internal/node/acts"
	"mycelium/internal/node/api"
	"mycelium/internal/node/catalog"
	"mycelium/internal/node/edit"
	"mycelium/internal/node/fence"
	"mycelium/internal/node/roles"
	"mycelium/internal/node/why"
	"mycelium/internal/op"
	"mycelium/internal/op/failure"
	"mycelium/internal/op/socket"
	"mycelium/internal/policy/sign"
	"mycelium/internal/rpc"
)

// methods are the operations that the socket answers.
func (n *Node) methods() socket.Table {
	to := socket.Table{Guard: fence.PersonOnly, Rows: map[string]socket.Row{}}
	socket.Handle(to, api.Status, func(ctx context.Context, _ op.Caller, _ op.None) (api.StatusReply, error) { return n.Status(ctx) })
	socket.Handle(to, api.Stop, func(context.Context, op.Caller, op.None) (none op.None, _ error) {
		n.stopped.Store(true)
		n.leave(maxLastCalls)
		return none, nil
	})
	socket.Handle(to, api.GiveWay, func(context.Context, op.Caller, op.None) (none op.None, _ error) {
		n.leave(0)
		return none, nil
	})
	socket.Handle(to, api.Reload, func(ctx context.Context, _ op.Caller, _ op.None) (none op.None, _ error) {
		return none, n.files.Reload(ctx)
	})
	socket.Handle(to, api.BeginAgain, n.beginAgain)
	socket.Handle(to, api.Hook, func(ctx context.Context, _ op.Caller, r hook.Request) (hook.Reply, error) {
		return n.answerHook(ctx, r)
	})
	n.toolMethods(to)
	n.waitMethods(to)
	n.serverMethods(to)
	n.approvalMethods(to)
	n.sessionMethods(to)
	catalog.Catalog{View: n.View, Learn: n.Servers.Learn}.Handle(to)
	why.Handle(to, n.View)
	edits := &edit.Editor{View: n.View, Load: n.files.load, Reload: n.files.Reload, Log: n.log}
	edits.Methods(to)
	roles.Roles{View: n.View, Load: n.files.load, Sessions: n.Sessions.List, Edits: edits}.Handle(to)
	return to
}

func (n *Node) toolMethods(to socket.Table) {
	socket.Handle(to, api.Tools, func(_ context.Context, c op.Caller, p api.ToolsParams) ([]api.Tool, error) {
		return n.Tools.List(c, p)
	})
	socket.Handle(to, api.Call, n.Tools.Call)
	socket.Handle(to, api.Held, func(_ context.Context, _ op.Caller, p api.HeldParams) ([]api.HeldItem, error) {
		return n.Tools.Held(p.Name), nil
	})
	socket.Handle(to, api.Accept, func(ctx context.Context, c op.Caller, p api.AcceptParams) (none op.None, _ error) {
		return none, n.Tools.Accept(ctx, p.Items, sign.Of(p.Sure), acts.Of(c.UID, p.Device))
	})
	socket.Handle(to, api.KeepOut, func(ctx context.Context, c op.Caller, p api.AcceptParams) (none op.None, _ error) {
		return none, n.Tools.KeepOut(ctx, p.Items, acts.Of(c.UID, p.Device))
	})
	socket.Handle(to, api.ServedSkill, func(ctx context.Context, _ op.Caller, p api.ServedSkillParams) (api.ServedSkillReply, error) {
		return n.Skills.Show(ctx, p.Name)
	})
	socket.Handle(to, api.ApproveSkill, func(ctx context.Context, c op.Caller, p api.ServedSkillParams) (none op.None, _ error) {
		return none, n.Skills.Approve(ctx, p.Name, p.Digest, sign.Of(p.Sure), acts.Of(c.UID, p.Device))
	})
}

// waitMethods are those about what waits for a person besides calls.
func (n *Node) waitMethods(to socket.Table) {
	socket.Handle(to, api.Waits, n.waits.List)
	socket.Handle(to, api.AcceptFiles, n.waits.AcceptFiles)
	socket.Handle(to, api.SwarmDecide, n.waits.Decide)
}

func (n *Node) serverMethods(to socket.Table) {
	socket.Handle(to, api.Learn, func(ctx context.Context, _ op.Caller, _ op.None) (api.LearnReply, error) {
		return n.Servers.Learn(ctx), nil
	})
	socket.Handle(to, api.LoginBegin, func(ctx context.Context, _ op.Caller, p api.LoginParams) (oauth.Login, error) {
		return n.Servers.BeginLogin(ctx, p.Server, p.Redirect)
	})
	socket.Handle(to, api.LoginEnd, func(ctx context.Context, _ op.Caller, p api.LoginParams) (api.LoginReply, error) {
		return n.Servers.EndLogin(ctx, p.Server, p.Query)
	})
	socket.Handle(to, api.Logout, func(ctx context.Context, _ op.Caller, p api.LoginParams) (api.LogoutReply, error) {
		return n.Servers.Logout(ctx, p.Server)
	})
	socket.Handle(to, api.EnvironNames, func(context.Context, op.Caller, op.None) ([]string, error) { return n.Servers.EnvironNames(), nil })
	socket.Handle(to, api.EnvironSet, func(_ context.Context, c op.Caller, p api.EnvironParams) (none op.None, _ error) {
		n.Servers.SetEnviron(c, p.Environ)
		return none, nil
	})
}

func (n *Node) approvalMethods(to socket.Table) {
	socket.Handle(to, api.ApprovalsList, func(ctx context.Context, _ op.Caller, _ op.None) ([]approval.Request, error) {
		return n.Approvals.List(ctx)
	})
	socket.Handle(to, api.ApprovalsShow, func(ctx context.Context, _ op.Caller, p api.ApprovalParams) (approval.Request, error) {
		return n.Approvals.Show(ctx, p.ID)
	})
	socket.Handle(to, api.ApprovalsAnswer, func(ctx context.Context, c op.Caller, a api.Answer) (approval.Request, error) {
		return n.Approvals.Say(ctx, acts.User(c.UID), a)
	})
	socket.Handle(to, api.ApprovalsKeep, func(ctx context.Context, c op.Caller, p api.KeepParams) (api.KeepReply, error) {
		if err := p.Complete(); err != nil {
			return api.KeepReply{}, err
		}
		return n.keeping.Keep(ctx, acts.Of(c.UID, p.Device), p)
	})
	socket.Handle(to, api.ApprovalsMode, func(ctx context.Context, _ op.Caller, p api.ModeParams) (r api.ModeReply, err error) {
		if p.Mode != "" {
			err = n.chats.SetMode(ctx, p.Mode)
		}
		return api.ModeReply{Mode: n.chats.Mode()}, err
	})
	socket.Handle(to, api.ApprovalsReset, func(ctx context.Context, _ op.Caller, p api.ResetParams) (api.ResetReply, error) {
		return api.ResetReply{Reset: p.Session}, n.Approvals.queue.Reset(ctx, p.Session)
	})
	socket.Handle(to, api.ApprovalsToken, func(_ context.Context, c op.Caller, p api.TokenParams) (api.TokenReply, error) {
		if p.Revoke {
			return api.TokenReply{}, n.Approvals.RevokeToken()
		}
		token, err := n.Approvals.NewToken(acts.User(c.UID))
		return api.TokenReply{Token: token}, err
	})
}

func (n *Node) sessionMethods(to socket.Table) {
	socket.Handle(to, api.SessionNew, func(ctx context.Context, _ op.Caller, p api.SessionParams) (api.Session, error) {
		return n.Sessions.New(ctx, p)
	})
	socket.Handle(to, api.SessionList, func(ctx context.Context, _ op.Caller, _ op.None) ([]session.Summary, error) {
		return n.Sessions.List(ctx)
	})
	socket.Handle(to, api.SessionChange, func(ctx context.Context, _ op.Caller, p api.ChangeParams) (api.Session, error) {
		return n.Sessions.Change(ctx, p)
	})
	socket.Handle(to, api.SessionSetRole, func(ctx context.Context, _ op.Caller, p api.SessionRole) (api.Session, error) {
		return n.Sessions.Change(ctx, api.ChangeParams{ID: p.ID, Role: p.Role})
	})
	socket.Handle(to, api.SessionEnd, func(ctx context.Context, _ op.Caller, p api.SessionRef) (none op.None, _ error) {
		return none, n.Sessions.End(ctx, p.ID)
	})
	socket.Handle(to, api.SessionTold, func(ctx context.Context, _ op.Caller, p api.ToldParams) (bool, error) {
		live, err := n.Sessions.authenticate(ctx, p.Token)
		return err == nil && commandGranted(live.Snapshot(), p.Command), err
	})
	socket.Handle(to, api.SessionSaid, func(ctx context.Context, _ op.Caller, p api.SaidParams) (api.SaidReply, error) {
		live, err := n.Sessions.authenticate(ctx, p.Token)
		if err != nil {
			return api.SaidReply{}, err
		}
		return hear(ctx, n.gate, live, p.Text)
	})
	socket.Handle(to, api.Notify, n.chats.Notify)
	n.chats.Methods(to)
	socket.Handle(to, api.Runs, func(context.Context, op.Caller, op.None) ([]approval.AgentSession, error) {
		return append(n.Runs.Sessions(), n.Runs.Past()...), nil
	})
}

// streams are the requests whose connection carries something else once they are answered.
func (n *Node) streams() map[string]daemon.Stream {
	return map[string]daemon.Stream{
		api.MCP.Name: n.streamMCP,
		// Every request: those that wait, then each that comes, changes or is settled.
		api.ApprovalsWatch.Name: streamLines(n, api.ApprovalsWatch, func(api.WatchParams) error { return nil }, n.Approvals.watchFor),
		api.BotWatch.Name:       streamLines(n, api.BotWatch, n.chats.Admit, n.chats.Serve),
	}
}

// streamMCP serves MCP to a client that attached over the socket.
func (n *Node) streamMCP(ctx context.Context, c op.Caller, params []byte) (any, func(context.Context, net.Conn) error, *rpc.Error) {
	p, err := socket.Decode(fence.PersonOnly, c, api.MCP, params)
	if err != nil {
		return nil, nil, failure.ToRPC(err)
	}
	answer, s, done, err := n.Sessions.attach(ctx, c, p)
	if err != nil {
		return nil, nil, failure.ToRPC(err)
	}
	return answer, func(ctx context.Context, conn net.Conn) error {
		err := n.gateway.Stdio(ctx, s, p.Only, n.leaving, conn, conn)
		if !errors.Is(err, gateway.ErrLeft) { // else the client finds its session again
			done()
		}
		return err
	}, nil
}

// streamLines writes each value that watch tells as a line of JSON, until the client goes or the node leaves. An error of admit is the
// answer instead.
func streamLines[P, L any](n *Node, m op.Op[P, op.None], admit func(P) error, watch func(context.Context, P, func(L))) daemon.Stream {
	return func(_ context.Context, c op.Caller, params []byte) (any, func(context.Context, net.Conn) error, *rpc.Error) {
		p, err := socket.Decode(fence.PersonOnly, c, m, params)
		if err == nil {
			err = admit(p)
		}
		if err != nil {
			return nil, nil, failure.ToRPC(err)
		}
		return struct{}{}, func(ctx context.Context, conn net.Conn) error {
			ctx, cancel := context.WithCancel(ctx)
			defer cancel()
			go func() { // the client sends nothing: a read that returns means that it has gone
				defer cancel()
				_, _ = conn.Read(make([]byte, 1))
			}()
			go func() { // a client of a node that leaves attaches to the next one
				defer cancel()
				select {
				case <-n.leaving:
				case <-ctx.Done():
				}
			}()
			defer conn.Close()
			watch(ctx, p, func(l L) {
				var b bytes.Buffer
				if json.MarshalWrite(&b, l, json.Deterministic(true)) != nil {
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
}
