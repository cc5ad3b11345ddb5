package program

import (
	"path"
	"strings"

	"mycelium/internal/policy"
)

// patternPlace returns the place that a pattern stands for. If nearly everything matches a pattern that is deleted, that is the folder.
func patternPlace(a policy.Access, s string) string {
	if a != policy.Delete {
		return s
	}
	dir, last := path.Split(s)
	for strings.ContainsAny(dir, "*?[") && broad(path.Base(dir)) {
		dir, last = path.Split(strings.TrimSuffix(dir, "/"))
	}
	if !broad(last) {
		return s
	}
	if dir == "" {
		return "."
	}
	return dir
}

// protected are the names in rules and base constraints. A pattern with at least one literal character may be meant for one of them.
var protected = [...]string{".env", ".env.local", ".env.production", ".netrc", ".npmrc", ".git-credentials", "id_rsa",
	"id_ed25519", "credentials.json", "credentials.yaml", "secrets.json", "secrets.yaml", ".git", "mycelium.yaml", "rules.yaml",
	"config.json", ".mcp.json", "crush.json", ".crush.json", "skills", "roles", "protocols", "workflows", ".mycelium", ".claude",
	".codex", ".gemini", ".crush", "settings.json", "settings.local.json", ".ssh", ".aws", ".gnupg", ".kube", "passwd", "shadow"}

// protectedMatches returns the paths with a protected name that a pattern matches. Its other matches depend on the file system; the gate
// checks them there.
func protectedMatches(pattern string) []string {
	last := strings.TrimRight(pattern, "/")
	dir := ""
	if i := strings.LastIndexByte(last, '/'); i >= 0 {
		dir, last = last[:i+1], last[i+1:]
	}
	if last == "" || last[0] == '*' || last[0] != '.' && broad(last) || !strings.ContainsAny(last, "*?[") {
		return nil
	}
	var list []string
	for _, name := range protected {
		if MatchPattern(last, name, false) {
			list = append(list, dir+name)
		}
	}
	return list
}

// broad reports whether a pattern has no letter or digit of its own.
func broad(s string) bool {
	if !strings.ContainsAny(s, "*?[") {
		return false
	}
	in := false
	for i := range len(s) {
		switch c := s[i] | 0x20; {
		case s[i] == '[':
			in = true
		case s[i] == ']':
			in = false
		case !in && (c >= 'a' && c <= 'z' || s[i] >= '0' && s[i] <= '9' || s[i] >= 0x80):
			return false
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
