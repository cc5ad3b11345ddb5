// Package recorded makes the calls that the log has into calls for the policy again.
package recorded

import (
	"strings"

	"mycelium/internal/audit"
	"mycelium/internal/policy"
)

// Call returns the call of a record, with the recorded facts. whole is false if the record has no facts or only a part of the arguments:
// then the arguments alone decide. A record has only the id of a parent principal, which is assumed to have the child's role.
func Call(l *audit.Line) (call policy.Call, whole bool) {
	it, err := policy.ParseTool(l.Tool)
	if err != nil {
		it = policy.Item{Name: l.Tool}
	}
	switch l.ItemKind {
	case "resource":
		it.Kind = policy.Resource
	case "prompt":
		it.Kind = policy.Prompt
	}
	if it.Kind != policy.Tool && l.Server != "" {
		it.Server, it.Name = l.Server, strings.TrimPrefix(l.Tool, l.Server+"__")
	}
	args, err := policy.ParseArgs(l.Args)
	whole = err == nil && !isCut(args)
	call = policy.Call{Scope: policy.Scope{Principal: policy.Principal{ID: l.Principal, Role: l.Role}, Skills: l.Skills},
		Item: it, Args: args, Time: l.Time}
	if l.Parent != "" {
		call.Scope.Principal.Parent = &policy.Principal{ID: l.Parent, Role: l.Role}
	}
	if l.Facts != nil {
		call.Facts = *l.Facts
	}
	return call, whole
}

// isCut reports whether the log has only the beginning of the arguments.
func isCut(args policy.Args) bool {
	cut, _ := args["truncated"].(bool)
	_, sum := args["sha256"].(string)
	return cut && sum
}
