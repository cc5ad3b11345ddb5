// Package compiled knows which programs a command compiles from files that it names.
package compiled

import (
	"slices"
	"strings"

	"mycelium/internal/policy"
)

// Of reports whether what a part writes was compiled from files of a folder, none of which was written before. Running that is
// running code of the project, as `go run` does, and not code that was written just now.
func Of(p *policy.Part, folder string, written func(policy.Path) bool) bool {
	if folder == "" || len(p.Unclear) > 0 || !Compiles(p) || slices.ContainsFunc(p.Argv[1:], bringsCode) {
		return false
	}
	sources := 0
	for _, at := range p.Paths {
		switch {
		case at.Access == policy.Write:
		case at.Access != policy.Read && at.Access != policy.Execute || at.Pattern && p.Program != "javac" || written(at),
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
	if len(p.Argv) == 0 || slices.Contains(p.Argv, "-E") || slices.Contains(p.Argv, "-") {
		return false
	}
	switch name, _, _ := strings.Cut(p.Program, "-"); name {
	case "gcc", "cc", "g++", "c++", "clang", "clang++", "rustc", "javac":
		return true
	case "go":
		return len(p.Argv) > 1 && p.Argv[1] == "build"
	}
	return false
}

// bringsCode reports whether an argument of a compiler may bring code in that no path of the part names: headers, libraries and macros from
// elsewhere, options for other programs. Those that do not are few and listed.
func bringsCode(arg string) bool {
	if len(arg) < 2 || arg[0] != '-' {
		return false
	}
	switch arg {
	case "-o", "-c", "-s", "-v", "-w", "-pipe", "-pthread", "-static", "-shared", "-race", "-trimpath", "-tags", "-d", "-cp", "-lm", "-lpthread", "-ldl",
		"-g", "-g3", "-ggdb":
		return false
	}
	for _, harmless := range [...]string{"-O", "-std=", "-march=", "-mtune=", "-edition=", "--edition="} {
		if strings.HasPrefix(arg, harmless) {
			return false
		}
	}
	return !strings.HasPrefix(arg, "-W") || strings.Contains(arg, ",")
}
