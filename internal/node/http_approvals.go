package node

import (
	"context"
	"errors"
	"io"
	"net/http"
	"reflect"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"mycelium/internal/approval"
	"mycelium/internal/gateway"
	"mycelium/internal/node/api"
	"mycelium/internal/op"
	"mycelium/internal/op/failure"
	"mycelium/internal/op/rest"
)

// heartbeat is how often a quiet stream of events sends a comment: proxies and browsers give up after 30 s or more.
const heartbeat = 15 * time.Second

// approvalsAPI is the HTTP API of approvals (docs/approvals.md). A client with the operator's token reads what waits and answers it, from
// this machine only. The token of a session opens nothing here.
type approvalsAPI struct {
	*Approvals
	daemon context.Context // ends the streams of events
}

func handleApprovals(daemon context.Context, mux *http.ServeMux, g *gateway.Server, approvals *Approvals) {
	a := &approvalsAPI{approvals, daemon}
	routes := http.NewServeMux()
	serve(a, routes, "GET /api/approvals", api.ApprovalsList, func(ctx context.Context, _ string, _ op.None) ([]approval.Request, error) {
		return a.List(ctx)
	})
	serve(a, routes, "GET /api/approvals/{id}", api.ApprovalsShow, func(ctx context.Context, _ string, p api.ApprovalParams) (approval.Request, error) {
		return a.Show(ctx, p.ID)
	})
	serve(a, routes, "POST /api/approvals/{id}", api.ApprovalsAnswer, func(ctx context.Context, by string, p api.Answer) (approval.Request, error) {
		return a.Say(ctx, by, p)
	})
	routes.Handle("GET /api/approvals/events", a.operatorOnly(a.events))
	guarded := g.Local(http.NewCrossOriginProtection().Handler(routes))
	mux.Handle("/api/approvals", guarded)
	mux.Handle("/api/approvals/", guarded)
}

// serve serves an operation to the operator.
func serve[P, R any](a *approvalsAPI, mux *http.ServeMux, pattern string, _ op.Op[P, R], do func(ctx context.Context, by string, p P) (R, error)) {
	o := rest.Operation{Route: op.Route{Pattern: pattern}, Params: []reflect.Type{reflect.TypeFor[P]()}}
	mux.Handle(pattern, a.operatorOnly(func(w http.ResponseWriter, r *http.Request, by string) {
		var p P
		var result R
		err := o.Read(w, r, &p)
		if err == nil {
			op.SetBy(&p, api.OverHTTP)
			result, err = do(r.Context(), by, p)
		}
		rest.Answer(w, r, result, err)
	}))
}

// handlerForOperator serves a request of the operator who is named.
type handlerForOperator func(w http.ResponseWriter, r *http.Request, by string)

// operatorOnly refuses every request without the operator's token, and every request from another machine.
func (a *approvalsAPI) operatorOnly(next handlerForOperator) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Content-Type-Options", "nosniff")
		w.Header().Set("Cache-Control", "no-store")
		if !gateway.FromHere(r) {
			rest.Fail(w, http.StatusForbidden, failure.New(failure.Denied, errors.New("approvals are answered from this machine only"),
				"from elsewhere use a chat, or a tunnel of your own"))
			return
		}
		scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
		name := ""
		if strings.EqualFold(scheme, "Bearer") && len(r.Header.Values("Authorization")) == 1 {
			name = a.Operator(strings.TrimSpace(token))
		}
		if name == "" {
			w.Header().Set("WWW-Authenticate", `Bearer realm="mycelium approvals"`)
			rest.Fail(w, http.StatusUnauthorized, failure.New(failure.Denied,
				errors.New("the operator's token is needed: the token of a session does not answer approvals"), "myc approvals token makes one"))
			return
		}
		next(w, r, name)
	})
}

// events streams every request: those that wait, then each that comes, changes or is settled.
func (a *approvalsAPI) events(w http.ResponseWriter, r *http.Request, _ string) {
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	defer context.AfterFunc(a.daemon, cancel)()
	w.Header().Set("Content-Type", "text/event-stream")
	control := http.NewResponseController(w)
	events := make(chan approval.Request)
	go func() {
		defer close(events)
		a.Watch(ctx, func(q approval.Request) {
			select {
			case events <- q:
			case <-ctx.Done():
			}
		})
	}()
	alive := time.NewTicker(heartbeat)
	defer alive.Stop()
	send := func(text string) bool {
		_, err := io.WriteString(w, text) // #nosec G705 -- JSON on one line
		return err == nil && control.Flush() == nil
	}
	ok := send(": approvals\n\n")
	for ok {
		select {
		case q, open := <-events:
			if !open {
				return
			}
			b, err := json.Marshal(q, json.Deterministic(true))
			ok = err == nil && send("event: approval\ndata: "+string(b)+"\n\n")
		case <-alive.C:
			ok = send(": alive\n\n")
		}
	}
	cancel()
	for range events { // until the watcher has ended
	}
}
