package install

import (
	"crypto/sha256"
	"encoding/hex"
	"path/filepath"
	"slices"
	"strings"

	"mycelium/internal/harness"
	"mycelium/internal/state"
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
	Off     bool   `json:"off"`   // it switches hooks off
	Known   bool   `json:"known"` // it was there when a person installed the hook
	Message string `json:"message"`
	Hint    string `json:"hint"`

	id string // a digest of the setting, its value and its file
}

// Hazards reports what the files of settings that an agent reads can do to its hooks: a switch that turns them off, and variables that
// change what the hook, the gateway or a command is. Settings of `myc claude` stand above them; those of an installed hook do not.
func Hazards(project state.Paths, agent harness.Agent, environ []string) []Hazard {
	files, err := agent.Settings(project.Project, environ)
	if err != nil {
		return []Hazard{{Message: err.Error(), Hint: "set HOME"}}
	}
	var out []Hazard
	for _, f := range files {
		text, _, err := readConfig(f.Path)
		if err != nil {
			continue // the agent cannot read it either
		}
		node, err := parseJSON(text, agent.Hooks.Comments)
		if err != nil {
			continue
		}
		out = hazardsIn(out, agent, f, text, &node)
	}
	known := knownHazards(project, agent, environ)
	for i := range out {
		out[i].Known = slices.Contains(known, out[i].id)
	}
	return out
}

// hazardsIn adds the hazards of one file to those of files that it stands above.
func hazardsIn(out []Hazard, agent harness.Agent, f harness.Settings, text []byte, root *jsonNode) []Hazard {
	add := func(off bool, setting string, v *jsonNode, message, hint string) {
		sum := sha256.Sum256([]byte(strings.Join([]string{f.Path, setting, string(v.raw(text))}, "\x00")))
		out = append(out, Hazard{File: f.Path, Off: off, Message: message, Hint: hint, id: hex.EncodeToString(sum[:8])})
	}
	for _, sw := range agent.Hooks.Switches {
		v := lookup(root, sw.Path)
		switch {
		case v == nil:
		case string(v.raw(text)) != sw.On:
			add(true, strings.Join(sw.Path, "."), v, strings.Join(sw.Path, ".")+" switches off the hooks of project and user",
				sw.Hint+"; the hooks of myc "+agent.Name+" and of an administrator run all the same")
		case sw.Pin:
			out = slices.DeleteFunc(out, func(z Hazard) bool { return z.Off })
		}
	}
	if env := lookup(root, []string{"env"}); env != nil && f.Whose != "managed" {
		for _, m := range env.members {
			if slices.Contains(agent.Launch.Pinned, m.name) {
				add(false, "env."+m.name, &m.value, "env sets "+m.name+", which changes what a program of the agent is",
					"take it out of env in this file, or install the hook again to accept it; myc "+agent.Name+
						" runs the agent with your own value")
			}
		}
	}
	return out
}

// knownHazards returns the ids of the hazards that were there when a person installed the hook of an agent.
func knownHazards(project state.Paths, agent harness.Agent, environ []string) []string {
	var out []string
	for _, scope := range agent.Scopes() {
		s := Setup{Agent: agent, Scope: scope, Dir: project.Project, Environ: environ, State: project}
		f, err := s.files()
		if err != nil {
			continue
		}
		if n, err := s.readNote(f.Hooks); err == nil {
			out = append(out, n.Known...)
		}
	}
	return out
}
