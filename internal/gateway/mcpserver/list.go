package mcpserver

import (
	"context"
	"slices"

	"mycelium/internal/gate/view"
	"mycelium/internal/policy"
	"mycelium/internal/rawjson"
	"mycelium/internal/rpc"
)

// pageSize is how many entries one page has at most.
const pageSize = 1000

func (s *Server) listTools(ctx context.Context, l Link, m rpc.Message) (result, refusal []byte) {
	l.session.Await(ctx, "") // most clients list once
	return s.list(l, m, "tools", l.listed(policy.Tool, l.session.Tools(l.searches())))
}

func (s *Server) listResources(_ context.Context, l Link, m rpc.Message) (result, refusal []byte) {
	return s.list(l, m, "resources", l.listed(policy.Resource, l.session.List(policy.Resource)))
}

func (s *Server) listTemplates(_ context.Context, l Link, m rpc.Message) (result, refusal []byte) {
	return s.list(l, m, "resourceTemplates", l.listed(policy.Resource, l.session.Templates()))
}

func (s *Server) listPrompts(_ context.Context, l Link, m rpc.Message) (result, refusal []byte) {
	return s.list(l, m, "prompts", l.listed(policy.Prompt, l.session.List(policy.Prompt)))
}

// list serves one page of a list.
func (s *Server) list(l Link, m rpc.Message, key string, all []view.Listed) (result, refusal []byte) {
	if err := rpc.CheckCase(m.Params, "cursor"); err != nil {
		return nil, err.Raw()
	}
	from := 0
	if c := rawjson.Member(m.Params, "cursor"); c != nil {
		var ok bool
		if from, ok = s.sealer.position(l, key, c, all); !ok {
			return nil, rpc.InvalidParams(`"cursor" is not one of ours, or what it stood at is gone: list from the beginning`).Raw()
		}
	}
	page := all[from:min(from+pageSize, len(all))]
	size := 256
	for _, e := range page {
		size += len(e.Raw) + 1
	}
	b := make([]byte, 0, size)
	b = append(append(append(b, `{"`...), key...), `":[`...)
	for i, e := range page {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, e.Raw...)
	}
	b = append(b, ']')
	if from+len(page) < len(all) {
		b = append(b, `,"nextCursor":`...)
		b = append(b, rawjson.Quote(s.sealer.cursor(l, key, page[len(page)-1].Item))...)
	}
	if l.Modern() {
		return s.modernTail(b), nil
	}
	return append(b, '}'), nil
}

// A cursor is the last item of a page, sealed for one session and one kind of list.
func (s sealer) cursor(l Link, key string, last policy.Item) string {
	return s.seal(cursorSeal(l, key), []byte(view.URI(last)))
}

// position finds the entry after the one that a cursor names.
func (s sealer) position(l Link, key string, cursor []byte, all []view.Listed) (int, bool) {
	sealed, _ := rawjson.Text(cursor)
	last, ok := s.open(cursorSeal(l, key), sealed)
	if !ok {
		return 0, false
	}
	i := slices.IndexFunc(all, func(e view.Listed) bool { return view.URI(e.Item) == string(last) })
	return i + 1, i >= 0
}

func cursorSeal(l Link, key string) string { return "cursor\x00" + l.session.ID + "\x00" + key }
