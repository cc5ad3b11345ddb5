package gate

import (
	"context"

	"mycelium/internal/gate/session"
	"mycelium/internal/gate/view"
	"mycelium/internal/policy"
	"mycelium/internal/rawjson"
)

// Subscribe asks a server to tell of changes of one resource. It is decided and recorded like a read. tell gets the raw params of each
// notice, with the uri in the form that clients use, as long as the session may read what changed. It must not wait, and is not called
// after stop has returned. The caller checks with [Gate.MayRead] whenever the session has changed.
func (g *Gate) Subscribe(ctx context.Context, s *session.Session, r Request, tell func(params []byte)) (stop func(), err error) {
	a, err := g.Admit(ctx, s, r)
	if err != nil {
		return nil, err
	}
	stop = func() {}
	if !view.IsOwn(r.Item.Server) { // ours tell of a changed skill by list_changed
		stop, err = g.backends.Subscribe(ctx, r.Item.Server, r.Item.Name, func(params []byte) {
			it := policy.Item{Kind: policy.Resource, Server: r.Item.Server, Name: rawjson.TextAt(params, "uri")}
			if it.Name == "" || !g.MayRead(s, it) {
				return
			}
			named := g.Sessions.Catalog().ClientName(it)
			if r.Asked == r.Item.Name { // the client has the URI from a result
				named = it.Name
			}
			if told, err := view.SetString(params, "uri", named); err == nil {
				tell(told)
			}
		})
		if isAbsent(err) {
			stop, err = nil, a.unknown()
		}
	}
	a.Done(ctx, Reply{}, err)
	return stop, err
}
