package judge

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"mycelium/internal/policy"
)

// pathTools are the agents' own tools whose pattern in parentheses matches paths.
var pathTools = []string{"agent__Read", "agent__Write", "agent__Edit", "agent__MultiEdit", "agent__NotebookEdit", "agent__Glob",
	"agent__Grep"}

// ParseRule reads a rule in one line, in the form of the agents' permission settings:
//
//	deny Bash(git push *) because we push by hand
//	ask files__delete_file
//	allow Edit(docs/**)
//
// The first word is deny, ask or allow. The tool is a pattern; a bare name means the agent's own tool. The parentheses hold a glob for the
// command or for paths. Such a rule cannot allow a command, because its text does not tell what it does, nor several tools at once. The
// caller sets the name and compiles the rule.
func ParseRule(text string) (policy.Rule, error) {
	text = strings.TrimSpace(text)
	text, reason, _ := strings.Cut(text, " because ")
	action, rest, _ := strings.Cut(strings.TrimSpace(text), " ")
	effect, err := policy.ParseEffect(strings.ToLower(action))
	rest = strings.TrimSpace(rest)
	if err != nil || rest == "" {
		return policy.Rule{}, fmt.Errorf("a rule is ACTION TOOL or ACTION TOOL(GLOB), such as: deny Bash(git push *) because we push by hand")
	}
	tool, glob, hasGlob := strings.Cut(rest, "(")
	tool = bareTool(strings.TrimSpace(tool))
	if _, err := policy.ParsePattern(tool); err != nil {
		return policy.Rule{}, err
	}
	r := policy.Rule{Action: effect.String(), Tool: policy.Names{tool}, Reason: strings.TrimSpace(reason)}
	if hasGlob {
		glob, ok := strings.CutSuffix(strings.TrimSpace(glob), ")")
		glob = strings.TrimSpace(glob)
		if !ok || glob == "" {
			return policy.Rule{}, fmt.Errorf("%q: the parenthesis is not closed or is empty", rest)
		}
		if err := addGlob(&r, tool, glob); err != nil {
			return policy.Rule{}, err
		}
	}
	if effect == policy.Allow && !hasGlob && (tool == "agent__Bash" || strings.Contains(tool, "*")) {
		return policy.Rule{}, fmt.Errorf("allow %s is wider than one line should be: write it into rules.yaml, with what it is limited to", rest)
	}
	return r, checkWords(text)
}

// addGlob limits a rule to paths or commands.
func addGlob(r *policy.Rule, tool, glob string) error {
	if slices.Contains(pathTools, tool) {
		r.Match = map[string]policy.Values{"path": {{Glob: &glob}}}
		return nil
	}
	if tool != "agent__Bash" {
		return fmt.Errorf("%s takes no pattern in parentheses: write the rule into rules.yaml under args", tool)
	}
	if r.Action == policy.Allow.String() {
		return fmt.Errorf("a command cannot be allowed by its text: approve the call as a rule instead, or write one into rules.yaml over " +
			"programs and effects")
	}
	// The text may be anywhere in the command, so that it also finds "cd x && git push". A refusal may match too much.
	text := strings.TrimSuffix(glob, " *")
	regex := `(?s)(.*\W)?` + strings.ReplaceAll(regexp.QuoteMeta(text), `\*`, ".*") + `(\W.*)?`
	r.Args = map[string]policy.Values{"command": {{Regex: &regex}}}
	return nil
}

// bareTool completes a tool name: a name without a server is the agent's own tool.
func bareTool(name string) string {
	if name == "" || strings.Contains(name, "__") || strings.Contains(name, "*") {
		return name
	}
	return policy.AgentServer + "__" + name
}
