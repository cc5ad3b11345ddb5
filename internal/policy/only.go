package policy

// A scope can be bound to one file ([Scope.Only]), whatever its role and its rules allow: its calls read, and change that file and nothing
// else. That makes a reviewer of the swarm one who only reads (requirements, CX17). The bound only narrows.

// readOnly is the profile of the sandbox in which the commands of such a scope run: it reads the folder, and writes nothing that stays.
const readOnly = "standard"

// byOnly holds a decision to the one file that the scope may change, if it is bound to one.
func (p *Policy) byOnly(d *Decision, c *Call, e *entry, t *tracer) {
	only := c.Scope.Only
	if only == "" || d.Effect == Deny || c.Item.Kind != Tool {
		return
	}
	why := ""
	switch {
	case c.Item.Server == RouterServer || c.Item.Server == SkillsServer:
		if c.Item.RunsScript() {
			why = "it runs no scripts"
		}
	case c.Item.Server == SandboxServer && writesNothing(c.Args):
	case c.Item == Bash: // it runs in a sandbox that writes nothing, see placing.bind
	default:
		why = changesElse(c, e, only)
	}
	if why != "" {
		*d = onlyReads(why)
		t.step("session", true, d.Rule, d.Reason)
	}
}

// changesElse says how a call may change something else than one file; "": it does not.
func changesElse(c *Call, e *entry, only string) string {
	changes := false
	for i := range c.Facts.Parts {
		for _, p := range c.Facts.Parts[i].Paths {
			if p.Access == Read || p.Access == Execute {
				continue
			}
			if changes = true; p.Pattern || p.Resolved != only {
				return "it may change the file " + only + " only"
			}
		}
	}
	if !changes && KindOf(c.Item).Changes && !e.notes["readOnlyHint"] {
		return "it may change the file " + only + " only, and this tool may change something else"
	}
	return ""
}

// writesNothing reports whether the arguments of the sandbox's server ask for walls behind which nothing that is written stays.
func writesNothing(args Args) bool {
	profile, given := args["profile"]
	_, more := args["writePaths"]
	return !more && (!given || profile == readOnly)
}

// onlyReads is the refusal of a call of a scope that is bound to one file.
func onlyReads(why string) Decision {
	return Decision{Rule: "session", Reason: "This session only reads: " + why}
}
