package policy

// IdleArgs returns the arguments of a tool that are words for people and change nothing of what the call does. An approval ignores them.
func IdleArgs(tool string) []string {
	if tool == AgentServer+"__Bash" {
		return []string{"description"} // sdk-tools.d.ts of Claude Code: what the command does, for the person who reads along
	}
	return nil
}
