package mcpserver

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/go-json-experiment/json"

	"mycelium/internal/gate"
	"mycelium/internal/gate/session"
	"mycelium/internal/gate/view"
	"mycelium/internal/policy"
	"mycelium/internal/rawjson"
	"mycelium/internal/rpc"
)

// debounce is how long changes are gathered before clients are notified.
const debounce = 10 * time.Millisecond

// Lists are the lists of whose changes a client is notified.
type Lists struct {
	Tools     bool `json:"toolsListChanged,omitzero"`
	Prompts   bool `json:"promptsListChanged,omitzero"`
	Resources bool `json:"resourcesListChanged,omitzero"`
}

// Watch compares the lists of a session with those of the last notice to its client.
type Watch struct {
	gate          *gate.Gate
	session       *session.Session
	client        *Client        // says who it is only after Watch was made
	subscriptions *subscriptions // reviewed at every change
	changed       <-chan struct{}
	lists         [4][]view.Listed // tools, prompts, resources, templates
}

// Watch starts to watch the lists of a client: [Watch.Run] sends notices of all changes from now on.
func (s *Server) Watch(c *Client) *Watch { return s.watch(c, &c.subscriptions) }

func (s *Server) watch(c *Client, subs *subscriptions) *Watch {
	w := &Watch{gate: s.gate, session: c.session, client: c, subscriptions: subs}
	w.update()
	return w
}

// update replaces the lists by the current ones, and returns which have changed.
func (w *Watch) update() (changed Lists) {
	w.changed = w.session.Changed() // before the lists, so that a change in between is seen next time
	before := w.lists
	w.lists = [...][]view.Listed{
		w.session.Tools(w.client.searches()), w.session.List(policy.Prompt), w.session.List(policy.Resource), w.session.Templates(),
	}
	differ := func(i int) bool { return !slices.EqualFunc(before[i], w.lists[i], view.Listed.Same) }
	return Lists{Tools: differ(0), Prompts: differ(1), Resources: differ(2) || differ(3)}
}

// Run sends a notice of every change of the wanted lists until ctx or the session ends.
func (w *Watch) Run(ctx context.Context, want Lists, tell func(method string, params []byte)) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-w.session.Done():
			return
		case <-w.changed:
		}
		t := time.NewTimer(debounce)
		select {
		case <-ctx.Done():
			t.Stop()
			return
		case <-t.C:
		}
		changed := w.update()
		w.subscriptions.review(w.gate, w.session)
		if changed.Tools && want.Tools {
			tell("notifications/tools/list_changed", nil)
		}
		if changed.Prompts && want.Prompts {
			tell("notifications/prompts/list_changed", nil)
		}
		if changed.Resources && want.Resources {
			tell("notifications/resources/list_changed", nil)
		}
	}
}

// listen serves subscriptions/listen: it acknowledges the notices that it will send, sends them, and answers when it ends.
func (s *Server) listen(ctx context.Context, l Link, m rpc.Message) (result, refusal []byte) {
	asked := rawjson.Member(m.Params, "notifications")
	if !isObject(asked) {
		return nil, rpc.InvalidParams(`"notifications" must be an object`).Raw()
	}
	uris := []string{}
	if raw := rawjson.Member(asked, "resourceSubscriptions"); raw != nil && json.Unmarshal(raw, &uris) != nil {
		return nil, rpc.InvalidParams(`"resourceSubscriptions" must be an array of strings`).Raw()
	}
	wants := func(key string) bool { return string(rawjson.Member(asked, key)) == "true" }
	want := Lists{Tools: wants("toolsListChanged"), Prompts: wants("promptsListChanged"), Resources: wants("resourcesListChanged")}
	meta := append([]byte(`{"`+metaSubscription+`":`), m.ID...)
	meta = append(meta, '}')
	var own subscriptions
	defer own.end()
	watch := s.watch(l.Client, &own)
	early := &hold{pass: func(params []byte) { l.Notice("notifications/resources/updated", rawjson.Set(params, "_meta", meta)) }}
	honoured := s.subscribeAll(ctx, l, m, uris, &own, early.tell)
	l.Notice("notifications/subscriptions/acknowledged", acknowledgement(meta, want, honoured))
	early.release()
	if want != (Lists{}) || len(honoured) > 0 {
		params := rawjson.Set(nil, "_meta", meta)
		watch.Run(ctx, want, func(method string, _ []byte) { l.Notice(method, params) })
	}
	return rawjson.Set([]byte(`{"resultType":"complete"}`), "_meta", meta), nil
}

// subscribeAll subscribes to the resources that a listen names, and returns those that the session may read, in the client's form.
func (s *Server) subscribeAll(
	ctx context.Context, l Link, m rpc.Message, uris []string, own *subscriptions, tell func(params []byte),
) (honoured []string) {
	for _, uri := range uris {
		r := gate.Request{Method: m.Method, Asked: uri, Surface: l.surface, Item: s.resolve(l, policy.Resource, uri)}
		if err := s.subscribeTo(ctx, l, r, own, tell); err == nil {
			honoured = append(honoured, uri)
		}
	}
	return honoured
}

// hold keeps notices back until it is released, so that the acknowledgement comes first.
type hold struct {
	pass func(params []byte)

	mu       sync.Mutex
	kept     [][]byte
	released bool
}

func (h *hold) tell(params []byte) {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case h.released:
		h.pass(params)
	case len(h.kept) < maxSubscriptions:
		h.kept = append(h.kept, params)
	}
}

func (h *hold) release() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, params := range h.kept {
		h.pass(params)
	}
	h.kept, h.released = nil, true
}

// acknowledgement names the notices that will be sent: of each list that the client asked for, and of each resource that it may read.
func acknowledgement(meta []byte, want Lists, uris []string) []byte {
	notices, _ := json.Marshal(struct { // strings and booleans always encode
		Lists
		URIs []string `json:"resourceSubscriptions,omitempty"`
	}{want, uris})
	return rawjson.Set(rawjson.Set(nil, "_meta", meta), "notifications", notices)
}
