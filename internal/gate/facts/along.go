package facts

import (
	"os"
	"slices"

	"mycelium/internal/policy"
	"mycelium/internal/policy/globs"
)

// along makes a part ask that takes the hooks or the policy of an agent along with a folder: it moves, removes or copies the folder as a
// whole (W18). The folders above the project's own hooks are protected by base constraints.
func (s *searcher) along(part *policy.Part) {
	for _, p := range part.Paths {
		if p.Pattern || p.Clean == "" || p.Access != policy.Delete && (p.Access != policy.Read || !copies(part.Program)) {
			continue
		}
		if info, err := os.Lstat(p.Clean); err != nil || !info.IsDir() || p.Access == policy.Delete && !s.inProject(p.Clean) {
			continue
		}
		inner := *s
		inner.protects = func(at policy.Path) bool {
			return Governs(at.Clean[len(p.Clean):]) || p.Access == policy.Delete && isOf(at.Clean, "mycelium-worktrees")
		}
		m := matching{searcher: &inner, pattern: &policy.Path{Access: policy.Read, Clean: globs.Quote(p.Clean) + "/**"}}
		m.walk(p.Clean, p.Clean, []string{"**"}, true)
		if s.names = inner.names; len(m.found) > 0 {
			unclear(part, "it takes "+m.found[0].Clean+" along, which governs an agent")
			return
		}
	}
}

// inProject reports whether a path lies in the folder of the call, or in a working tree of the project.
func (s *searcher) inProject(path string) bool {
	return holds(s.dir, path) || slices.ContainsFunc(s.trees(), func(tree string) bool { return holds(tree, path) })
}

// copies reports whether a program copies folders as a whole.
func copies(program string) bool {
	return program == "cp" || program == "mv" || program == "rsync" || program == "install"
}

// Governs reports whether a file governs an agent in whatever folder it lies. name begins with a slash.
func Governs(name string) bool { return holdsHooks(name) || isOf(name, "mycelium-config") }
