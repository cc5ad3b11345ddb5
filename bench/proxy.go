package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"

	"mycelium/internal/rpc"
)

// proxy is what a bare proxy does: it takes calls over HTTP and passes them to the echo server over its pipes. It reads and writes messages
// with our own package, and has neither policy nor log: what a call costs more through the daemon is the price of the law.
func proxy() error {
	ctx := context.Background()
	self, err := os.Executable()
	if err != nil {
		return err
	}
	p, err := connect(exec.CommandContext(ctx, self, "echo"))
	if err != nil {
		return err
	}
	defer p.end()
	if err := p.hello(ctx); err != nil {
		return err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Printf("http://%s/mcp\n", l.Addr())
	return http.Serve(l, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { //nolint:gosec // ends with the run
		if err := pass(p, w, r); err != nil {
			http.Error(w, err.Error(), http.StatusBadGateway)
		}
	}))
}

// pass passes one call on, and its answer back under the id of the caller.
func pass(p *peer, w http.ResponseWriter, r *http.Request) error {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return err
	}
	asked, bad := rpc.Parse(body)
	if bad != nil {
		return errors.New("not a message")
	}
	answer, err := p.call(r.Context(), asked.Method, asked.Params)
	if err != nil {
		return err
	}
	answer.ID = asked.ID
	w.Header().Set("Content-Type", "application/json")
	_, err = w.Write(answer.Append(nil))
	return err
}
