package install

import (
	"path/filepath"
	"slices"
	"strings"

	"mycelium/internal/harness"
)

// Programs returns the programs that the entries of every agent run, in a project and in the user's configuration. What cannot be read
// names none.
func Programs(dir string, environ []string) []string {
	var out []string
	for _, agent := range harness.Agents() {
		for _, scope := range agent.Scopes() {
			s := Setup{Agent: agent, Scope: scope, Dir: dir, Environ: environ}
			f, err := s.files()
			if err != nil {
				continue
			}
			text, _, err := readConfig(f.Hooks)
			if err != nil {
				continue
			}
			handlers, err := s.handlers(text)
			if err != nil {
				continue
			}
			for _, h := range handlers {
				if w := words(h.HookEntry); h.ours && filepath.IsAbs(w[0]) && !slices.Contains(out, w[0]) {
					out = append(out, w[0])
				}
			}
		}
	}
	return out
}

// Hazard is a setting of an agent that can change what its hook is.
type Hazard struct {
	File    string `json:"file"`
	Off     bool   `json:"off"` // it switches hooks off
	Message string `json:"message"`
	Hint    string `json:"hint"`
}

// Hazards reports what the files of settings that an agent reads can do to its hooks: a switch that turns them off, and variables that
// change what the hook, the gateway or a command is. Settings of `myc claude` stand above them; those of an installed hook do not.
func Hazards(agent harness.Agent, dir string, environ []string) []Hazard {
	files, err := agent.Settings(dir, environ)
	if err != nil {
		return []Hazard{{Message: err.Error(), Hint: "set HOME"}}
	}
	var out []Hazard
	for _, f := range files {
		text, _, err := readConfig(f.Path)
		if err != nil {
			continue // the agent cannot read it either
		}
		root, err := parseJSON(text, agent.Hooks.Comments)
		if err != nil {
			continue
		}
		for _, sw := range agent.Hooks.Switches {
			if v := lookup(&root, sw.Path); v != nil && string(v.raw(text)) != sw.On {
				out = append(out, Hazard{f.Path, true, strings.Join(sw.Path, ".") + " switches off the hooks of project and user",
					sw.Hint + "; the hooks of myc " + agent.Name + " and of an administrator run all the same"})
			}
		}
		if env := lookup(&root, []string{"env"}); env != nil {
			for _, m := range env.members {
				if slices.Contains(agent.Launch.Pinned, m.name) && f.Whose != "managed" {
					out = append(out, Hazard{f.Path, false, "env sets " + m.name + ", which changes what a program of the agent is",
						"take it out of env in this file; myc " + agent.Name + " runs the agent with your own value"})
				}
			}
		}
	}
	return out
}
