// Package door answers an agent that runs in the sandbox as a whole, at a socket: its events, and its gateway. It answers for the session
// of this one agent. Whoever reaches the socket can do no more than the agent itself.
package door

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-json-experiment/json"

	"mycelium/internal/harness"
	"mycelium/internal/hook"
)

// Door is what an agent in the sandbox reaches.
type Door struct {
	Agent string // its name
	Token string // of its session
	// Program returns a run of the hook, which lacks its flags, input and output.
	Program func() *hook.Program
	// Gateway connects an MCP client with the session.
	Gateway func(ctx context.Context, in io.Reader, out io.Writer) error

	calls atomic.Int64
}

// Calls returns how many events before a tool were answered: what a program tells of its tools is compared with it.
func (d *Door) Calls() int64 { return d.calls.Load() }

// maxPath is how long the path of a socket may be, in bytes (unix(7), less the zero byte).
const maxPath = 107

// Listen answers at a socket in a new folder that only this user opens, until end is called.
func (d *Door) Listen(ctx context.Context) (socket string, end func(), err error) {
	folder, err := os.MkdirTemp("", "myc-door-")
	if err == nil {
		folder, err = filepath.EvalSymlinks(folder)
	}
	if err != nil {
		return "", nil, fmt.Errorf("make a folder for the socket of an agent: %w", err)
	}
	socket = filepath.Join(folder, "s")
	if len(socket) > maxPath {
		_ = os.RemoveAll(folder)
		return "", nil, fmt.Errorf("%s is longer than the path of a socket may be: set TMPDIR to a shorter one", socket)
	}
	l, err := net.Listen("unix", socket)
	if err != nil {
		_ = os.RemoveAll(folder)
		return "", nil, fmt.Errorf("listen for an agent: %w", err)
	}
	ctx, cancel := context.WithCancel(ctx)
	var parts sync.WaitGroup
	parts.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return // it is closed
			}
			parts.Go(func() { d.serve(ctx, c) })
		}
	})
	return socket, func() {
		cancel()
		_ = l.Close()
		parts.Wait()
		_ = os.RemoveAll(folder)
	}, nil
}

// maxLine bounds an event with what is around it, in bytes: its input is encoded in base64.
const maxLine = harness.MaxInput/3*4 + 64<<10

// serve answers one client.
func (d *Door) serve(ctx context.Context, c net.Conn) {
	defer context.AfterFunc(ctx, func() { _ = c.Close() })()
	defer func() { _ = c.Close() }()
	r := bufio.NewReaderSize(c, 64<<10)
	var line []byte
	for more := error(bufio.ErrBufferFull); more != nil; {
		var part []byte
		if part, more = r.ReadSlice('\n'); more != nil && !errors.Is(more, bufio.ErrBufferFull) || len(line)+len(part) > maxLine {
			return // the hook denies without an answer
		}
		line = append(line, part...)
	}
	switch what, rest, _ := strings.Cut(strings.TrimSuffix(string(line), "\n"), " "); what {
	case hook.DoorGateway:
		_ = d.Gateway(ctx, r, c)
	case hook.DoorEvent:
		reply, err := d.answer(ctx, rest)
		if err != nil {
			return
		}
		if said, err := json.Marshal(reply, json.Deterministic(true)); err == nil {
			_, _ = c.Write(append(said, '\n'))
		}
	}
}

// answer has an event decided in the session of the agent, whatever the request says of itself.
func (d *Door) answer(ctx context.Context, line string) (hook.Reply, error) {
	var r hook.Request
	if err := json.Unmarshal([]byte(line), &r); err != nil {
		return hook.Reply{}, err
	}
	known, ok := harness.Named(d.Agent)
	if !ok || r.Agent != d.Agent || !slices.Contains(known.Events(), r.Event) {
		return hook.Reply{}, errors.New("it is no event of this agent")
	}
	p := d.Program()
	p.Flags = hook.Flags{Agent: d.Agent, Dir: p.Project.Project, Event: r.Event, Limit: time.Duration(r.Limit) * time.Millisecond,
		Gateway: r.Gateway}
	p.In, p.Environ = strings.NewReader(string(r.Input)), nil
	p.Getenv = func(name string) string {
		if name == hook.TokenVar {
			return d.Token
		}
		return ""
	}
	reply := p.Serve(ctx)
	if known.Kind(r.Event) == harness.PreTool {
		d.calls.Add(1)
	}
	return reply, nil
}
