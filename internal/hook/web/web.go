// Package web answers the events that an agent posts over HTTP instead of starting a program. Each answer is a decision or an error. It
// is never a success without a body, because agents take that for consent.
package web

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"mycelium/internal/harness"
	"mycelium/internal/hook"
)

// EventHandler answers POST /hook/AGENT/EVENT. The body is the event, and the bearer token is that of the agent's session.
type EventHandler struct {
	// Known reports whether a token belongs to a live session.
	Known func(ctx context.Context, token string) bool
	// Decide decides an event of the session of a token.
	Decide func(ctx context.Context, token string, e harness.Event) (harness.Answer, error)
	// Note records a denial that was not decided.
	Note func(ctx context.Context, e harness.Event, why string)
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

func (h *EventHandler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	token, bearer := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	switch {
	case r.Method != http.MethodPost:
		http.Error(w, "post an event", http.StatusMethodNotAllowed)
	case !local(r): // a page of another site must not reach this server by DNS rebinding
		http.Error(w, "this host or origin may not post events", http.StatusForbidden)
	case !bearer || !h.Known(r.Context(), token):
		http.Error(w, "the session of this agent has ended: its token is not one of a live session", http.StatusUnauthorized)
	default:
		h.answer(w, r, token)
	}
}

// local reports whether a request was meant for a loopback address and does not come from a web page.
func local(r *http.Request) bool {
	host, _, err := net.SplitHostPort(r.Host)
	ip := net.ParseIP(host)
	return err == nil && ip != nil && ip.IsLoopback() && r.Header.Get("Origin") == ""
}

func (h *EventHandler) answer(w http.ResponseWriter, r *http.Request, token string) {
	agent, event, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/hook/"), "/")
	q := r.URL.Query()
	limit, err := time.ParseDuration(q.Get("limit"))
	known, ok := harness.Named(agent)
	if err != nil || !ok || known.Kind(event) == "" {
		http.Error(w, "unknown event, or missing limit", http.StatusNotFound)
		return
	}
	var out, errs bytes.Buffer
	variables := map[string]string{}
	for _, pair := range Headers(known) {
		variables[pair[1]] = r.Header.Get(pair[0])
	}
	c := hook.Command{
		Flags: hook.Flags{Agent: agent, Event: event, Limit: limit, Gateway: q.Get("gateway")},
		In:    http.MaxBytesReader(w, r.Body, maxBody), Out: &out, Err: &errs, Getenv: func(name string) string { return variables[name] },
		Decide: func(ctx context.Context, e harness.Event) (harness.Answer, error) { return h.Decide(ctx, token, e) }, Note: h.Note,
	}
	if code := c.Run(r.Context()); code != 0 {
		http.Error(w, strings.TrimSpace(errs.String()+" "), http.StatusInternalServerError)
		return
	}
	if out.Len() == 0 { // no opinion
		out.WriteString("{}\n")
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	_, _ = io.Copy(w, &out)
}
