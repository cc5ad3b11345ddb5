package hook

import (
	"path/filepath"
	"runtime"
	"strings"

	"mycelium/internal/policy"
)

// denials are the agent's own deny entries for what a base constraint protects: they also hold for what never reaches a hook, like a file
// that a person mentions with @. Only Claude Code has such entries. In the user's configuration, which counts in every folder, those that
// forbid a change of files with ordinary names in a project are left out: the hook forbids it where it is a project of ours.
func (s *Setup) denials() []string {
	if s.Agent != "claude" {
		return nil
	}
	home := ""
	for _, kv := range s.Environ {
		if v, ok := strings.CutPrefix(kv, "HOME="); ok {
			home = v
		}
	}
	var out []string
	for _, b := range policy.BasePaths() {
		pattern := ""
		switch below, kind, _ := strings.Cut(b.Path, "/"); {
		case below == "" && b.Path == "/root" && (inside(s.Dir, b.Path) || inside(home, b.Path)):
			continue // the project is excepted, and here everything is below it
		case below == "":
			pattern = "/" + b.Path
		case below == "~" && strings.HasPrefix(kind, "appdata/") && runtime.GOOS != "windows":
			continue
		case below == "~":
			pattern = b.Path
		case below == "**":
			pattern = "//" + b.Path
		case below == "." && !s.User:
			pattern = "/" + filepath.ToSlash(s.Dir) + "/" + kind
		case below == "." && !b.ChangeOnly:
			pattern = b.Path
		default:
			continue
		}
		if !b.ChangeOnly {
			out = append(out, "Read("+pattern+")")
		}
		out = append(out, "Edit("+pattern+")")
	}
	return out
}

// inside reports whether a path is a folder or below it.
func inside(path, folder string) bool {
	return path == folder || strings.HasPrefix(path, folder+"/")
}
