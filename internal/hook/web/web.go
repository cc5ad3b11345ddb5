// Package web answers the events that an agent posts over HTTP instead of starting a program. The process that started the agent listens,
// and passes each event to the daemon. Each answer is a decision or an error. It is never a success without a body, because agents take
// that for consent.
package web

import (
	"crypto/subtle"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"mycelium/internal/harness"
	"mycelium/internal/hook"
	"mycelium/internal/rpc"
	"mycelium/internal/rpc/httpserver"
)

// AgentEvents answers POST /hook/AGENT/EVENT. The body is the event, and the bearer token is that of the agent's session.
type AgentEvents struct {
	Token string // of the agent's session
	Shell string // the program that stands before the commands of the agent's shell; "": none
	// Program returns a run of the hook, which lacks its flags, input and output.
	Program func() *hook.Program

	memory *rpc.Memory // for the events that are read
}

// Listen answers events on a free loopback port until end is called. The port is taken for as long as this process lives: if it were free
// while the agent lives, another program could listen there and allow every call.
func (h *AgentEvents) Listen() (addr string, end func(), err error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, fmt.Errorf("listen for the events of the agent: %w", err)
	}
	h.memory = rpc.NewMemory(rpc.DefaultMemory)
	srv := httpserver.New(h, 0, nil)
	done := make(chan error, 1)
	go func() { done <- srv.Serve(l) }()
	return l.Addr().String(), func() {
		_ = srv.Close()
		if err := <-done; !errors.Is(err, http.ErrServerClosed) {
			panic(err) // the listener failed, which no caller can mend
		}
	}, nil
}

// The headers in which an agent sends what a program would find in its environment.
const (
	paneHeader     = "X-Mycelium-Pane"
	tmuxHeader     = "X-Mycelium-Tmux"
	terminalHeader = "X-Mycelium-Terminal"
)

// maxBody bounds the part of a request that is kept, in bytes. An event longer than harness.MaxInput is denied, after all of it was read.
const maxBody = 64 << 20

// Headers returns the headers that an agent's entry adds to its requests: each header with the agent's variable for its value.
func Headers(a harness.Agent) [][2]string {
	return [][2]string{{paneHeader, "TMUX_PANE"}, {tmuxHeader, "TMUX"}, {terminalHeader, a.Terminal[0]}}
}

// URL returns the URL to which an agent posts an event.
func URL(addr, agent, event string, limit time.Duration, gateway string) string {
	u := url.URL{Scheme: "http", Host: addr, Path: "/hook/" + agent + "/" + event}
	q := url.Values{"limit": {limit.String()}}
	if gateway != "" {
		q.Set("gateway", gateway)
	}
	u.RawQuery = q.Encode()
	return u.String()
}

func (h *AgentEvents) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	token, bearer := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	switch {
	case r.Method != http.MethodPost:
		http.Error(w, "post an event", http.StatusMethodNotAllowed)
	case !local(r): // a page of another site must not reach this server by DNS rebinding
		http.Error(w, "this host or origin may not post events", http.StatusForbidden)
	case !bearer || subtle.ConstantTimeCompare([]byte(token), []byte(h.Token)) == 0:
		http.Error(w, "the token is not that of this agent's session", http.StatusUnauthorized)
	default:
		h.answer(w, r)
	}
}

// local reports whether a request was meant for a loopback address and does not come from a web page.
func local(r *http.Request) bool {
	host, _, err := net.SplitHostPort(r.Host)
	ip := net.ParseIP(host)
	return err == nil && ip != nil && ip.IsLoopback() && r.Header.Get("Origin") == ""
}

func (h *AgentEvents) answer(w http.ResponseWriter, r *http.Request) {
	agent, event, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/hook/"), "/")
	q := r.URL.Query()
	limit, err := time.ParseDuration(q.Get("limit"))
	known, ok := harness.Named(agent)
	if err != nil || !ok || !slices.Contains(known.Events(), event) {
		http.Error(w, "unknown event, or missing limit", http.StatusNotFound)
		return
	}
	variables := map[string]string{hook.TokenVar: h.Token, known.Launch.Prefix.Variable: h.Shell}
	for _, pair := range Headers(known) {
		variables[pair[1]] = r.Header.Get(pair[0])
	}
	p := h.Program()
	p.Flags = hook.Flags{Agent: agent, Dir: p.Project.Project, Event: event, Limit: limit, Gateway: q.Get("gateway")}
	held := h.memory.Claim("agent")
	defer held.Release()
	rest := http.MaxBytesReader(w, r.Body, maxBody)
	first := struct { // what the hook keeps; it only reads the rest
		io.Reader
		io.Closer
	}{io.LimitReader(rest, harness.MaxInput+1), rest}
	p.In, p.Getenv = io.MultiReader(held.Meter(r.Context(), first), rest), func(name string) string { return variables[name] }
	reply := p.Serve(r.Context())
	if reply.Exit != 0 {
		http.Error(w, strings.TrimSpace(reply.Stderr+" "), http.StatusInternalServerError)
		return
	}
	if reply.Stdout == "" { // no opinion
		reply.Stdout = "{}\n"
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	_, _ = io.WriteString(w, reply.Stdout)
}
