package install

import (
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"mycelium/internal/harness"
	"mycelium/internal/rawjson"
)

// statusEvery is how often the status line of a run is asked for when nothing happens, in seconds: a call that waits for an answer makes
// the agent wait too. An installed one is not asked so: it would keep an automatic daemon for as long as the agent is open.
const statusEvery = 5

// statusLine is what an installation has to do with the status line of its agent. It guards nothing: the fingerprint leaves it out, and
// Restore writes it only into a file that is gone.
type statusLine struct{ *Setup }

// value returns the value of the setting for our status line.
func (s statusLine) value(every int) jsontext.Value {
	return s.Agent.Status(s.runs(s.Agent.StatusLine.Event), every)
}

// add returns the text of a file with our status line, unless the file or the user's own file sets one. That of an administrator would
// stand above everybody's own, and is not written.
func (s statusLine) add(text []byte) ([]byte, error) {
	name := s.Agent.StatusLine.Setting
	if name == "" || s.Scope == harness.Managed || s.persons() != nil {
		return text, nil
	}
	root, err := parseJSON(text, s.Agent.Hooks.Comments)
	if err != nil || root.get(name) != nil {
		return text, err
	}
	unit := indentOf(text, &root)
	return addMember(text, &root, name, string(indented(s.value(0), unit, unit)))
}

// remove returns the text of a file without our status line.
func (s statusLine) remove(text []byte) ([]byte, error) {
	root, err := parseJSON(text, s.Agent.Hooks.Comments)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(root.members, func(m jsonMember) bool { return m.name == s.Agent.StatusLine.Setting })
	if i < 0 || !s.isOurs(handlerAt(text, &root.members[i].value)) {
		return text, nil
	}
	return cut(text, &root, i, i+1), nil
}

// ofRun returns the value for the settings of one run: the person's own, or ours.
func (s statusLine) ofRun() jsontext.Value {
	if line := s.persons(); line != nil {
		return line
	}
	return s.value(statusEvery)
}

// persons returns the status line that a person has set in the user's own file: its command, and what both versions of the agent that we
// know read beside it. It is nil if there is none, or only ours.
func (s statusLine) persons() jsontext.Value {
	f, err := s.Agent.Files(harness.User, "", s.Environ)
	if err != nil {
		return nil
	}
	text, _, err := readConfig(f.Hooks)
	if err != nil {
		return nil // the agent cannot read it either
	}
	root, err := parseJSON(text, s.Agent.Hooks.Comments)
	if err != nil {
		return nil
	}
	line := lookup(&root, []string{s.Agent.StatusLine.Setting})
	if line == nil || line.get("type").str(text) != "command" || line.get("command").str(text) == "" || s.isOurs(handlerAt(text, line)) {
		return nil
	}
	var fields []rawjson.Field
	for _, m := range line.members {
		// A value of the wrong kind would make the agent refuse the whole file, with the hooks in it.
		switch kind := m.value.raw(text).Kind(); {
		case m.name == "type", m.name == "command", kind == '0' && (m.name == "padding" || m.name == "refreshInterval"),
			(kind == 't' || kind == 'f') && m.name == "hideVimModeIndicator":
			fields = append(fields, rawjson.Field{Name: m.name, Value: m.value.raw(text)})
		}
	}
	return rawjson.Object(fields...)
}
