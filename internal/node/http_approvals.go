package node

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"mycelium/internal/approval"
	"mycelium/internal/gateway"
	"mycelium/internal/node/api"
	"mycelium/internal/node/failure"
	"mycelium/internal/policy/sign"
	"mycelium/internal/rawjson"
)

// MaxAnswer is the largest body of an answer, in bytes.
const MaxAnswer = 64 << 10

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
	for pattern, h := range map[string]handlerForOperator{
		"GET /api/approvals": a.list, "GET /api/approvals/{id}": a.show, "POST /api/approvals/{id}": a.answer,
		"GET /api/approvals/events": a.events,
	} {
		routes.Handle(pattern, a.operatorOnly(h))
	}
	guarded := g.Local(http.NewCrossOriginProtection().Handler(routes))
	mux.Handle("/api/approvals", guarded)
	mux.Handle("/api/approvals/", guarded)
}

// handlerForOperator serves a request of the operator who is named.
type handlerForOperator func(w http.ResponseWriter, r *http.Request, by string)

// operatorOnly refuses every request without the operator's token, and every request from another machine.
func (a *approvalsAPI) operatorOnly(next handlerForOperator) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Content-Type-Options", "nosniff")
		w.Header().Set("Cache-Control", "no-store")
		if !gateway.FromHere(r) {
			httpError(w, http.StatusForbidden, "approvals are answered from this machine only; from elsewhere use a chat, or a "+
				"tunnel of your own")
			return
		}
		scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
		name := ""
		if strings.EqualFold(scheme, "Bearer") && len(r.Header.Values("Authorization")) == 1 {
			name = a.Operator(strings.TrimSpace(token))
		}
		if name == "" {
			w.Header().Set("WWW-Authenticate", `Bearer realm="mycelium approvals"`)
			httpError(w, http.StatusUnauthorized, "the operator's token is needed (myc approvals token); the token of a session does "+
				"not answer approvals")
			return
		}
		next(w, r, name)
	})
}

// respond writes a reply, or the status and the text of an error.
func respond(w http.ResponseWriter, reply any, err error) {
	var missing *sign.MissingError
	switch {
	case errors.As(err, &missing):
		writeJSON(w, failure.Of(err).Kind.HTTP(), map[string]string{"error": err.Error(), "missing": string(missing.Missing), "hint": missing.How})
	case err != nil:
		httpError(w, failure.Of(err).Kind.HTTP(), err.Error())
	default:
		writeJSON(w, http.StatusOK, reply)
	}
}

func (a *approvalsAPI) list(w http.ResponseWriter, r *http.Request, _ string) {
	list, err := a.List(r.Context())
	respond(w, list, err)
}

func (a *approvalsAPI) show(w http.ResponseWriter, r *http.Request, _ string) {
	q, err := a.Show(r.Context(), r.PathValue("id"))
	respond(w, q, err)
}

func (a *approvalsAPI) answer(w http.ResponseWriter, r *http.Request, by string) {
	if media, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || media != "application/json" {
		httpError(w, http.StatusUnsupportedMediaType, "Content-Type must be application/json")
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, MaxAnswer))
	if err != nil {
		httpError(w, http.StatusRequestEntityTooLarge, fmt.Sprintf("an answer has at most %d bytes", MaxAnswer))
		return
	}
	var answer api.Answer
	if err := rawjson.Decode(body, &answer, json.RejectUnknownMembers(true)); err != nil {
		httpError(w, http.StatusBadRequest, "the body is not an answer: "+err.Error())
		return
	}
	switch {
	case answer.ID != "" || answer.Device != "":
		httpError(w, http.StatusBadRequest, `the body is not an answer: the id of the request is in the path, not in "id", and it has `+
			`no "device"`)
		return
	case answer.Allow == nil || answer.Digest == "":
		httpError(w, http.StatusBadRequest, `an answer needs "allow" (true or false) and "digest" (that of the request as it was shown)`)
		return
	}
	q, err := a.Answer(r.Context(), r.PathValue("id"), answer.By(by, "http"), sign.Of(answer.Sure))
	respond(w, q, err)
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
