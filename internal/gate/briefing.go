package gate

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"mycelium/internal/gate/view"
	"mycelium/internal/policy"
)

// Briefing is what an agent is told of its session.
type Briefing struct {
	Header string   // one line: its role, its active skills, and what asks or denies
	Active []string // the active skills, sorted
	// Teaching is the prompt of the role and the instructions of the active skills, as long as it may be.
	Teaching string
}

// ownTools are those of an agent whose rules the header names: what almost every agent has.
func ownTools() []policy.Item {
	var out []policy.Item
	for _, name := range [...]string{"Bash", "Edit", "Read", "WebFetch", "Write"} {
		out = append(out, policy.Item{Server: policy.AgentServer, Name: name})
	}
	return out
}

// maxRules bounds the rules that a header names, of each kind.
const maxRules = 8

// Brief tells what a session, or a child of it, is and how it is to work, in at most limit bytes of teaching. It names nothing that
// the session does not see.
func (g *Gate) Brief(s *Session, c *Child, limit int) Briefing {
	sc := s.scopedFor(c)
	if sc.world.Broken != "" {
		return Briefing{Header: brokenNotice}
	}
	b := Briefing{Active: append([]string{}, sc.scope.Skills...), Teaching: sc.teaching(limit)}
	var h strings.Builder
	fmt.Fprintf(&h, "Mycelium: role %s ● [%s]", orNone(nonEmpty(sc.scope.Principal.Role)), strings.Join(b.Active, ", "))
	asks, denies := sc.world.Policy.Restrictions(sc.scope, ownTools())
	for _, kind := range [...]struct {
		word  string
		names []string
	}{{"a person is asked: ", asks}, {"denied: ", denies}} {
		if n := len(kind.names); n > maxRules {
			kind.names = append(kind.names[:maxRules:maxRules], fmt.Sprintf("%d more", n-maxRules))
		}
		if len(kind.names) > 0 {
			h.WriteString(" · " + kind.word + strings.Join(kind.names, ", "))
		}
	}
	h.WriteString(" · every call is decided by rules and recorded")
	b.Header = h.String()
	return b
}

// Promote activates the skills that a text asks for by their triggers, where the session's mode leaves that to the policy, and returns
// those that it activated. Where the mode does not, it returns in wanted what an operator may activate.
func (g *Gate) Promote(ctx context.Context, s *Session, text string) (added, wanted []string, err error) {
	sc := s.now()
	if sc.world.Broken != "" {
		return nil, nil, nil
	}
	for _, hit := range sc.world.Skills.Suggest(text, sc.open) {
		switch {
		case slices.Contains(sc.scope.Skills, hit.Skill):
		case sc.mayAdd(hit.Skill, ByAgent, nil) == nil:
			added = append(added, hit.Skill)
		case sc.world.PromotionMode() == view.PromoteConfirm:
			wanted = append(wanted, hit.Skill)
		}
	}
	if len(added) == 0 {
		return nil, wanted, nil
	}
	slices.Sort(added)
	if err := g.SetSkills(ctx, s, added, nil, ByAgent); err != nil {
		return nil, wanted, err
	}
	return added, wanted, nil
}

// AskFor is the command by which an operator activates a skill in a session.
func (s *Session) AskFor(skill string) string { return s.now().askFor(skill) }
