// Package relay attaches MCP clients to the daemon of a project.
package relay

import (
	"context"
	"net"

	"mycelium/cmd/myc/internal/base"
	"mycelium/internal/node/api"
)

// Dial returns a function that attaches to the daemon as an MCP client, for [daemon.Relay]: each attachment after the first finds the
// session of the first. told gets the session of each.
func Dial(a *base.App, p api.SessionParams, told func(api.Attached)) func(context.Context) (net.Conn, error) {
	p.Model = api.Model{Key: a.Getenv("ANTHROPIC_API_KEY"), BaseURL: a.Getenv("ANTHROPIC_BASE_URL")}
	return func(ctx context.Context) (net.Conn, error) {
		c, err := a.Attach(ctx)
		if err != nil {
			return nil, err
		}
		if err := a.HandOver(ctx, c); err != nil {
			c.Close()
			return nil, err
		}
		conn, got, err := base.Stream(ctx, c, api.MCP, p)
		if err != nil {
			c.Close()
			return nil, err
		}
		p = api.SessionParams{Token: got.Token, Own: p.Token == "" || p.Own, Environ: p.Environ, Model: p.Model,
			Only: p.Only}
		told(got)
		return conn, nil
	}
}

// Once returns a dial that has the first connection already.
func Once(first net.Conn, dial func(context.Context) (net.Conn, error)) func(context.Context) (net.Conn, error) {
	return func(ctx context.Context) (net.Conn, error) {
		if c := first; c != nil {
			first = nil
			return c, nil
		}
		return dial(ctx)
	}
}
