package node

import (
	"context"
	"crypto/sha256"
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
	"mycelium/internal/node/project"
	"mycelium/internal/rpc"
)

// The HTTP API of approvals (docs/approvals.md). Whoever brings the operator's token reads all that waits and answers it, from this
// machine only; the token of a session opens nothing here.

// MaxAnswer bounds the body of an answer, in bytes.
const MaxAnswer = 64 << 10

// beat is how often a quiet stream of events says that it is alive: proxies and browsers give up after 30 s or more.
const beat = 15 * time.Second

func (n *Node) approvalsHandlers(ctx context.Context, mux *http.ServeMux) {
	api := http.NewServeMux()
	for pattern, h := range map[string]operated{
		"GET /api/approvals": n.httpApprovals, "GET /api/approvals/{id}": n.httpApproval, "POST /api/approvals/{id}": n.httpAnswer,
		"GET /api/approvals/events": func(w http.ResponseWriter, r *http.Request, _ string) { n.httpEvents(ctx, w, r) },
	} {
		api.Handle(pattern, n.operatorOnly(h))
	}
	guarded := n.gateway.Local(http.NewCrossOriginProtection().Handler(api))
	mux.Handle("/api/approvals", guarded)
	mux.Handle("/api/approvals/", guarded)
}

// operated serves a request of the operator who is named.
type operated func(w http.ResponseWriter, r *http.Request, by string)

// operatorOnly lets nobody through but who brings the operator's token, from this machine.
func (n *Node) operatorOnly(next operated) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Content-Type-Options", "nosniff")
		w.Header().Set("Cache-Control", "no-store")
		if !gateway.FromHere(r) {
			httpError(w, http.StatusForbidden, "approvals are answered from this machine only; from elsewhere use a chat, or a tunnel of your own")
			return
		}
		scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
		name := ""
		if strings.EqualFold(scheme, "Bearer") && len(r.Header.Values("Authorization")) == 1 {
			name = n.operatorOf(strings.TrimSpace(token))
		}
		if name == "" {
			w.Header().Set("WWW-Authenticate", `Bearer realm="mycelium approvals"`)
			httpError(w, http.StatusUnauthorized, "the operator's token is needed (myc approvals token); the token of a session does not answer approvals")
			return
		}
		next(w, r, name)
	})
}

// operatorOf is the name of the operator whose token this is; empty: nobody's. The file is read each time: a token that was replaced or
// revoked is void at once.
func (n *Node) operatorOf(token string) string {
	path, err := project.OperatorFile(n.dir)
	if err != nil {
		return ""
	}
	return readOperator(path).match(sha256.Sum256([]byte(token)))
}

// httpError answers with an error as JSON.
func httpError(w http.ResponseWriter, status int, text string) {
	writeJSON(w, status, map[string]string{"error": text})
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	b, err := json.Marshal(v, json.Deterministic(true), json.FormatNilSliceAsNull(false))
	if err != nil {
		http.Error(w, "internal error", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(append(b, '\n')) // #nosec G705 -- JSON, and said to be nothing else
}

func (n *Node) httpApprovals(w http.ResponseWriter, r *http.Request, _ string) {
	list, err := n.asks.List(r.Context())
	if err != nil {
		n.httpFailed(w, "", err)
		return
	}
	writeJSON(w, http.StatusOK, list)
}

func (n *Node) httpApproval(w http.ResponseWriter, r *http.Request, _ string) {
	q, err := n.asks.Show(r.Context(), r.PathValue("id"))
	if err != nil {
		n.httpFailed(w, r.PathValue("id"), err)
		return
	}
	writeJSON(w, http.StatusOK, q)
}

// httpAnswerBody is what a POST holds. The digest is that of the request as it was shown.
type httpAnswerBody struct {
	Allow  *bool        `json:"allow"`
	For    approval.For `json:"for"`
	Reason string       `json:"reason"`
	Text   string       `json:"text"`
	Digest string       `json:"digest"`
}

func (n *Node) httpAnswer(w http.ResponseWriter, r *http.Request, by string) {
	if media, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || media != "application/json" {
		httpError(w, http.StatusUnsupportedMediaType, "Content-Type must be application/json")
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, MaxAnswer))
	if err != nil {
		httpError(w, http.StatusRequestEntityTooLarge, fmt.Sprintf("an answer has at most %d bytes", MaxAnswer))
		return
	}
	var b httpAnswerBody
	if err := json.Unmarshal(body, &b, json.RejectUnknownMembers(true)); err != nil {
		httpError(w, http.StatusBadRequest, "the body is no answer: "+err.Error())
		return
	}
	if b.Allow == nil || b.Digest == "" {
		httpError(w, http.StatusBadRequest, `an answer needs "allow" (true or false) and "digest" (that of the request as it was shown)`)
		return
	}
	a := approval.Answer{Allow: *b.Allow, For: b.For, By: by, Via: "http", Reason: b.Reason, Text: b.Text, Digest: b.Digest}
	q, err := n.asks.Settle(r.Context(), r.PathValue("id"), a)
	if err != nil {
		n.httpFailed(w, r.PathValue("id"), err)
		return
	}
	writeJSON(w, http.StatusOK, q)
}

// httpFailed puts a refusal of the queue into a status.
func (n *Node) httpFailed(w http.ResponseWriter, id string, err error) {
	status := http.StatusInternalServerError
	switch e := approvalError(id, err); e.Code {
	case api.CodeSettled:
		status = http.StatusConflict
	case rpc.CodeInvalidParams:
		status, err = http.StatusNotFound, errors.New(e.Message)
	default:
		if errors.Is(err, approval.ErrClosed) {
			status = http.StatusServiceUnavailable
		} else if approval.IsBadAnswer(err) {
			status = http.StatusBadRequest
		}
	}
	httpError(w, status, err.Error())
}

// httpEvents streams every request: those that wait, then each that comes, changes or is settled.
func (n *Node) httpEvents(daemon context.Context, w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	defer context.AfterFunc(daemon, cancel)()
	w.Header().Set("Content-Type", "text/event-stream")
	control := http.NewResponseController(w)
	events := make(chan approval.Request)
	go func() {
		defer close(events)
		n.asks.Watch(ctx, func(q approval.Request) {
			select {
			case events <- q:
			case <-ctx.Done():
			}
		})
	}()
	alive := time.NewTicker(beat)
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
