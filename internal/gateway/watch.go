package gateway

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/go-json-experiment/json"

	"mycelium/internal/gate"
	"mycelium/internal/gate/view"
	"mycelium/internal/policy"
	"mycelium/internal/rawjson"
	"mycelium/internal/rpc"
)

// debounce is how long changes are gathered before clients are told.
const debounce = 10 * time.Millisecond

// kinds of lists whose changes are told.
type kinds struct{ tools, prompts, resources bool }

// watcher is what a session saw when its client was last told.
type watcher struct {
	server  *Server
	session *gate.Session
	changed <-chan struct{}
	lists   [4][]view.Listed // tools, prompts, resources, templates
	subs    *subs            // looked through at every change; may be nil
}

// look starts to watch a session: a change after look is never missed.
func (s *Server) look(sess *gate.Session) *watcher {
	v := &watcher{server: s, session: sess}
	v.update()
	return v
}

// update takes the lists of now and returns which of them are other than before.
func (v *watcher) update() kinds {
	v.changed = v.session.Changed() // before the lists, so that a change in between is seen next time
	g := v.server.gate
	now := [...][]view.Listed{
		g.List(v.session, policy.Tool), g.List(v.session, policy.Prompt), g.List(v.session, policy.Resource), g.Templates(v.session),
	}
	before := v.lists
	v.lists = now
	other := func(i int) bool { return !slices.EqualFunc(before[i], now[i], view.Listed.Same) }
	return kinds{tools: other(0), prompts: other(1), resources: other(2) || other(3)}
}

// watch tells of every change of the wanted lists until ctx or the session ends.
func (v *watcher) watch(ctx context.Context, want kinds, tell func(method string)) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-v.session.Done():
			return
		case <-v.changed:
		}
		t := time.NewTimer(debounce)
		select {
		case <-ctx.Done():
			t.Stop()
			return
		case <-t.C:
		}
		other := v.update()
		if v.subs != nil {
			v.subs.review(v.server.gate, v.session)
		}
		if other.tools && want.tools {
			tell("notifications/tools/list_changed")
		}
		if other.prompts && want.prompts {
			tell("notifications/prompts/list_changed")
		}
		if other.resources && want.resources {
			tell("notifications/resources/list_changed")
		}
	}
}

// listen serves subscriptions/listen: it acknowledges what it will tell, tells it, and answers when it ends.
func (s *Server) listen(ctx context.Context, l link, m rpc.Message) (result, refusal []byte) {
	asked := rawjson.Member(m.Params, "notifications")
	if !isObject(asked) {
		return nil, invalidParams(`"notifications" must be an object`).Raw()
	}
	uris := []string{}
	if raw := rawjson.Member(asked, "resourceSubscriptions"); raw != nil && json.Unmarshal(raw, &uris) != nil {
		return nil, invalidParams(`"resourceSubscriptions" must be an array of strings`).Raw()
	}
	wants := func(key string) bool { return string(rawjson.Member(asked, key)) == "true" }
	want := kinds{tools: wants("toolsListChanged"), prompts: wants("promptsListChanged"), resources: wants("resourcesListChanged")}
	meta := append([]byte(`{"`+metaSubscription+`":`), m.ID...)
	meta = append(meta, '}')
	var own subs
	defer own.end()
	v := s.look(l.session)
	v.subs = &own
	early := &hold{pass: func(params []byte) { l.notice("notifications/resources/updated", rawjson.Set(params, "_meta", meta)) }}
	honoured := s.subscribeAll(ctx, l, m, uris, &own, early.tell)
	l.notice("notifications/subscriptions/acknowledged", want.acknowledge(meta, honoured))
	early.release()
	if want != (kinds{}) || len(honoured) > 0 {
		params := rawjson.Set(nil, "_meta", meta)
		v.watch(ctx, want, func(method string) { l.notice(method, params) })
	}
	return rawjson.Set([]byte(`{"resultType":"complete"}`), "_meta", meta), nil
}

// subscribeAll subscribes to what a listen names, and returns those resources that the session may hear of, in the client's form.
func (s *Server) subscribeAll(ctx context.Context, l link, m rpc.Message, uris []string, own *subs, tell func(params []byte)) (honoured []string) {
	for _, uri := range uris {
		r := gate.Request{Method: m.Method, Asked: uri, Surface: l.surface, Item: s.gate.Resolve(policy.Resource, uri)}
		if err := s.subscribeTo(ctx, l, r, own, tell); err == nil {
			honoured = append(honoured, uri)
		}
	}
	return honoured
}

// hold keeps notices back until it is released: the acknowledgement comes first.
type hold struct {
	pass func(params []byte)

	mu    sync.Mutex
	kept  [][]byte
	freed bool
}

func (h *hold) tell(params []byte) {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case h.freed:
		h.pass(params)
	case len(h.kept) < maxSubs:
		h.kept = append(h.kept, params)
	}
}

func (h *hold) release() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, params := range h.kept {
		h.pass(params)
	}
	h.kept, h.freed = nil, true
}

// acknowledge says which of the wanted notices will come: of each list that was asked for, of each resource that may be read, and of
// nothing else.
func (k kinds) acknowledge(meta []byte, uris []string) []byte {
	b := append(append([]byte(`{"_meta":`), meta...), `,"notifications":{`...)
	n := len(b)
	for _, e := range []struct {
		on  bool
		key string
	}{{k.tools, "toolsListChanged"}, {k.prompts, "promptsListChanged"}, {k.resources, "resourcesListChanged"}} {
		if e.on {
			if len(b) > n {
				b = append(b, ',')
			}
			b = append(append(b, rawjson.Quote(e.key)...), `:true`...)
		}
	}
	for i, uri := range uris {
		switch {
		case i > 0:
			b = append(b, ',')
		case len(b) > n:
			b = append(b, `,"resourceSubscriptions":[`...)
		default:
			b = append(b, `"resourceSubscriptions":[`...)
		}
		b = append(b, rawjson.Quote(uri)...)
	}
	if len(uris) > 0 {
		b = append(b, ']')
	}
	return append(b, `}}`...)
}
