package run

import (
	"fmt"
	"slices"

	"mycelium/internal/gate/session"
	"mycelium/internal/harness"
	"mycelium/internal/text"
)

// An agent has permission modes of its own, such as Claude Code's acceptEdits. They answer no question of the policy: the hook's answer
// comes before them. A person who chooses one at the agent's terminal, because Mycelium asked there, is told so.

// chosenMode is a mode that a person chose with the answer to a question of ours. The zero value is no choice.
type chosenMode struct {
	mode string // by the agent's name
	rule string // that asked; empty: the fallback
}

// modeChosen returns the mode that the person at the agent's own terminal chose with the answer to a call that has ended.
func (r *run) modeChosen(e harness.Event) chosenMode {
	r.mu.Lock()
	defer r.mu.Unlock()
	i := slices.IndexFunc(r.asked, func(a askedThere) bool { return a.toolUse == e.ToolUse })
	if i < 0 {
		return chosenMode{}
	}
	asked := r.asked[i]
	r.asked[i].mode = e.Mode
	if e.Mode == "" || e.Mode == asked.mode {
		return chosenMode{}
	}
	return chosenMode{e.Mode, asked.rule}
}

// message tells the person what the choice means here, and how to have what was chosen. No choice has no message.
func (c chosenMode) message(e harness.Event) string {
	if c.mode == "" {
		return ""
	}
	agent, _ := harness.Named(e.Agent)
	says := fmt.Sprintf("%s is in its own mode %s now. That answers nothing for Mycelium, which goes on asking where its policy asks.",
		agent.Title, text.OneLine(c.mode))
	switch {
	case c.rule != "":
		return says + " The rule that asked is " + c.rule + ": change it with myc edit rules"
	case c.mode == agent.EditMode:
		return says + fmt.Sprintf(" To allow all edits here, add to rules.yaml (myc edit rules):\n"+
			`  - {name: all-edits, action: allow, tool: "Write|Edit|MultiEdit", match: {path: [{glob: %q}]}}`, e.Dir+"/**")
	}
	return says + " myc edit rules changes the policy"
}

// ownMode returns the permission mode of the run that a status line is about, if the agent does not ask about edits in it. s is the session
// of the hook's token; it may be nil.
func ownMode(runs []*run, s *session.Session, e harness.Event) string {
	for _, r := range runs {
		if r.key.agent != e.Agent || r.key.id != e.Session || s != nil && r.gateSession() != s {
			continue
		}
		r.mu.Lock()
		mode := r.ownMode
		r.mu.Unlock()
		if agent, _ := harness.Named(e.Agent); mode == agent.EditMode {
			return mode
		}
	}
	return ""
}
