package serve

import (
	"context"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"mycelium/cmd/myc/internal/base"
	"mycelium/internal/node/api"
	"mycelium/internal/op/failure"
	"mycelium/internal/rpc"
	"mycelium/internal/text"
)

// Unserved tells the client of a stdio server why no project was found for it, and returns err. Every other command only returns err.
func Unserved(b *base.App, c *cobra.Command, err error) error {
	background, addr := c.Flags().Lookup("background"), c.Flags().Lookup("addr")
	_, name, _ := strings.Cut(c.CommandPath(), " ")
	switch {
	case err == nil, name != "mcp" && name != "mcp start", b.Getenv("MCP_TRANSPORT") == "http",
		background != nil && background.Changed, addr != nil && addr.Changed:
		return err
	}
	return (&app{b}).refuse(c.Context(), api.SessionParams{}, err)
}

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
