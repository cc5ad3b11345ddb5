package mcpserver

import (
	"context"

	"mycelium/internal/rawjson"
	"mycelium/internal/rpc"
)

func (s *Server) ping(context.Context, Link, rpc.Message) (result, refusal []byte) {
	return []byte("{}"), nil
}

// initialize serves initialize. It agrees on the revision that the client asks for if we speak it, else on our newest with a handshake.
func (s *Server) initialize(_ context.Context, l Link, m rpc.Message) (result, refusal []byte) {
	if l.version != "" {
		return nil, rpc.InvalidRequest("already initialized").Raw()
	}
	if err := rpc.CheckCase(m.Params, "protocolVersion", "capabilities", "clientInfo"); err != nil {
		return nil, err.Raw()
	}
	version, ok := rawjson.Text(rawjson.Member(m.Params, "protocolVersion"))
	if !ok || version == "" {
		return nil, rpc.InvalidParams(`"protocolVersion" must be a string`).Raw()
	}
	if !Legacy(version) {
		version = v20251125
	}
	l.version, l.name = version, rawjson.TextAt(m.Params, "clientInfo", "name")
	if c := rawjson.Member(m.Params, "capabilities"); isObject(c) {
		l.capabilities = c
	}
	b := []byte(`{"protocolVersion":`)
	b = append(b, rawjson.Quote(version)...)
	b = s.describe(b, l)
	b = append(b, `,"serverInfo":`...)
	return append(s.info(b), '}'), nil
}

// discover serves server/discover, by which modern clients learn what we are.
func (s *Server) discover(_ context.Context, l Link, _ rpc.Message) (result, refusal []byte) {
	b := append([]byte(`{"supportedVersions":`), supported...)
	return s.modernTail(s.describe(b, l)), nil
}

// describe appends the capabilities and the instructions: those of our own, and those of the visible servers that we pass on. We serve
// only what is declared here.
func (s *Server) describe(b []byte, l Link) []byte {
	if l.Only != "" {
		return append(b, `,"capabilities":{"tools":{"listChanged":true},"logging":{}}`...)
	}
	shared := s.withSkills(l.session.Capabilities(), l)
	b = append(b, `,"capabilities":{"tools":{"listChanged":true},"resources":{`...)
	if rawjson.Member(shared, "subscribe") != nil {
		b = append(b, `"subscribe":true,`...)
	}
	b = append(b, `"listChanged":true},"prompts":{"listChanged":true},"logging":{}`...)
	for _, key := range [...]string{"completions", "tasks", "extensions", "experimental"} {
		if v := rawjson.Member(shared, key); v != nil && (key != "tasks" || l.version == v20251125) {
			b = append(append(append(append(b, `,"`...), key...), `":`...), v...)
		}
	}
	b = append(b, '}')
	if text := s.gate.Instructions(l.session); text != "" {
		b = append(b, `,"instructions":`...)
		b = append(b, rawjson.Quote(text)...)
	}
	return b
}

func (s *Server) info(b []byte) []byte {
	b = append(b, `{"name":"mycelium","version":`...)
	return append(append(b, rawjson.Quote(s.version)...), '}')
}
