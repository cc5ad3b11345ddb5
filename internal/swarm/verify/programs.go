// Package verify is what a verification of the swarm may run, and what it measures. It is pure.
//
// No shell reads a command, and each runs in the sandbox. The list of programs is a second fence: a plan, which a model may have
// written, runs nothing but tools that test, check and build, unless a person has named another program.
package verify

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"mycelium/internal/text"
)

// programs are those that a verification may run (requirements, C101), and how each measures coverage; see [Coverage].
var programs = map[string]measure{
	"npm": itself, "yarn": itself, "pnpm": itself, "bun": itself, "deno": itself, "make": itself, "cargo": itself,
	"go": profile, "pytest": pytest, "jest": istanbul, "vitest": istanbul,
	"playwright": none, "cypress": none, "mypy": none, "ruff": none, "black": none, "flake8": none, "pylint": none, "bandit": none,
	"golangci-lint": none, "mvn": none, "gradle": none, "dotnet": none, "phpunit": none, "composer": none, "rspec": none, "rake": none,
	"rubocop": none, "mix": none, "sbt": none, "swift": none, "cmake": none, "ctest": none, "stack": none, "cabal": none, "zig": none,
	"dart": none, "flutter": none, "lein": none, "prove": none, "busted": none, "julia": none, "dune": none, "eslint": none,
	"prettier": none, "tsc": none, "biome": none,
}

// Refuse returns why a verification may not run a command; nil: it may. A command may be a program of the list, a program that a
// person has named in allowed, or a file of the project, such as ./scripts/check: the project decides what that does, as it does for
// make. A program elsewhere, such as /bin/sh or ../x, must be named. Arguments are not judged, because no shell reads them.
func Refuse(argv, allowed []string) error {
	if len(argv) == 0 || argv[0] == "" {
		return fmt.Errorf("the command is empty")
	}
	name := argv[0]
	if _, known := programs[name]; known || inProject(name) || slices.Contains(allowed, name) {
		return nil
	}
	what := text.OneLine(text.TruncateRunes(name, 64))
	hint := "a person allows it with --allow-program " + what
	if near := text.Nearest(name, Programs()); near != "" {
		hint = "did you mean " + near + "? Else " + hint
	}
	return text.Hinted(fmt.Errorf("%s is not one of the programs that a verification runs", what), hint)
}

// inProject reports whether the name of a program is a path in the project.
func inProject(name string) bool {
	clean := path.Clean(name)
	return strings.Contains(name, "/") && !path.IsAbs(name) && clean != ".." && !strings.HasPrefix(clean, "../") &&
		!strings.ContainsAny(name, "\\\x00")
}

// Programs are the programs of the list, sorted.
func Programs() []string {
	var out []string
	for name := range programs {
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}
