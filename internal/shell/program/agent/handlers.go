package agent

import (
	"strings"

	"mycelium/internal/shell/effect"
	"mycelium/internal/shell/program"
)

// start starts another agent, which our hook does not govern.
func start(c *program.Call, args []program.Word) {
	if len(args) == 1 && !args[0].Unknown && program.Named("-v|-h|-V", args[0].Text) {
		c.Finish()
		return
	}
	c.Does |= effect.Agent
	c.Guess(args)
	c.Finish()
}

// ours is our own command. A command that only shows something reads; every other is an act of the operator.
func ours(c *program.Call, args []program.Word) {
	words := make([]string, 0, 3)
	for i := 0; i < len(args); i++ {
		t := args[i]
		switch {
		case t.Unknown:
			c.Unclear("an argument is not known")
			words = append(words, "?")
		case t.Text == "-C" || t.Text == "--config":
			if i++; i < len(args) {
				c.Role('r', args[i])
			}
		case t.Text == "--role" || strings.HasPrefix(t.Text, "--role="), t.Text == "--token" || strings.HasPrefix(t.Text, "--token="),
			t.Text == "--all" || t.Text == "--may":
			words = append(words[:0], "!") // it acts with another role
		case t.Text == "--" && len(words) == 0:
			words = append(words, "!") // what follows is a question, also where it is the name of a command
		case strings.HasPrefix(t.Text, "-"):
		default:
			words = append(words, t.Text)
		}
	}
	if !shows(words) {
		c.Does |= effect.Operator
	} else {
		c.Does |= effect.Read
	}
	c.Finish()
}

// shows reports whether a command of ours only shows something.
func shows(words []string) bool {
	if len(words) == 0 {
		return false // it starts a chat
	}
	second := ""
	if len(words) > 1 {
		second = words[1]
	}
	switch words[0] {
	case "version", "status", "doctor", "help", "completion", "man", "cost":
		return true
	case "tools":
		return second == ""
	case "policy":
		return second != "words" || len(words) < 3 || words[2] == "list"
	case "audit":
		return second != "reindex" && second != "export" && second != "begin-again"
	case "skill", "skills":
		return second == "list" || second == "show" || second == "templates" || second == "validate" || second == "preview"
	case "roles":
		return second == "" || second == "list" || second == "show" || second == "history"
	case "approvals", "session", "chat", "memory", "protocol", "server":
		return second == "list"
	case "config":
		return second == "show" || second == "validate"
	case "hook", "mcp":
		return second == "status"
	}
	return false
}
