package program

import (
	"path"
	"strings"

	"mycelium/internal/policy"
	"mycelium/internal/policy/globs"
)

// patternPlace returns the place that a pattern stands for. If nearly everything matches a pattern that is deleted, that is the folder.
func patternPlace(a policy.Access, s string) string {
	if a != policy.Delete {
		return s
	}
	dir, last := path.Split(s)
	if !globs.Wild(last) {
		return s
	}
	for globs.Wild(path.Base(dir)) {
		dir, _ = path.Split(strings.TrimSuffix(dir, "/"))
	}
	if dir == "" {
		return "."
	}
	return dir
}

// expression returns the pattern of a shell as a glob of package globs. Below a folder, the folder is taken as text.
func expression(dir, pattern string) string {
	pattern = strings.ReplaceAll(pattern, `\`, `\\`)
	if dir == "" {
		return path.Clean(pattern)
	}
	return path.Join(globs.Quote(dir), pattern)
}

// MayBe reports whether a pattern is about a file of the given name.
func MayBe(pattern, name string) bool {
	return globs.Aimed(pattern, true).Meets(globs.Of(globs.Quote(name), true))
}

// Folders reports whether a word stands for each of the folders that a pattern of the shell matches, and the pattern is about none in which
// an agent's settings or the policy lie: "packages/*/", but not ".c*/".
func (w Word) Folders() bool {
	if !w.Pattern || !w.Expanded {
		return false
	}
	if matchesParent(w.Text) {
		return false
	}
	for name := range strings.SplitSeq(w.Text, "/") {
		if !globs.Has(name) || globs.Broad(name) {
			continue
		}
		for _, b := range policy.BasePaths() {
			for folder := range strings.SplitSeq(b.Path, "/") {
				if folder != "**" && MayBe(name, folder) {
					return false
				}
			}
		}
	}
	return true
}

// MatchPattern matches a text with a pattern of * and ?. A bracket matches any character. With slash set, they match "/" too. The work is
// at most the product of the two lengths.
func MatchPattern(p, s string, slash bool) bool {
	i, j := 0, 0
	star, mark := -1, 0 // where the last star stood, and how far it reached
	for j < len(s) {
		if i < len(p) && p[i] == '*' {
			star, mark = i, j
			i++
			continue
		}
		if n := matchOne(p[i:], s[j], slash); n > 0 {
			i += n
			j++
			continue
		}
		if star < 0 || s[mark] == '/' && !slash {
			return false
		}
		mark++
		i, j = star+1, mark
	}
	for i < len(p) && p[i] == '*' {
		i++
	}
	return i == len(p)
}

// matchOne matches one character. It returns how many bytes of the pattern that took; 0 if the character does not match.
func matchOne(p string, c byte, slash bool) int {
	switch {
	case p == "":
		return 0
	case p[0] == '?' && (c != '/' || slash):
		return 1
	case p[0] == '[':
		if end := strings.IndexByte(p[1:], ']'); end > 0 && (c != '/' || slash) {
			return end + 2
		}
	case p[0] == '\\' && len(p) > 1:
		if p[1] == c {
			return 2
		}
		return 0
	}
	if p[0] == c {
		return 1
	}
	return 0
}
