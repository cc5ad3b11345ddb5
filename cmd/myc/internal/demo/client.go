package demo

import (
	"context"
	"mycelium/internal/node/project"
	"mycelium/internal/state"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// state is where the state of the scratch project is.
func (d *demo) state() (state.Paths, error) {
	return (&project.Loader{Dir: d.dir, Environ: d.env}).State()
}

// stdio connects the SDK's client to `myc mcp`.
func (d *demo) stdio(ctx context.Context, args ...string) (*mcp.ClientSession, error) {
	paths, err := d.state()
	if err != nil {
		return nil, err
	}
	cmd, err := d.self(ctx, append([]string{"--state", string(paths.Root), "mcp"}, args...)...)
	if err != nil {
		return nil, err
	}
	return d.client(nil).Connect(ctx, &mcp.CommandTransport{Command: cmd}, nil)
}
