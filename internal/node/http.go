package node

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"time"
)

func (n *Node) serveHTTP(ctx context.Context) {
	mux := http.NewServeMux()
	mux.Handle("/mcp", n.gateway.Handler())
	mux.Handle("/.well-known/oauth-protected-resource", n.gateway.Metadata())
	mux.Handle("/.well-known/oauth-protected-resource/", n.gateway.Metadata())
	n.watchHandlers(mux)
	n.approvalsHandlers(ctx, mux)
	srv := &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second, ErrorLog: slog.NewLogLogger(n.logger.Handler(), slog.LevelWarn)}
	done := make(chan struct{})
	go func() {
		defer close(done)
		<-ctx.Done()
		n.gateway.Close() // ends streams, which Shutdown would wait for
		short, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
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
