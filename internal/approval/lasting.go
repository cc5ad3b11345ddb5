package approval

import (
	"slices"

	"mycelium/internal/policy"
	"mycelium/internal/policy/box"
)

// Refuses says why a request cannot be approved for so long, or returns "". Every surface offers what it does not refuse, and
// [Queue.Settle] refuses the rest.
//
// Code of the project is approved once, except in the sandbox: a test runner runs files that no answer is bound to, and they change all
// day. In the sandbox that code does no harm outside of the project, whatever it becomes.
func (r *Request) Refuses(how For) string {
	switch {
	case r.Kind != Call || how != Session && how != Rule:
		return ""
	case r.Sandbox.None() && r.runsProject():
		return "only once: it runs code of the project outside of the sandbox, and that code may become something else. An approval that " +
			"lasts is possible where it runs in the sandbox (myc init, docs/sandbox.md)"
	case how == Session && r.Sandbox.None() && !r.Code.Whole():
		return "only once: an approval for the session is bound to the code that runs, and not all of it could be read. " + r.Code.NotRead()
	}
	return ""
}

// RulePlace is the place that a rule for the request names.
func (r *Request) RulePlace() string {
	if r.Outside != "" {
		return policy.PlaceOutside
	}
	return ""
}

// RuleSandbox is the sandbox that a rule for the request names, with what the call lacked. Only the shell of an agent is bound to one by a
// rule; the tools of ours that run in a sandbox do so whatever the rules say.
func (r *Request) RuleSandbox() box.Box {
	if r.Tool != policy.AgentServer+"__Bash" {
		return box.Box{}
	}
	return r.Sandbox.With(r.Lacked.Grants())
}

// runsProject reports whether a call runs code out of files of the project, or of this session.
func (r *Request) runsProject() bool {
	return slices.ContainsFunc(r.Facts.Parts, func(p policy.Part) bool {
		return slices.Contains(p.Effects, policy.EffectProjectCode) || slices.Contains(p.Effects, policy.EffectWrittenHere)
	})
}
