package harness

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// script is how an agent is run with a scripted model.
type script struct {
	environ  func(home, url, key string) ([]string, error)
	headless func(prompt string) []string
	shell    func(command string) (tool string, input map[string]any)
}

// ErrNoScript is the error for an agent whose API has no scripted model.
var ErrNoScript = errors.New("there is no scripted API for this agent")

// Scripted creates a home and returns an environment in which the agent talks to the scripted model at url with an API key, reads no
// other configuration and sends nothing elsewhere. Only a network namespace guarantees the last; the variables keep the agent from
// trying.
func (a Agent) Scripted(home, url, key string) ([]string, error) {
	if a.script == nil {
		return nil, fmt.Errorf("%s: %w", a.Name, ErrNoScript)
	}
	more, err := a.script.environ(home, url, key)
	if err != nil {
		return nil, fmt.Errorf("make a home for %s: %w", a.Title, err)
	}
	return append(Quiet(os.Environ(), home), more...), nil
}

// Headless returns the arguments of a run without a person, in which the agent itself blocks no command, so that only the hook does. The
// agent must have a scripted API.
func (a Agent) Headless(prompt string) []string { return a.script.headless(prompt) }

// Shell returns the use of the agent's own shell. The agent must have a scripted API.
func (a Agent) Shell(command string) (tool string, input map[string]any) {
	return a.script.shell(command)
}

// seed writes a file in an agent's home.
func seed(path string, text []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return os.WriteFile(path, text, 0o600)
}

func seedJSON(path string, v any) error {
	text, err := json.Marshal(v, json.Deterministic(true), jsontext.WithIndent("  "))
	if err != nil {
		return err
	}
	return seed(path, text)
}
