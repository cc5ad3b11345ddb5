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
	"mycelium/internal/hook/web"
	"mycelium/internal/state"
)

// hookServer takes the events that agents post over HTTP, on a free loopback port. It listens from the first session that needs it. While
// such a session lives, the next daemon of the project listens on the same port, because its agent knows no other.
type hookServer struct {
	state   state.Paths
	handler http.Handler
	logger  *slog.Logger

	mu   sync.Mutex      // guards what follows
	ctx  context.Context // of the events under way; nil before the start of the daemon and at its end
	addr string          // host and port; "" while it does not listen
	end  func()
}

// open listens again on the port that agents at work know. Events under way end with ctx.
func (h *hookServer) open(ctx context.Context) {
	h.mu.Lock()
	h.ctx = ctx
	h.mu.Unlock()
	addr, err := os.ReadFile(h.state.HookAddr())
	if err != nil {
		return
	}
	if runs, _ := filepath.Glob(h.state.Run("*")); len(runs) == 0 {
		_ = os.Remove(h.state.HookAddr())
	} else if _, err := h.listen(strings.TrimSpace(string(addr))); err != nil {
		h.logger.Warn("the port to which running agents post their events is taken; their tools are blocked until they are restarted",
			"error",
			err)
	}
}

// close ends the server when ctx ends.
func (h *hookServer) close(ctx context.Context) {
	<-ctx.Done()
	h.mu.Lock()
	end := h.end
	h.ctx, h.end = nil, nil
	h.mu.Unlock()
	if end != nil {
		end()
	}
}

// listen listens for events, unless the server listens already, and returns the address.
func (h *hookServer) listen(addr string) (string, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case h.addr != "":
		return h.addr, nil
	case h.ctx == nil:
		return "", errors.New("the daemon is ending")
	}
	ctx := h.ctx
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return "", fmt.Errorf("listen for the events of agents: %w", err)
	}
	srv := &http.Server{
		Handler: h.handler, ReadHeaderTimeout: 10 * time.Second, ErrorLog: slog.NewLogLogger(h.logger.Handler(), slog.LevelWarn),
		BaseContext: func(net.Listener) context.Context { return ctx },
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := srv.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			h.logger.Error("events of agents over HTTP are no longer accepted", "error", err)
		}
	}()
	h.addr = l.Addr().String()
	h.end = func() {
		short, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
		defer cancel()
		if srv.Shutdown(short) != nil {
			_ = srv.Close()
		}
		<-done
	}
	err = os.MkdirAll(filepath.Dir(h.state.HookAddr()), 0o700)
	if err == nil {
		err = atomicfile.Note(h.state.HookAddr(), []byte(h.addr+"\n"), 0o600)
	}
	if err != nil {
		h.logger.Warn("the port for agents' events was not saved for the next daemon", "error", err)
	}
	return h.addr, nil
}

// hookHandler answers the events that agents post.
func (n *Node) hookHandler() http.Handler {
	return &web.EventHandler{
		Known: func(ctx context.Context, token string) bool {
			_, err := n.gate.Sessions.Authenticate(ctx, token)
			return err == nil
		},
		Decide: n.Runs.Answer, Note: n.noteDenial,
	}
}
