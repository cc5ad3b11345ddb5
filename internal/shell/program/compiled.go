package program

import (
	"slices"
	"strings"

	"mycelium/internal/policy"
)

// Compiled reports whether what a part writes was compiled from files of a folder, none of which was written before. Running that is
// running code of the project, as `go run` does, and not code that was written just now.
func Compiled(p *policy.Part, folder string, written func(policy.Path) bool) bool {
	if folder == "" || len(p.Unclear) > 0 || !Compiles(p) {
		return false
	}
	sources := 0
	for _, at := range p.Paths {
		switch {
		case at.Access == policy.Write:
		case at.Access != policy.Read || at.Pattern || written(at),
			!strings.HasPrefix(at.Clean+"/", folder+"/"), at.Resolved != "" && !strings.HasPrefix(at.Resolved+"/", folder+"/"):
			return false
		default:
			sources++
		}
	}
	return sources > 0
}

// Compiles reports whether a part runs a compiler that writes a program, and whose arguments name its sources. A preprocessor (-E) writes
// text.
func Compiles(p *policy.Part) bool {
	if slices.Contains(p.Argv, "-E") || slices.Contains(p.Argv, "-") {
		return false
	}
	switch name, _, _ := strings.Cut(p.Program, "-"); name {
	case "gcc", "cc", "g++", "c++", "clang", "clang++", "rustc":
		return true
	case "go":
		return len(p.Argv) > 1 && p.Argv[1] == "build"
	}
	return false
}
