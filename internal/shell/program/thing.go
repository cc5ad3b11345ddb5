package program

import "strings"

// Thing stands for the name of a thing that is not known but says nothing to a program: a hash, a number, the name of a container. It is
// written like the hash of a commit.
const Thing = "0000000"

// Reference stands for the name of a branch or a tag. Those of other repositories may begin with a hyphen.
const Reference = "-" + Thing

// LastJob stands for the number of the process that the shell itself began last: $!
const LastJob = "%!"

// takesThings reports whether the names of things among the words of a program are text and nothing else.
func takesThings(c *Call) bool {
	first, _, _ := strings.Cut(c.Row.Name, "|")
	return Named("ps ps|top top|lsof lsof|pmap pmap|pstree pstree|git status|git describe|git rev-parse|git log|docker ps|docker inspect|"+
		"docker ls|podman ps|podman inspect|podman ls|kubectl get|gh list", c.Part.Program+" "+first)
}

// filled returns the words of a program that takes names of things, with Thing in the place of each. A word that may begin with a hyphen
// stays unknown.
func filled(c *Call, args []Word) []Word {
	for i, w := range args {
		if w.Filled == "" || w.Filled[0] == '-' || !takesThings(c) {
			continue
		}
		known := make([]Word, len(args))
		copy(known, args)
		w.Text, w.Filled, w.Unknown, w.Unquoted, w.Default = w.Filled, "", false, false, ""
		known[i] = w
		args = known
	}
	return args
}
