package index

// Effects are the words of [Query.Effect].
func Effects() []string { return []string{"allow", "ask", "deny"} }

// Outcomes are the words of [Query.Outcome].
func Outcomes() []string { return []string{"ok", "error", "denied", "unfinished"} }

// Deciders are the words of [Query.By].
func Deciders() []string {
	return []string{"policy", "limit", "person", "model", "deadline", "caller", "agent"}
}

// Reasonings are the words of [Query.ThinkingType].
func Reasonings() []string { return []string{"extended_thinking", "chain_of_thought", "reasoning"} }

// Formats are the formats of [Index.Export].
func Formats() []string { return []string{"jsonl", "json", "csv"} }
