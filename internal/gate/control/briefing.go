package control

import (
	"fmt"
	"strings"

	"mycelium/internal/gate/session"
	"mycelium/internal/policy"
)

// Briefing is what an agent is told about its session.
type Briefing struct {
	Header string   // one line: its role, its active skills, and what asks or denies
	Role   string   // "none" if it has no role; empty if the policy could not be loaded
	Active []string // the active skills, sorted
	// Teaching is the prompt of the role and the instructions of the active skills, as long as it may be.
	Teaching string
}

// ownTools returns the tools of an agent whose rules the header names: those that almost every agent has.
func ownTools() []policy.Item {
	var out []policy.Item
	for _, name := range [...]string{"Bash", "Edit", "Read", "WebFetch", "Write"} {
		out = append(out, policy.Item{Server: policy.AgentServer, Name: name})
	}
	return out
}

// maxRules bounds the rules that a header names, of each kind.
const maxRules = 8

// Brief tells what a session, or a child of it, is and how it is to work, with at most limit bytes of teaching. It names only what the
// session sees.
func Brief(s *session.Session, c *session.Child, limit int) Briefing {
	sc := s.SnapshotFor(c)
	if sc.World.Broken != "" {
		return Briefing{Header: brokenNotice}
	}
	b := Briefing{Role: session.OrNone(session.NonEmpty(sc.Scope.Principal.Role)), Active: append([]string{}, sc.Scope.Skills...),
		Teaching: teaching(sc, limit)}
	var h strings.Builder
	fmt.Fprintf(&h, "Mycelium: role %s ● [%s]", b.Role, strings.Join(b.Active, ", "))
	asks, denies := sc.World.Policy.Restrictions(sc.Scope, ownTools())
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

// WantedNote tells an agent of skills that its person asked for and that are not active.
func WantedNote(skills []string) string {
	return "The prompt asks for what a skill brings that is not active: " + strings.Join(skills, ", ") +
		". If you need it, activate it with " + SetSkillsItem().String() + "; your operator is asked whether it may be."
}
