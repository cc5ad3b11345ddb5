package gateway

import (
	"context"

	"mycelium/internal/rawjson"
	"mycelium/internal/rpc"
)

// skillsExtension is the extension that serves skills.
const skillsExtension = "io.modelcontextprotocol/skills"

// listSkills answers skills/list: what is open to this session, on one page.
func (s *Server) listSkills(_ context.Context, l link, m rpc.Message) (result, refusal []byte) {
	if rawjson.Member(m.Params, "cursor") != nil {
		return nil, invalidParams(`"cursor" is not one of ours: the list has one page`).Raw()
	}
	b := []byte(`{"skills":[`)
	for i, e := range s.gate.Skills(l.session) {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, e...)
	}
	return s.closeSkills(append(b, ']'), l), nil
}

// getSkill answers skills/get. A skill that is not open to this session is answered like one that does not exist.
func (s *Server) getSkill(_ context.Context, l link, m rpc.Message) (result, refusal []byte) {
	if err := rpc.CheckCase(m.Params, "uri"); err != nil {
		return nil, err.Raw()
	}
	uri, ok := rawjson.Text(rawjson.Member(m.Params, "uri"))
	if !ok || uri == "" {
		return nil, invalidParams(`"uri" must be a string that is not empty`).Raw()
	}
	e := s.gate.Skill(l.session, uri)
	if e == nil {
		return nil, invalidParams("No skill is served at " + uri).Raw()
	}
	return s.closeSkills(append([]byte(`{"skill":`), e...), l), nil
}

// closeSkills closes a result of the extension, which was made for the modern era and is told to older clients in the same words.
func (s *Server) closeSkills(b []byte, l link) []byte {
	if l.modern() {
		return s.modernTail(b)
	}
	return append(b, `,"resultType":"complete","ttlMs":0,"cacheScope":"private"}`...)
}

// withSkills adds the extension to those that the servers in view declare, where this session has skills. What servers declare of
// their own skills is not passed on: those are the operator's to approve.
func (s *Server) withSkills(shared []byte, l link) []byte {
	extensions := rawjson.Set(rawjson.Member(shared, "extensions"), skillsExtension, nil)
	if len(s.gate.Skills(l.session)) > 0 {
		extensions = rawjson.Set(extensions, skillsExtension, []byte("{}"))
	}
	if len(extensions) == 0 || string(extensions) == "{}" {
		return rawjson.Set(shared, "extensions", nil)
	}
	return rawjson.Set(shared, "extensions", extensions)
}
