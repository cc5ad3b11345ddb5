package node

import (
	"context"
	"errors"
	"net/http"
	"time"

	"mycelium/internal/gate/session"
	"mycelium/internal/rpc/httpserver"
)

// lastAnswers is how long clients have to read their last answers when the daemon ends: `myc stop` answers within 2 s.
const lastAnswers = time.Second

// serveHTTP serves MCP, metrics and the API of approvals until ctx is done.
func (n *Node) serveHTTP(ctx context.Context) {
	mux := http.NewServeMux()
	mux.Handle("/mcp", n.gateway.Handler())
	mux.Handle("/.well-known/oauth-protected-resource", n.gateway.Metadata())
	mux.Handle("/.well-known/oauth-protected-resource/", n.gateway.Metadata())
	n.metrics.handle(mux, n.gateway)
	handleApprovals(ctx, mux, n.gateway, n.Approvals)
	srv := httpserver.New(n.unlessLeft(mux), 0, n.logger)
	done := make(chan struct{})
	go func() {
		defer close(done)
		<-ctx.Done()
		n.gateway.Close() // ends streams, which Shutdown would wait for
		short, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastAnswers)
		defer cancel()
		if srv.Shutdown(short) != nil {
			_ = srv.Close()
		}
	}()
	if err := srv.Serve(n.listener); err != nil && !errors.Is(err, http.ErrServerClosed) {
		n.logger.Error("http", "err", err)
		n.cancel()
	}
	<-done
}

// unlessLeft refuses new requests of a node that leaves. Those under way are answered.
func (n *Node) unlessLeft(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if n.left() {
			w.Header().Set("Retry-After", "1")
			http.Error(w, "the daemon is ending", http.StatusServiceUnavailable)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// openAnonymous returns a session for callers without a token; nil if the files name no role for them.
func (n *Node) openAnonymous(ctx context.Context, role string) (*session.Session, error) {
	if n.anonymous = role; role == "" {
		return nil, nil
	}
	return n.gate.Sessions.Open(ctx, session.Spec{Name: "anonymous", Principal: "anonymous", Role: role, Counts: "anonymous"})
}

// renewAnonymous gives callers without a token the role that the files name now. If that fails, nobody is served without a token.
func (n *Node) renewAnonymous(role string) {
	if role == n.anonymous {
		return
	}
	ctx := context.Background()
	next, err := n.openAnonymous(ctx, role)
	if err != nil {
		n.logger.Error("server.anonymous: nobody is served without a token", "error", err)
	}
	if was := n.gateway.SetAnonymous(next); was != nil {
		if err := n.gate.Sessions.End(ctx, was.ID); err != nil && !errors.Is(err, session.ErrNoSession) {
			n.logger.Warn("end the session of callers without a token", "error", err)
		}
	}
}
