package gateway

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"slices"

	"mycelium/internal/gate/view"
	"mycelium/internal/policy"
	"mycelium/internal/rawjson"
	"mycelium/internal/rpc"
)

// pageSize bounds the entries of one answer to a list request.
const pageSize = 1000

func (s *Server) listTools(_ context.Context, l link, m rpc.Message) (result, refusal []byte) {
	return s.list(l, m, "tools", s.gate.List(l.session, policy.Tool))
}

func (s *Server) listResources(_ context.Context, l link, m rpc.Message) (result, refusal []byte) {
	return s.list(l, m, "resources", s.gate.List(l.session, policy.Resource))
}

func (s *Server) listTemplates(_ context.Context, l link, m rpc.Message) (result, refusal []byte) {
	return s.list(l, m, "resourceTemplates", s.gate.Templates(l.session))
}

func (s *Server) listPrompts(_ context.Context, l link, m rpc.Message) (result, refusal []byte) {
	return s.list(l, m, "prompts", s.gate.List(l.session, policy.Prompt))
}

// list answers with one page of the snapshot.
func (s *Server) list(l link, m rpc.Message, key string, all []view.Listed) (result, refusal []byte) {
	if err := rpc.CheckCase(m.Params, "cursor"); err != nil {
		return nil, err.Raw()
	}
	from := 0
	if c := rawjson.Member(m.Params, "cursor"); c != nil {
		var ok bool
		if from, ok = s.position(l, key, c, all); !ok {
			return nil, invalidParams(`"cursor" is not one of ours, or what it stood at is gone: list from the beginning`).Raw()
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
		b = append(b, rawjson.Quote(s.cursor(l, key, page[len(page)-1].Item))...)
	}
	if l.modern() {
		return s.modernTail(b), nil
	}
	return append(b, '}'), nil
}

// sealSize is the length of the part of a cursor that shows it to be ours.
const sealSize = 16

// cursor seals the last item of a page. A cursor holds for one session and one kind of list.
func (s *Server) cursor(l link, key string, last policy.Item) string {
	text := last.Server + "+" + last.Name
	return base64.RawURLEncoding.EncodeToString(append(s.sign(l, key, text), text...))
}

func (s *Server) sign(l link, key, text string) []byte {
	mac := hmac.New(sha256.New, s.seal)
	mac.Write([]byte(l.session.ID + "\x00" + key + "\x00" + text))
	return mac.Sum(nil)[:sealSize]
}

// position finds the entry after the one that a cursor names.
func (s *Server) position(l link, key string, cursor []byte, all []view.Listed) (int, bool) {
	text, _ := rawjson.Text(cursor)
	b, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil || len(b) < sealSize || !hmac.Equal(b[:sealSize], s.sign(l, key, string(b[sealSize:]))) {
		return 0, false
	}
	i := slices.IndexFunc(all, func(e view.Listed) bool { return view.URI(e.Item) == string(b[sealSize:]) })
	return i + 1, i >= 0
}
