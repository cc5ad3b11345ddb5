package shell

import "strings"

// agent is another agent: started from here it is not under our hook.
func agent(c *call, args []text) {
	if len(args) == 1 && (args[0].s == "--version" || args[0].s == "-v" || args[0].s == "--help" || args[0].s == "-h" || args[0].s == "-V") {
		c.finish()
		return
	}
	c.does |= doesAgent
	c.guess(args)
	c.finish()
}

// ours is our own command: what only shows something is read, what an operator does is an act of the operator.
func ours(c *call, args []text) {
	words := make([]string, 0, 3)
	for i := 0; i < len(args); i++ {
		t := args[i]
		switch {
		case t.unknown:
			c.unclear("an argument is not known")
			words = append(words, "?")
		case t.s == "-C" || t.s == "--config":
			if i++; i < len(args) {
				c.role('r', args[i])
			}
		case t.s == "--role" || strings.HasPrefix(t.s, "--role="), t.s == "--token" || strings.HasPrefix(t.s, "--token="), t.s == "--all" || t.s == "--may":
			words = append(words[:0], "!") // as another than who it is
		case strings.HasPrefix(t.s, "-"):
		default:
			words = append(words, t.s)
		}
	}
	if !shows(words) {
		c.does |= doesOperator
	} else {
		c.does |= doesRead
	}
	c.finish()
}

// shows reports whether a command of ours changes nothing and runs nothing.
func shows(words []string) bool {
	if len(words) == 0 {
		return false // it starts a chat
	}
	second := ""
	if len(words) > 1 {
		second = words[1]
	}
	switch words[0] {
	case "version", "status", "doctor", "help", "completion", "man":
		return true
	case "tools":
		return second == ""
	case "policy":
		return true
	case "audit":
		return second != "reindex" && second != "export"
	case "skill", "skills":
		return second == "list" || second == "show" || second == "templates" || second == "validate" || second == "preview"
	case "roles":
		return second == "list" || second == "show" || second == "history"
	case "approvals", "session", "chat", "memory", "protocol":
		return second == "list"
	case "config":
		return second == "show" || second == "validate"
	case "hook":
		return second == "status"
	}
	return false
}
