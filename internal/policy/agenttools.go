package policy

import "slices"

// agentTools are the tools that agents commonly have of their own (decision 13), by the names of Claude Code; those of other agents are
// mapped to them where their calls come in. Others exist too. Those that are here, or that somebody names, are worked out when the policy
// is compiled, so that a call of one needs no heap.
var agentTools = [...]string{
	"AskUserQuestion", "Bash", "BashOutput", "Edit", "EnterPlanMode", "EnterWorktree", "ExitPlanMode", "ExitWorktree", "Glob", "Grep", "KillShell", "LS",
	"LSP", "ListMcpResourcesTool", "Monitor", "MultiEdit", "NotebookEdit", "NotebookRead", "PowerShell", "Read", "ReadMcpResourceTool", "SendMessage", "Skill",
	"SlashCommand", "Task", "TaskCreate", "TaskGet", "TaskList", "TaskOutput", "TaskStop", "TaskUpdate", "TodoRead", "TodoWrite", "ToolSearch", "WebFetch",
	"WebSearch", "Write",
}

// agentAliases are other names that Claude Code gives, or gave, to the same tools.
var agentAliases = [...][2]string{{"Agent", "Task"}, {"KillBash", "KillShell"}}

// AgentTools are the names of agents' own tools, sorted.
func AgentTools() []string { return slices.Clone(agentTools[:]) }

// AgentAliases are pairs: another name of a tool, and its name here.
func AgentAliases() [][2]string { return slices.Clone(agentAliases[:]) }

// AgentTool is the one name of an agent's own tool, and whether agents that we know have it. A name that is not known stays.
func AgentTool(name string) (canonical string, known bool) {
	for _, a := range agentAliases {
		if a[0] == name {
			return a[1], true
		}
	}
	_, known = slices.BinarySearch(agentTools[:], name)
	return name, known
}
