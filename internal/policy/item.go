package policy

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// maxName is the longest name of a tool or a prompt, in bytes (docs/design.md, Names).
const maxName = 128

// separator stands between the name of a server and the name of its item. A server name cannot contain it, so the text form of an item is
// unambiguous.
const separator = "__"

// ParseTool reads server__name, split at the first "__".
func ParseTool(s string) (Item, error) {
	server, name, found := strings.Cut(s, separator)
	switch {
	case s == "":
		return Item{}, errors.New("tool name: empty; write server__tool")
	case !found:
		return Item{}, fmt.Errorf("tool name %q: no \"__\" between server and tool; write server__tool", s)
	case !validServer(server):
		return Item{}, fmt.Errorf("tool name %q: %q is not a server name; a server name has lower-case letters, digits and hyphens", s, server)
	case !validName(name):
		return Item{}, fmt.Errorf("tool name %q: %q is not a tool name; a tool name has 1 to %d letters, digits, \"_\", \".\" and \"-\"",
			s, name, maxName)
	}
	return Item{Server: server, Name: name}, nil
}

// String is the text form: server__name.
func (it Item) String() string { return it.Server + separator + it.Name }

// IsControl reports whether the item is a control tool: it belongs to one of the two servers of ours, and needs no grant.
func (it Item) IsControl() bool {
	return it.Kind == Tool && (it.Server == RouterServer || it.Server == SkillsServer) && !it.RunsScript() && !it.StartsAgent()
}

// RunsScript reports whether the item is the tool that runs the scripts of active skills. It needs a grant, because it executes something.
func (it Item) RunsScript() bool { return it == Item{Server: SkillsServer, Name: "run_script"} }

// StartsAgent reports whether the item is the tool that starts a sub-agent. It needs a grant for the same reason.
func (it Item) StartsAgent() bool { return it == Item{Server: RouterServer, Name: "spawn_sub_agent"} }

// valid reports whether the item can exist. An item that is not valid is never visible, whatever a catalog says.
func (it Item) valid() bool {
	if !validServer(it.Server) {
		return false
	}
	if it.Kind == Resource {
		return it.Name != "" && strings.IndexFunc(it.Name, func(r rune) bool { return r < ' ' || r == 0x7f }) < 0 && !climbs(it.Name)
	}
	return validName(it.Name)
}

// climbs reports whether a URI has a backslash or a dot segment, as written or behind any number of percent encodings. A glob over such a
// URI would judge another resource than the one that the server opens.
func climbs(uri string) bool {
	for {
		for segment := range strings.FieldsFuncSeq(uri, func(r rune) bool { return r == '/' || r == '\\' || r == '?' || r == '#' }) {
			if segment == "." || segment == ".." {
				return true
			}
		}
		plain := percentDecode(uri)
		if plain == uri {
			return strings.Contains(uri, "\\")
		}
		uri = plain
	}
}

func validServer(s string) bool {
	for i := range len(s) {
		if c := s[i]; c < '0' && (c != '-' || i == 0) || c > '9' && c < 'a' || c > 'z' {
			return false
		}
	}
	return s != ""
}

func validName(s string) bool {
	for i := range len(s) {
		if !nameByte(s[i]) {
			return false
		}
	}
	return s != "" && len(s) <= maxName
}

func nameByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '.' || c == '-'
}

// String is "deny", "ask" or "allow".
func (e Effect) String() string {
	switch e {
	case Allow:
		return "allow"
	case Ask:
		return "ask"
	default:
		return "deny"
	}
}

// ParseEffect reads "deny", "ask" (or "escalate", its older name) or "allow".
func ParseEffect(s string) (Effect, error) {
	switch s {
	case "deny":
		return Deny, nil
	case "ask", "escalate":
		return Ask, nil
	case "allow":
		return Allow, nil
	}
	return Deny, fmt.Errorf("effect %q: not one of deny, ask, allow", s)
}

// agentTools are common tools of agents (decision 13), by the names that Claude Code gives them. Calls of other agents are mapped to these
// names where they come in. The list is not complete. The entries of the tools in it, and of tools that somebody names, are made when the
// policy is compiled, so that a call of one needs no heap.
var agentTools = [...]string{
	"Artifact", "AskUserQuestion", "Bash", "BashOutput", "CronCreate", "CronDelete", "CronList", "Download", "Edit", "EnterPlanMode",
	"EnterWorktree", "ExitPlanMode", "ExitWorktree", "Glob", "Grep", "KillShell", "LS", "LSP", "ListAgents", "ListMcpResourcesTool",
	"Monitor", "MultiEdit", "NotebookEdit", "NotebookRead", "PowerShell", "PushNotification", "Read", "ReadMcpResourceDirTool",
	"ReadMcpResourceTool", "RemoteTrigger", "ReportFindings", "ScheduleWakeup", "SendFeedback", "SendMessage", "Skill",
	"SlashCommand", "Task", "TaskCreate", "TaskGet", "TaskList", "TaskOutput", "TaskStop", "TaskUpdate", "TodoRead", "TodoWrite",
	"ToolSearch", "WebFetch", "WebSearch", "Workflow", "Write",
}

// AgentAliases are pairs: another name that Claude Code gives, or gave, to a tool, and the name of the tool here. It is a constant table.
var AgentAliases = [...][2]string{{"Agent", "Task"}, {"KillBash", "KillShell"}}

// AgentTools are the names of agents' own tools, sorted.
func AgentTools() []string { return slices.Clone(agentTools[:]) }

// AgentTool is the one name of an agent's own tool, and whether the list of common tools has it. An unknown name is returned as it is.
func AgentTool(name string) (canonical string, known bool) {
	for _, a := range AgentAliases {
		if a[0] == name {
			return a[1], true
		}
	}
	_, known = slices.BinarySearch(agentTools[:], name)
	return name, known
}

// IdleArgs returns the arguments of a tool that are words for people and change nothing of what the call does. An approval ignores them.
func IdleArgs(tool string) []string {
	if tool == AgentServer+"__Bash" {
		return []string{"description"} // sdk-tools.d.ts of Claude Code: what the command does, for the person who reads along
	}
	return nil
}
