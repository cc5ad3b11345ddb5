// Package engine opens our own agent: its session at the daemon, its conversation, and the model or the program that it works with.
package engine

import (
	"context"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"mycelium/cmd/myc/internal/base"
	"mycelium/cmd/myc/internal/relay"
	"mycelium/internal/agent"
	"mycelium/internal/audit"
	"mycelium/internal/backend/catalog"
	"mycelium/internal/backend/mcpclient"
	"mycelium/internal/daemon"
	"mycelium/internal/keeper"
	"mycelium/internal/node/api"
	"mycelium/internal/rpc"
)

// closeWithin is how long the daemon may take to answer what is still open when an agent ends.
const closeWithin = 2 * time.Second

// Door is a session at the daemon of the project: the stream of `myc mcp`, with the MCP client that the gateway uses for its servers.
type Door struct {
	app     *base.App
	conn    *mcpclient.Conn
	changed atomic.Bool
	waits   waits
	// confirm asks the person whether a skill may be active that a text asked for; nil: nobody is asked.
	confirm func(ctx context.Context, skill string) bool

	mu      sync.Mutex
	session api.Attached
}

// OpenDoor attaches to the daemon, which it starts if none runs, and opens a session there.
func OpenDoor(ctx context.Context, a *base.App, p api.SessionParams) (*Door, error) {
	d := &Door{app: a}
	d.waits.app = a
	dial := relay.Dial(a, p, func(got api.Attached) {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.session = got
	})
	first, err := dial(ctx) // here, so that its error is the command's
	if err != nil {
		return nil, err
	}
	process := keeper.Inside(func(ctx context.Context, in io.Reader, out io.Writer) error {
		return daemon.Relay(ctx, in, out, relay.Once(first, dial))
	})
	info, err := json.Marshal(map[string]string{"name": "myc", "version": a.Version}, json.Deterministic(true))
	if err != nil {
		return nil, err
	}
	d.conn, err = mcpclient.Open(&mcpclient.Target{}, process, mcpclient.Options{ClientInfo: info, Now: time.Now, Name: "gateway",
		Changed:  func() { d.changed.Store(true) },
		AskLimit: func() time.Duration { return mcpclient.DefaultAskLimit }})
	if err != nil {
		_ = first.Close()
		return nil, err
	}
	// Our own gateway knows both eras. The door stays with a session, because notices of changed lists come to it unasked.
	if err := d.conn.Handshake(ctx, catalog.About{NoDiscovery: true}); err != nil {
		d.Close()
		return nil, fmt.Errorf("open a session at the gateway: %w", err)
	}
	return d, nil
}

// Close ends the session, unless it belongs to somebody else's token.
func (d *Door) Close() {
	d.waits.close()
	d.conn.Close(closeWithin)
}

// Session is the id of the session.
func (d *Door) Session() string { return d.attached().Session }

func (d *Door) attached() api.Attached {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.session
}

// Changed reports whether the list of tools may have changed.
func (d *Door) Changed() bool { return d.changed.Swap(false) }

// Said tells the session what a person said.
func (d *Door) Said(ctx context.Context, said string) (agent.Standing, error) {
	now, err := standing(ctx, d.app, d.attached().Token, said)
	if err != nil || d.confirm == nil || len(now.Asks) == 0 {
		return now, err
	}
	p := api.ChangeParams{ID: d.Session()}
	for _, skill := range now.Asks {
		if d.confirm(ctx, skill) {
			p.Add = append(p.Add, skill)
		}
	}
	if len(p.Add) == 0 {
		return now, nil
	}
	if _, err := base.Operate(ctx, d.app, api.SessionChange, p); err != nil {
		return now, err
	}
	return standing(ctx, d.app, d.attached().Token, "")
}

// standing tells the session of a token what a person said, and returns what it is then.
func standing(ctx context.Context, a *base.App, token, said string) (agent.Standing, error) {
	c, err := a.Attach(ctx)
	if err != nil {
		return agent.Standing{}, err
	}
	defer c.Close()
	r, err := base.Call(ctx, c, api.SessionSaid, api.SaidParams{Token: token, Text: said})
	return agent.Standing{Role: r.Role, Active: r.Active, Brief: r.Brief, Wanted: r.Wanted, Asks: r.Asks, Model: r.Model}, err
}

// params are those of tools/call.
type params struct {
	Name string         `json:"name"`
	Args jsontext.Value `json:"arguments"`
	Meta *meta          `json:"_meta,omitempty"`
}

// meta has the reasoning that the log keeps with the call, and what is left of a budget.
type meta struct {
	Thinking *audit.Thinking `json:"mycelium/thinking,omitempty"`
	Budget   float64         `json:"mycelium/budget,omitzero"` // USD that a sub-agent may cost
}

// Call calls a tool.
func (d *Door) Call(ctx context.Context, u agent.Use, tell func(agent.Waiting)) (agent.Result, error) {
	p := params{Name: u.Tool, Args: jsontext.Value(u.Args)}
	if u.Thinking != "" || u.Budget > 0 {
		p.Meta = &meta{Budget: u.Budget}
	}
	if u.Thinking != "" {
		p.Meta.Thinking = &audit.Thinking{Thinking: u.Thinking, Type: "extended_thinking", ModelID: u.Model}
	}
	waited := d.waits.watch(ctx, d.Session(), u.Tool, tell)
	var raw jsontext.Value
	err := d.request(ctx, "tools/call", p, &raw)
	asked := waited()
	if refused := (*rpc.Error)(nil); asRPC(err, &refused) { // an unknown tool, and arguments that do not fit
		return resultOf(u.Tool, textResult(refused.Message), asked), nil
	}
	if err != nil {
		return agent.Result{}, err
	}
	return resultOf(u.Tool, raw, asked), nil
}

// request sends a request and decodes its result. An error of the gateway is an *rpc.Error.
func (d *Door) request(ctx context.Context, method string, params, out any) error {
	b, err := json.Marshal(params, json.Deterministic(true))
	if err != nil {
		return err
	}
	result, refusal, err := d.conn.Request(ctx, mcpclient.Call{Method: method, Params: b})
	switch {
	case err != nil:
		return err
	case refusal != nil:
		return rpc.ErrorOf(refusal)
	}
	if err := json.Unmarshal(result, out); err != nil {
		return fmt.Errorf("read the answer of the gateway to %s: %w", method, err)
	}
	return nil
}
