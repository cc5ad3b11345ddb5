package program

import "strings"

// takesThings are programs, and the first names of their rows, for which the names of things are text and nothing else.
const takesThings = "ps ps|top top|lsof lsof|pmap pmap|pstree pstree|git status|git describe|git rev-parse|git log|docker ps|" +
	"docker logs|docker stats|docker top|docker images|docker inspect|docker ls|podman ps|podman logs|podman stats|podman top|" +
	"podman images|podman inspect|podman ls|kubectl get|kubectl logs|gh list|gh view"

// filled returns the words of a program that takes names of things, with a name in the place of each. A word that may begin with a hyphen
// stays unknown.
func filled(c *Call, args []Word) []Word {
	for i, w := range args {
		first, _, _ := strings.Cut(c.Row.Name, "|")
		if w.Filled == "" || w.Filled[0] == '-' || !Named(takesThings, c.Part.Program+" "+first) {
			continue
		}
		args = append([]Word(nil), args...)
		w.Text, w.Filled, w.Unknown, w.Unquoted, w.Default = w.Filled, "", false, false, ""
		args[i] = w
	}
	return args
}
