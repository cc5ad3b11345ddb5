package control

import (
	"cmp"
	"fmt"
	"strings"

	"mycelium/internal/gate/session"
	"mycelium/internal/gate/view"
	"mycelium/internal/policy"
	"mycelium/internal/text"
)

// MaxInstructions bounds the text that a client is given at its start, in bytes, because it becomes part of every prompt.
const MaxInstructions = 16 << 10

// Instructions returns the text that a session's client is given at its start: what the gateway is, the prompt of its role, and the
// instructions of the active skills and of the servers. It names only what the session sees. If it would be longer than
// MaxInstructions, it names the skills without their instructions; get_skill returns those.
func (x *Tools) Instructions(s *session.Session) string {
	sc := s.Snapshot()
	if sc.World.Broken != "" {
		return brokenNotice
	}
	intro := "You reach tools through Mycelium, a gateway. It shows you the tools of your role and your active skills; " +
		"every call is decided by a policy and recorded. What is not listed does not exist for you.\n"
	if sc.Sees(contextItem) {
		intro += contextItem.String() + " shows your role and skills. "
	}
	if sc.World.Defers(sc.Scope, sc.View(), false) {
		intro += "The list of tools may show only a part of them; the others can be called all the same: " + view.FindTool().String() +
			" finds them by what they do. "
	}
	intro += howToGetMore(sc, x.Asks)
	if taught := teaching(sc, MaxInstructions-len(intro)-2); taught != "" {
		intro += "\n\n" + taught
	}
	return intro + taughtByServers(sc, MaxInstructions-len(intro))
}

// teaching returns the prompt of the role and the instructions of the active skills, in at most limit bytes.
func teaching(sc *session.Snapshot, limit int) string {
	var head strings.Builder
	if v, ok := sc.World.Policy.Role(sc.Scope.Principal.Role); ok && sc.Scope.Principal.Role != "" {
		name := v.Name
		if name == "" {
			name = v.ID
		}
		fmt.Fprintf(&head, "# Role: %s", name)
		if prompt := rolePrompt(sc, &v, limit); prompt != "" {
			head.WriteString("\n\n" + prompt)
		}
	}
	parts := []string{}
	if head.Len() > 0 {
		parts = append(parts, head.String())
	}
	var whole, short []string
	for _, name := range sc.Scope.Skills {
		k, ok := sc.World.Skills.Skill(name)
		if !ok {
			continue
		}
		short = append(short, "- "+name+": "+k.Description)
		if text := strings.TrimSpace(k.Instructions); text != "" {
			whole = append(whole, "# Skill: "+name+"\n\n"+text)
		}
	}
	full := strings.Join(append(parts[:len(parts):len(parts)], whole...), "\n\n")
	if len(full) <= limit {
		return full
	}
	brief := "Active skills:\n"
	if sc.Sees(getSkillItem) {
		brief = "Active skills (read each with " + getSkillItem.String() + " before you use its tools):\n"
	}
	brief += strings.Join(short, "\n")
	return text.Truncate(strings.Join(append(parts, brief), "\n\n"), limit)
}

// rolePrompt returns the prompt of a role. What a server says is masked as its instructions are. Where no teaching fits, no server is
// asked.
func rolePrompt(sc *session.Snapshot, v *policy.RoleView, limit int) string {
	if v.Remote != nil && sc.World.RolePrompt != nil && limit > 0 {
		if said := strings.TrimSpace(sc.World.RolePrompt(v.ID, v.Remote)); said != "" {
			return sc.World.Masked(v.Remote.Backend, said, sc.View())
		}
	}
	if v.Remote != nil {
		return strings.TrimSpace(cmp.Or(v.Remote.Fallback, v.Prompt))
	}
	return strings.TrimSpace(v.Prompt)
}

// maxServerText bounds the instructions of all servers together, in bytes.
const maxServerText = 8 << 10

// taughtByServers returns the instructions of the servers of which a session sees a tool, hidden names masked, in at most limit bytes.
func taughtByServers(sc *session.Snapshot, limit int) string {
	if limit = min(limit, maxServerText); limit <= 0 {
		return ""
	}
	v := sc.View()
	var b strings.Builder
	for _, name := range v.Servers() {
		taught := strings.TrimSpace(sc.World.Servers[name].Instructions)
		if taught == "" {
			continue
		}
		taught = sc.World.Masked(name, taught, v)
		part := "\n\n# Server: " + name + "\n\n" + taught
		b.WriteString(text.Truncate(part, limit-b.Len()))
	}
	return b.String()
}
