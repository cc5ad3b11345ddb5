package shell

import (
	"path"
	"strings"

	"mycelium/internal/policy"
)

// script executes a file as an interpreter finds it: a name without its end, and a folder, stand for the file that it takes.
func (c *call) script(t text) {
	c.file(policy.Execute, t)
	if t.unknown || t.glob || c.program == nil || t.s != "." && path.Ext(t.s) != "" {
		return
	}
	at := strings.TrimSuffix(t.s, "/")
	switch {
	case c.program.raw == asPython:
		c.file(policy.Execute, known(at+"/__main__.py"))
	case named("node|nodejs|tsx|ts-node|bun", c.program.name):
		for _, end := range [...]string{".js", ".mjs", ".cjs", "/index.js", "/package.json"} {
			c.file(policy.Execute, known(at+end))
		}
	}
}

// scriptNames are the ends of files that run as they are.
const scriptNames = ".py|.js|.mjs|.cjs|.ts|.mts|.cts|.tsx|.jsx|.rb|.pl|.php|.exs|.dart|.zig|.swift|.sh|.bash|.lua|.kts"

// scripts executes the files among the arguments of programs that run them, and the file in which a program finds its tasks. Runners of
// tests are none of them: they run what agents write all day.
func (c *call) scripts(args []text) {
	switch c.part.Program {
	case "just":
		c.tasks("justfile", "Justfile", ".justfile")
	case "rake":
		c.tasks("Rakefile", "rakefile")
	case "deno", "bun", "coverage", "rails", "mix", "dart", "zig", "swift":
	default:
		if c.program == nil || c.program.name != "cProfile|profile|trace" && !contains(c.argv(), "coverage") {
			return
		}
	}
	for _, t := range args {
		if t.s == "test" {
			return
		}
		if !t.unknown && strings.IndexByte(t.s, '-') != 0 && path.Ext(t.s) != "" && named(scriptNames, path.Ext(t.s)) {
			c.file(policy.Execute, t)
		}
	}
}

func (c *call) tasks(names ...string) {
	for _, name := range names {
		c.file(policy.Execute, known(name))
	}
}
