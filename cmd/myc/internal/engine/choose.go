package engine

import (
	"errors"
	"fmt"

	"mycelium/cmd/myc/internal/base"
	"mycelium/internal/harness"
	"mycelium/internal/op/failure"
)

// The engines.
const (
	API    = "api"
	Claude = "claude"
)

// The variables that the engine api reads.
const (
	KeyVar = "ANTHROPIC_API_KEY"
	URLVar = "ANTHROPIC_BASE_URL"
)

// Choice is the engine that works here.
type Choice struct {
	Name string // api or claude
	Why  string
	Path string // of the program of the engine claude
}

// Choose returns the engine that a person named, or else api where a key is, or else claude where it is installed.
func Choose(a *base.App, named string) (Choice, error) {
	known, _ := harness.Named(Claude)
	path, missing := known.Find(a.Environ)
	key := a.Getenv(KeyVar) != ""
	switch {
	case named != "" && named != API && named != Claude:
		return Choice{}, failure.Usagef("--engine: %q is neither api nor claude", named)
	case named == API && !key:
		return Choice{}, failure.Hint(errors.New("the engine api has no key: "+KeyVar+" is not set"),
			"export "+KeyVar+"=…, from https://platform.claude.com/settings/keys; or use --engine claude with an installed Claude Code")
	case named == Claude && missing != nil:
		return Choice{}, failure.Hint(fmt.Errorf("the engine claude: %w", missing), "install it: npm install -g "+known.Package)
	case named == API:
		return Choice{Name: API, Why: "--engine names it"}, nil
	case named == Claude:
		return Choice{Name: Claude, Why: "--engine names it", Path: path}, nil
	case key:
		return Choice{Name: API, Why: KeyVar + " is set"}, nil
	case missing == nil:
		return Choice{Name: Claude, Why: KeyVar + " is not set, and Claude Code is installed: " + path, Path: path}, nil
	}
	return Choice{}, failure.Hint(errors.New("there is no model to ask: "+KeyVar+" is not set, and Claude Code is not installed"),
		"export "+KeyVar+"=…, or install Claude Code and log in (npm install -g "+known.Package+"); to see an agent at work without "+
			"either: myc demo --chat")
}
