package mcpserver

import (
	"context"

	"mycelium/internal/gate/control"
	"mycelium/internal/rawjson"
	"mycelium/internal/rpc"
)

// skillsExtension is the extension that serves skills.
const skillsExtension = "io.modelcontextprotocol/skills"

// listSkills serves skills/list: the skills that are open to this session, on one page.
func (s *Server) listSkills(_ context.Context, l Link, m rpc.Message) (result, refusal []byte) {
	if rawjson.Member(m.Params, "cursor") != nil {
		return nil, rpc.InvalidParams(`"cursor" is not one of ours: the list has one page`).Raw()
	}
	b := []byte(`{"skills":[`)
	for i, e := range control.Skills(l.session) {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, e...)
	}
	return s.closeSkills(append(b, ']'), l), nil
}

// readSkill serves skills/get. The answer for a skill that is not open to this session is that for one that does not exist.
func (s *Server) readSkill(_ context.Context, l Link, m rpc.Message) (result, refusal []byte) {
	if err := rpc.CheckCase(m.Params, "uri"); err != nil {
		return nil, err.Raw()
	}
	uri, ok := rawjson.Text(rawjson.Member(m.Params, "uri"))
	if !ok || uri == "" {
		return nil, rpc.InvalidParams(`"uri" must be a string that is not empty`).Raw()
	}
	e := control.Skill(l.session, uri)
	if e == nil {
		return nil, rpc.InvalidParams("No skill is served at " + uri).Raw()
	}
	return s.closeSkills(append([]byte(`{"skill":`), e...), l), nil
}

// closeSkills ends a result of the extension. It was made for the modern era; older clients get the same members.
func (s *Server) closeSkills(b []byte, l Link) []byte {
	if l.Modern() {
		return s.modernTail(b)
	}
	return append(b, `,"resultType":"complete","ttlMs":0,"cacheScope":"private"}`...)
}

// withSkills adds the extension to those that the visible servers declare, if this session has skills. That servers have skills of
// their own is not passed on: the operator decides about those.
func (s *Server) withSkills(shared []byte, l Link) []byte {
	extensions := rawjson.Set(rawjson.Member(shared, "extensions"), skillsExtension, nil)
	if len(control.Skills(l.session)) > 0 {
		extensions = rawjson.Set(extensions, skillsExtension, []byte("{}"))
	}
	if len(extensions) == 0 || string(extensions) == "{}" {
		return rawjson.Set(shared, "extensions", nil)
	}
	return rawjson.Set(shared, "extensions", extensions)
}
