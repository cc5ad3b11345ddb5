package install

import "mycelium/internal/harness"

// OwnSandbox returns the file of settings that switches on an agent's own sandbox for its shell in a project folder; "" if none does. Of
// several files that have the setting, the one that stands above the others counts.
func OwnSandbox(agent harness.Agent, dir string, environ []string) (file string) {
	files, err := agent.Settings(dir, environ)
	if err != nil || agent.OwnSandbox == nil {
		return ""
	}
	for _, f := range files {
		text, _, err := readConfig(f.Path)
		if err != nil {
			continue // the agent cannot read it either
		}
		node, err := parseJSON(text, agent.Hooks.Comments)
		if err != nil {
			continue
		}
		switch v := lookup(&node, agent.OwnSandbox); {
		case v == nil:
		case string(v.raw(text)) == "true":
			file = f.Path
		default:
			file = ""
		}
	}
	return file
}
