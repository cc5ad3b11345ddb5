package node

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"mycelium/internal/atomicfile"
	"mycelium/internal/daemon"
	"mycelium/internal/harness"
	"mycelium/internal/hook/web"
	"mycelium/internal/node/api"
	"mycelium/internal/node/project"
	"mycelium/internal/rpc"
)

// hookServer takes the events that agents post over HTTP, on a loopback port of its own choice. It listens from the first session that
// wants it on. The next daemon of the project listens at the same port while such a session lives: its agent knows no other.
type hookServer struct {
	mu   sync.Mutex
	ctx  context.Context // of the events under way
	addr string          // host and port; "": it does not listen
	end  func()
}

// hookAddr is the file in which the address stands; the runs of agents have folders beside it.
func (n *Node) hookAddr() string { return filepath.Join(project.RunDir(n.dir), "hooks.addr") }

// openHooks takes the port again that agents at work know. Events under way end with ctx.
func (n *Node) openHooks(ctx context.Context) {
	n.hooks.mu.Lock()
	n.hooks.ctx = ctx
	n.hooks.mu.Unlock()
	if addr, err := os.ReadFile(n.hookAddr()); err == nil {
		if runs, _ := filepath.Glob(filepath.Join(project.RunDir(n.dir), "*", "settings.json")); len(runs) == 0 {
			_ = os.Remove(n.hookAddr())
		} else if _, err := n.listenHooks(strings.TrimSpace(string(addr))); err != nil {
			n.logger.Warn("agents at work post their events to a port that is taken; their tools are blocked until they are started again", "error", err)
		}
	}
}

// closeHooks ends the server when ctx ends.
func (n *Node) closeHooks(ctx context.Context) {
	<-ctx.Done()
	n.hooks.mu.Lock()
	end := n.hooks.end
	n.hooks.ctx, n.hooks.end = nil, nil
	n.hooks.mu.Unlock()
	if end != nil {
		end()
	}
}

// listenHooks listens for events, unless it does already, and returns the address.
func (n *Node) listenHooks(addr string) (string, error) {
	n.hooks.mu.Lock()
	defer n.hooks.mu.Unlock()
	switch {
	case n.hooks.addr != "":
		return n.hooks.addr, nil
	case n.hooks.ctx == nil:
		return "", errors.New("the daemon is ending")
	}
	ctx := n.hooks.ctx
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return "", fmt.Errorf("listen for the events of agents: %w", err)
	}
	srv := &http.Server{
		Handler: n.hookHandler(), ReadHeaderTimeout: 10 * time.Second, ErrorLog: slog.NewLogLogger(n.logger.Handler(), slog.LevelWarn),
		BaseContext: func(net.Listener) context.Context { return ctx },
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := srv.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			n.logger.Error("the events of agents are not taken any more", "error", err)
		}
	}()
	n.hooks.addr = l.Addr().String()
	n.hooks.end = func() {
		short, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
		defer cancel()
		if srv.Shutdown(short) != nil {
			_ = srv.Close()
		}
		<-done
	}
	if err := os.MkdirAll(filepath.Dir(n.hookAddr()), 0o700); err != nil {
		n.logger.Warn("the next daemon will not know where agents post their events", "error", err)
	} else if err := atomicfile.Note(n.hookAddr(), []byte(n.hooks.addr+"\n"), 0o600); err != nil {
		n.logger.Warn("the next daemon will not know where agents post their events", "error", err)
	}
	return n.hooks.addr, nil
}

func (n *Node) hookHandler() http.Handler {
	return &web.Handler{
		Known: func(ctx context.Context, token string) bool {
			_, err := n.gate.Authenticate(ctx, token)
			return err == nil
		},
		Decide: n.decideEvent,
		Note:   func(ctx context.Context, e harness.Event, why string) { NoteDenial(ctx, n.Loader, e, why) },
	}
}

// hookListen opens the port to which an agent posts its events.
func (n *Node) hookListen(context.Context, daemon.Caller, []byte) (any, *rpc.Error) {
	addr, err := n.listenHooks("127.0.0.1:0")
	if err != nil {
		return nil, internalError(err)
	}
	return api.ListenReply{Addr: addr}, nil
}
