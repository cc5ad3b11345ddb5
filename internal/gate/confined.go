package gate

import (
	"mycelium/internal/gate/session"
	"mycelium/internal/gate/view"
	"mycelium/internal/policy"
	"mycelium/internal/policy/box"
)

// A session can be bound to one file, whatever its role and its rules allow: it reads, and changes that file and nothing else. That makes
// a reviewer of the swarm one who only reads (requirements, CX17). The constraint narrows: what the policy denies stays denied.

// readOnly is the profile of the sandbox in which the commands of such a session run: it reads the folder, and writes nothing that stays.
const readOnly = "standard"

// confine holds a decision to the one file that a session may change, if it is bound to one.
func confine(sc *session.Snapshot, c policy.Call, d *policy.Decision) {
	only := sc.Writes()
	if only == "" || d.Effect == policy.Deny || c.Item.Kind != policy.Tool {
		return
	}
	switch {
	case view.IsOwn(c.Item.Server):
		if c.Item.RunsScript() {
			*d = confined("it runs no scripts")
		}
		return
	case c.Item.Server == policy.SandboxServer && writesNothing(c.Args):
		return
	case c.Item == policy.Bash:
		d.Sandbox = box.Of(readOnly) // in no other one: a wider one could write
		return
	}
	changes := false
	for i := range c.Facts.Parts {
		for _, p := range c.Facts.Parts[i].Paths {
			if p.Access == policy.Read || p.Access == policy.Execute {
				continue
			}
			if changes = true; p.Pattern || p.Resolved != only {
				*d = confined("it may change the file " + only + " only")
				return
			}
		}
	}
	if !changes && policy.KindOf(c.Item).Changes && !sc.World.Annotations(c.Item)["readOnlyHint"] {
		*d = confined("it may change the file " + only + " only, and this tool may change something else")
	}
}

// writesNothing reports whether the arguments of the sandbox's server ask for walls behind which nothing that is written stays.
func writesNothing(args policy.Args) bool {
	profile, given := args["profile"]
	_, more := args["writePaths"]
	return !more && (!given || profile == readOnly)
}

// confined is the refusal of a call by the constraint of its session.
func confined(why string) policy.Decision {
	return policy.Decision{Rule: "session", Reason: "This session only reads: " + why}
}
