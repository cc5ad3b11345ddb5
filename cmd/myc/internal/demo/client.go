package demo

import (
	"context"
	"fmt"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"mycelium/cmd/myc/internal/base"
	"mycelium/internal/node/project"
	"mycelium/internal/state"
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

func (d *demo) client(listChanged func()) *mcp.Client {
	var o mcp.ClientOptions
	if listChanged != nil {
		o.ToolListChangedHandler = func(context.Context, *mcp.ToolListChangedRequest) { listChanged() }
	}
	return mcp.NewClient(&mcp.Implementation{Name: "demo", Version: base.Release}, &o)
}

// verdict returns an error if a fact was false.
func (d *demo) verdict() error {
	if len(d.wrong) == 0 {
		return nil
	}
	return fmt.Errorf("demo: did not happen: %s", strings.Join(d.wrong, "; "))
}
