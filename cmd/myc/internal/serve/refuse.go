package serve

import (
	"context"
	"io"

	"mycelium/cmd/myc/internal/base"
	"mycelium/internal/node/api"
	"mycelium/internal/node/failure"
	"mycelium/internal/rpc"
	"mycelium/internal/text"
)

// refuse tells an MCP client why it is not served, and returns err for the person who reads our stderr. Most clients show only what comes
// over the protocol: a process that ends is "Connection closed" to them. So each request is answered with the error, until the client goes.
func (a *app) refuse(ctx context.Context, p api.SessionParams, err error) error {
	if base.StdinIsTerminal(a.In) { // a person sees the error itself
		return err
	}
	why := &rpc.Error{Code: failure.Of(err).Kind.RPC(), Message: text.Visible(asked(p) + ": " + text.Describe(err))}
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		answerAll(a.In, a.Out, why)
	}()
	select {
	case <-gone:
	case <-ctx.Done():
		if rpc.Interrupt(a.In) {
			<-gone
		}
	}
	return err
}

// asked says what the session was asked for, and where.
func asked(p api.SessionParams) string {
	switch {
	case p.Role == "":
		return "myc mcp"
	case p.Narrow:
		return "myc mcp with " + roleVar + "=" + p.Role
	}
	return "myc mcp --role " + p.Role
}

// answerAll answers every request with one error.
func answerAll(in io.Reader, out io.Writer, why *rpc.Error) {
	for lines := rpc.NewLines(in, rpc.MaxMessage); ; {
		line, err := lines.Next()
		if err != nil {
			return
		}
		m, bad := rpc.Parse(line)
		if bad != nil || m.ID == nil || m.Method == "" {
			continue
		}
		if _, err := out.Write(append(rpc.Refuse(m.ID, why).Append(nil), '\n')); err != nil {
			return
		}
	}
}
